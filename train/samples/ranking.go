package samples

import (
	"cmp"
	"math"
	"slices"
)

// Names of the rankings.
const (
	SmallLoss  = "small-loss"
	Ensemble   = "ensemble"
	Forgetting = "forgetting"
)

// Rankings lists the names.
var Rankings = []string{SmallLoss, Ensemble, Forgetting}

// Rank gives every sample a score (higher is cleaner) and an order, the lowest being most suspect. The order
// ranks like the score but with fewer ties. ok is false if there is nothing to rank a sample by.
//
//   - small-loss: minus the mean loss. A sample that the filter dropped at every visit of the last part has no
//     loss and ranks before all others, by its mean P; its score is that of the worst loss.
//   - ensemble: the mean P.
//   - forgetting: 1/(1 + forgettings), or 0 for a label that was never believed. Ties are ranked by their mean P.
func Rank(list []Sample, by string) (scores, orders []float64, ok []bool) {
	scores, orders, ok = make([]float64, len(list)), make([]float64, len(list)), make([]bool, len(list))
	switch by {
	case SmallLoss:
		rankByLoss(list, scores, orders, ok)
	case Ensemble:
		for i, s := range list {
			scores[i], orders[i], ok[i] = s.Score, s.Score, !math.IsNaN(s.Score)
		}
	case Forgetting:
		rankByForgetting(list, scores, orders, ok)
	default:
		panic("samples: no ranking " + by)
	}
	return scores, orders, ok
}

func rankByLoss(list []Sample, scores, orders []float64, ok []bool) {
	worst := math.Inf(-1)
	for _, s := range list {
		worst = max(worst, orLeast(s.Loss))
	}
	if math.IsInf(worst, -1) {
		return
	}
	for i, s := range list {
		switch {
		case !math.IsNaN(s.Loss):
			scores[i], orders[i], ok[i] = -s.Loss, -s.Loss, true
		case s.Seen > 0 && s.Kept == 0:
			scores[i], ok[i] = -worst, true
			orders[i] = -worst - 1
			if !math.IsNaN(s.Score) {
				orders[i] -= 1 - s.Score
			}
		}
	}
}

// orLeast returns v, or -Inf if v is NaN.
func orLeast(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(-1)
	}
	return v
}

func rankByForgetting(list []Sample, scores, orders []float64, ok []bool) {
	rank := make([]int, 0, len(list))
	for i, s := range list {
		if ok[i] = s.Visits > 0; !ok[i] {
			continue
		}
		if s.Right > 0 {
			scores[i] = 1 / float64(1+s.Forgotten)
		}
		rank = append(rank, i)
	}
	by := func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[a], scores[b]), cmp.Compare(list[a].Score, list[b].Score)) // NaN first
	}
	slices.SortStableFunc(rank, by)
	place := 0
	for j, i := range rank {
		if j > 0 && by(rank[j-1], i) != 0 {
			place = j
		}
		orders[i] = float64(place)
	}
}
