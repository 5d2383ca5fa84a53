package train

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Shuffle draws rows regardless of class.
type Shuffle struct {
	Rows       int // per batch; if there are fewer: all of them; 0: 128
	Unlabelled int
	Balance    *float64 // classes are drawn by their sizes to this power, 0 to 1; nil: 1
}

func (h Shuffle) checkSampling() (unlabelled int, err error) {
	if h.Rows < 0 {
		err = fmt.Errorf("train: sampler: batches of %d rows, expected at least 1", h.Rows)
	}
	return h.Unlabelled, cmp.Or(err, checkBalance(h.Balance))
}

func (h Shuffle) buildSampling(s *Sampler) error {
	all := countRows(s.rows)
	s.classes, s.p, s.k = false, 1, min(cmp.Or(h.Rows, 128), all)
	if h.Balance != nil && *h.Balance < 1 {
		s.balance, s.draw = *h.Balance, s.repeatedBatches
		visits := 0
		for _, n := range s.groupVisits(1) {
			visits += n
		}
		s.batches = visits / s.k
		return s.checkEpochLength(all)
	}
	s.rows, s.draw = [][]int32{slices.Concat(s.rows...)}, s.shuffledBatches
	slices.Sort(s.rows[0])
	s.batches = all / s.k
	return nil
}

func (s *Sampler) shuffledBatches(rng *rand.Rand) func() []int {
	return s.inBatches(slices.Clone(s.rows[0]), rng)
}

// repeatedBatches is shuffled with repeated rows of small classes.
func (s *Sampler) repeatedBatches(rng *rand.Rand) func() []int {
	var order []int32
	for c, n := range s.groupVisits(1) {
		order = fillRows(order, s.rows[c], n, rng)
	}
	return s.inBatches(order, rng)
}

func (s *Sampler) inBatches(order []int32, rng *rand.Rand) func() []int {
	shuffleList(order, rng)
	return func() []int {
		batch := appendRows(make([]int, 0, s.Images()), order[:s.k])
		order = order[s.k:]
		return batch
	}
}
