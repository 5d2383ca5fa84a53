package audit

import (
	"context"
	"math"

	"winnow/eval"
	"winnow/features"
	"winnow/filters"
)

// candidates is how many classes, nearest by mean similarity, compete to be suggested.
const candidates = 3

// byBank judges every given label of z, all labelled, by a filter's scorer, each image left out of its own judgement. The
// bank is z itself. A label is suggested by giving the row each candidate label in turn and asking the same scorer;
// candidates are the classes nearest by mean similarity. There, too, the row is left out of the class it was given.
// Classes are numbered 0 … classes-1. Time O(n²·d), memory as maxMem says.
func byBank(ctx context.Context, scorer filters.Scorer, z features.Set, classes int, maxMem int64) ([]Suspect, error) {
	bank := features.BankOf(z, classes)
	list := make([]Suspect, z.Len())
	judge := judgeBy(scorer)
	orders, err := judge.all(ctx, z, bank, true)
	if err != nil {
		return nil, err
	}
	for i, order := range orders {
		score := judge.score(order)
		list[i] = Suspect{Row: i, Given: z.Labels[i], Score: score, Order: order, Suggested: z.Labels[i], SuggestedScore: score, Fit: math.NaN(), suggestedOrder: order}
	}
	return list, suggest(ctx, judge, z, bank, list, maxMem)
}

// judge is a scorer as an audit uses it: by log-odds where the scores are probabilities.
type judge struct {
	order func(dst []float64, z features.Set, ref *features.Bank, own bool) []float64
	score func(order float64) float64

	probability bool // order is log(P/(1-P)), P a share among the classes
}

func judgeBy(scorer filters.Scorer) judge {
	if r, ok := scorer.(filters.Ranker); ok {
		return judge{order: r.LogOdds, score: func(l float64) float64 { return 1 / (1 + math.Exp(-l)) }, probability: true}
	}
	return judge{order: scorer.Score, score: func(s float64) float64 { return s }}
}

// all judges z a block at a time, so that no rows×classes matrix of the whole set is held.
func (j judge) all(ctx context.Context, z features.Set, bank *features.Bank, own bool) ([]float64, error) {
	const block = 1024
	scores := make([]float64, 0, z.Len())
	var part []float64
	for from := 0; from < z.Len(); from += block {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to := min(from+block, z.Len())
		rows := features.Set{Labels: z.Labels[from:to], X: z.X}
		rows.X.Rows, rows.X.Data = to-from, z.X.Data[from*z.X.Stride:to*z.X.Stride]
		if z.IDs != nil {
			rows.IDs = z.IDs[from:to]
		}
		part = j.order(part, rows, bank, own)
		scores = append(scores, part...)
	}
	return scores, nil
}

// suggest fills in the class that scores best among the candidates and the given one.
func suggest(ctx context.Context, judge judge, z features.Set, bank *features.Bank, list []Suspect, maxMem int64) error {
	near, err := nearestClasses(ctx, z, bank, maxMem)
	if err != nil {
		return err
	}
	var with []float64 // orders of the given labels, each row a member of its class
	if judge.probability {
		if with, err = judge.all(ctx, z, bank, false); err != nil {
			return err
		}
	}
	other := features.Set{X: z.X, IDs: z.IDs, Labels: make([]int, z.Len())}
	for c := range candidates {
		for i := range other.Labels {
			other.Labels[i] = z.Labels[i] // no further candidate: score it again, harmless
			if c < len(near[i]) {
				other.Labels[i] = near[i][c].Row
			}
		}
		orders, err := judge.all(ctx, other, bank, false)
		if err != nil {
			return err
		}
		for i, order := range orders {
			if with != nil {
				order = withoutRow(order, with[i], list[i].Order)
			}
			if other.Labels[i] != z.Labels[i] && order > list[i].suggestedOrder {
				list[i].Suggested, list[i].SuggestedScore, list[i].suggestedOrder = other.Labels[i], judge.score(order), order
			}
		}
	}
	return nil
}

// withoutRow returns the log-odds of another class c once the row has been taken out of the class y it was given, where its
// own vector would speak for y and against c. other are the log-odds of c and with those of y while the row is a member
// of y, without those of y when it is not. With P_k = e^{l_k}/Σ e^{l} and s(x) = log(1+e^x),
//
//	log P_c = -s(-other) + s(with) - s(without),   for l_c does not depend on the row and s = log Σ e^l - log Σ_{k≠y} e^l
//
// Log-odds beyond 36 are 36, where P rounds to 1. What classes too small for a concentration pool with y stays unchanged.
func withoutRow(other, with, without float64) float64 {
	if math.IsInf(with, 0) || math.IsInf(without, 0) {
		return other // nothing is known of y without the row
	}
	logP := softplus(with) - softplus(without) - softplus(-other)
	const most = 36
	if logP >= 0 {
		return most
	}
	return min(most, logP-math.Log(-math.Expm1(logP)))
}

// softplus returns log(1+e^x).
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// nearestClasses ranks, for every row, the classes other than the given one by mean similarity.
func nearestClasses(ctx context.Context, z features.Set, bank *features.Bank, maxMem int64) ([][]eval.Neighbour, error) {
	out := make([][]eval.Neighbour, z.Len())
	err := eval.EachRow(ctx, z.X, bank.Centres(), eval.Bytes(maxMem), func(i int, s []float32) {
		best := make([]eval.Neighbour, 0, candidates)
		for k, v := range s {
			if k != z.Labels[i] && bank.Count(k) > 0 {
				best = eval.Insert(best, eval.Neighbour{Row: k, Similarity: v})
			}
		}
		out[i] = best
	})
	return out, err
}
