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

func (h Shuffle) check() (unlabelled int, err error) {
	if h.Rows < 0 {
		err = fmt.Errorf("train: sampler: batches of %d rows, expected at least 1", h.Rows)
	}
	return h.Unlabelled, cmp.Or(err, checkBalance(h.Balance))
}

func (h Shuffle) build(s *Sampler) error {
	all := total(s.rows)
	s.classes, s.p, s.k = false, 1, min(cmp.Or(h.Rows, 128), all)
	if h.Balance != nil && *h.Balance < 1 {
		s.balance, s.draw = *h.Balance, s.repeated
		visits := 0
		for _, n := range s.visits(1) {
			visits += n
		}
		s.batches = visits / s.k
		return s.bounded(all)
	}
	s.rows, s.draw = [][]int32{slices.Concat(s.rows...)}, s.shuffled
	slices.Sort(s.rows[0])
	s.batches = all / s.k
	return nil
}

func (s *Sampler) shuffled(rng *rand.Rand) func() []int {
	return s.inBatches(slices.Clone(s.rows[0]), rng)
}

// repeated is shuffled with repeated rows of small classes.
func (s *Sampler) repeated(rng *rand.Rand) func() []int {
	var order []int32
	for c, n := range s.visits(1) {
		order = fill(order, s.rows[c], n, rng)
	}
	return s.inBatches(order, rng)
}

func (s *Sampler) inBatches(order []int32, rng *rand.Rand) func() []int {
	shuffle(order, rng)
	return func() []int {
		batch := named(make([]int, 0, s.Images()), order[:s.k])
		order = order[s.k:]
		return batch
	}
}
