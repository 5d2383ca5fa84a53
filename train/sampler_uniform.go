package train

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"winnow/features"
)

// Uniform draws P classes with K rows each, all classes equally likely.
type Uniform struct {
	Classes    int // P; if there are fewer: all of them; 0: 16
	Images     int // K; 0: 4
	Unlabelled int
	Balance    *float64 // classes are drawn by their sizes to this power, 0 to 1; nil: 0
}

func (u Uniform) checkSampling() (unlabelled int, err error) { return Groups(u).checkSampling() }

func (u Uniform) buildSampling(s *Sampler) error {
	s.p, s.k, s.draw = min(cmp.Or(u.Classes, 16), len(s.rows)), cmp.Or(u.Images, 4), s.uniformBatches
	s.batches = (countRows(s.rows) + s.p*s.k - 1) / (s.p * s.k)
	if u.Balance != nil && *u.Balance > 0 {
		s.balance, s.draw = *u.Balance, s.weightedBatches
	}
	return nil
}

func (s *Sampler) uniformBatches(rng *rand.Rand) func() []int {
	order := features.AllRows(len(s.rows))
	return func() []int {
		batch := make([]int, 0, s.Images())
		for _, c := range chooseFirst(order, s.p, rng) {
			batch = s.appendSome(batch, c, rng)
		}
		return batch
	}
}

// weightedBatches draws the classes of a batch one after another, each by its weight among those left.
func (s *Sampler) weightedBatches(rng *rand.Rand) func() []int {
	weight, key := make([]float64, len(s.rows)), make([]float64, len(s.rows))
	for c, rows := range s.rows {
		weight[c] = math.Pow(float64(len(rows)), s.balance)
	}
	order := features.AllRows(len(s.rows))
	return func() []int {
		for c := range key { // the smallest exponential waiting times are such draws
			key[c] = rng.ExpFloat64() / weight[c]
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(key[a], key[b]), a-b) })
		batch := make([]int, 0, s.Images())
		for _, c := range order[:s.p] {
			batch = s.appendSome(batch, c, rng)
		}
		return batch
	}
}
