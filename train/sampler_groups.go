package train

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"winnow/features"
)

// Groups draws P classes with K rows each; every row is in every epoch.
type Groups struct {
	Classes    int // P; if there are fewer: all of them; 0: 16
	Images     int // K; 0: 4
	Unlabelled int
	Balance    *float64 // classes are drawn by their sizes to this power, 0 to 1; nil: 1
}

func (g Groups) checkSampling() (unlabelled int, err error) {
	if g.Classes < 0 || g.Images < 0 {
		err = fmt.Errorf("train: sampler: %d classes of %d images, expected at least 1 of 1", g.Classes, g.Images)
	}
	return g.Unlabelled, cmp.Or(err, checkBalance(g.Balance))
}

// buildSampling sets an epoch to ⌈groups/P⌉ batches, or to the number of groups of the largest class if that is more,
// because a batch has a class at most once.
func (g Groups) buildSampling(s *Sampler) error {
	s.p, s.k, s.draw, s.balance = min(cmp.Or(g.Classes, 16), len(s.rows)), cmp.Or(g.Images, 4), s.groupBatches, 1
	if g.Balance != nil {
		s.balance = *g.Balance
	}
	total, largest, rows := 0, 0, 0
	for c, n := range s.groupVisits(s.k) {
		total, largest, rows = total+n, max(largest, n), rows+len(s.rows[c])
	}
	s.batches = max((total+s.p-1)/s.p, largest)
	return s.checkEpochLength(rows)
}

// groupBatches distributes the groups over the batches. A class with as many groups left as there are batches left
// must be in each of them; there are at most P such classes, because the groups left never exceed P times the
// batches left. The other places are drawn with probability proportional to the groups left.
func (s *Sampler) groupBatches(rng *rand.Rand) func() []int {
	queues, left := s.classQueues(rng)
	batches := s.batches // left
	chosen := make([]int, 0, s.p)
	rest := features.AllRows(len(s.rows))
	taken := make([]bool, len(s.rows))
	return func() []int {
		chosen = s.chooseClasses(chosen[:0], left, batches, rng)
		batches--
		batch := make([]int, 0, s.Images())
		for _, c := range chosen {
			batch = appendRows(batch, queues[c][:s.k])
			queues[c] = queues[c][s.k:]
			left.changeWeight(c, -1)
			taken[c] = true
		}
		for i := 0; len(batch) < s.countDrawnRows(); i++ { // fewer than P classes have groups left
			j := i + rng.IntN(len(rest)-i)
			rest[i], rest[j] = rest[j], rest[i]
			if !taken[rest[i]] {
				batch = s.appendSome(batch, rest[i], rng)
			}
		}
		for _, c := range chosen {
			taken[c] = false
		}
		return batch
	}
}

// classQueues returns the rows of each class, K at a time, as parts of one array, and their numbers of groups.
func (s *Sampler) classQueues(rng *rand.Rand) ([][]int32, *weights) {
	visits, all := s.groupVisits(s.k), 0
	for _, n := range visits {
		all += n * s.k
	}
	queues, left, flat := make([][]int32, len(s.rows)), newWeights(len(s.rows)), make([]int32, all)
	var scratch []int32
	for c, n := range visits {
		queues[c], flat = flat[:n*s.k:n*s.k], flat[n*s.k:]
		for done := 0; done < n*s.k; {
			scratch = s.cutQueue(scratch[:0], c, rng)
			done += copy(queues[c][done:], scratch)
		}
		left.changeWeight(c, n)
	}
	return queues, left
}

// chooseClasses appends at most P distinct classes with groups left.
func (s *Sampler) chooseClasses(chosen []int, left *weights, batchesLeft int, rng *rand.Rand) []int {
	for c, n := range left.of {
		if n == batchesLeft {
			chosen = append(chosen, c)
		}
	}
	for _, c := range chosen { // removed during the draw, restored at the end
		left.changeWeight(c, -batchesLeft)
	}
	forced := len(chosen)
	var held []int
	for len(chosen) < s.p && left.total > 0 {
		c := left.findPosition(rng.IntN(left.total))
		chosen = append(chosen, c)
		held = append(held, left.of[c])
		left.changeWeight(c, -left.of[c])
	}
	for i, c := range chosen {
		if i < forced {
			left.changeWeight(c, batchesLeft)
		} else {
			left.changeWeight(c, held[i-forced])
		}
	}
	return chosen
}

// cutQueue appends the rows of a class, shuffled and padded to a multiple of K.
func (s *Sampler) cutQueue(rows []int32, class int, rng *rand.Rand) []int32 {
	rows = append(rows, s.rows[class]...)
	shuffleList(rows, rng)
	rest := len(rows) % s.k
	if rest == 0 {
		return rows
	}
	if len(rows) < s.k {
		return fillRows(rows, s.rows[class], s.k-rest, rng)
	}
	others := slices.Clone(rows[:len(rows)-rest]) // without those of the group being filled
	return append(rows, chooseFirst(others, s.k-rest, rng)...)
}
