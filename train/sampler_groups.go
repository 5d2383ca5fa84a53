package train

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"winnow/features"
)

// Groups draws P classes with K rows each, so that every row occurs in every epoch.
type Groups struct {
	Classes    int // P; if there are fewer: all of them; 0: 16
	Images     int // K; 0: 4
	Unlabelled int
}

func (g Groups) checkSampling() (unlabelled int, err error) {
	if g.Classes < 0 || g.Images < 0 {
		err = fmt.Errorf("train: sampler: %d classes of %d images, expected at least 1 of 1", g.Classes, g.Images)
	}
	return g.Unlabelled, err
}

// buildSampling sets the length of an epoch to ⌈groups/P⌉ batches, or to the number of groups of the largest class if
// that is larger, because a batch contains a class at most once.
func (g Groups) buildSampling(s *Sampler) {
	s.p, s.k, s.draw = min(cmp.Or(g.Classes, 16), len(s.rows)), cmp.Or(g.Images, 4), s.groupBatches
	total, largest := 0, 0
	for _, rows := range s.rows {
		n := (len(rows) + s.k - 1) / s.k
		total, largest = total+n, max(largest, n)
	}
	s.batches = max((total+s.p-1)/s.p, largest)
}

// groupBatches distributes the groups over the batches. A class with as many remaining groups as remaining batches
// must be in each of these batches. At most P classes are in that state, because the remaining groups never exceed P
// times the remaining batches. The other classes are drawn with probability proportional to their remaining groups.
func (s *Sampler) groupBatches(rng *rand.Rand) func() []int {
	queues, left := s.classQueues(rng)
	batches := s.batches // still to draw
	chosen := make([]int, 0, s.p)
	rest, open := features.AllRows(len(s.rows)), make([]int, len(s.rows))
	taken := make([]bool, len(s.rows))
	return func() []int {
		copy(open, left)
		chosen = s.chooseClasses(chosen[:0], open, batches, rng)
		batches--
		batch := make([]int, 0, s.Images())
		for _, c := range chosen {
			batch = appendRows(batch, queues[c][:s.k])
			queues[c] = queues[c][s.k:]
			left[c]--
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

// classQueues returns each class's shuffled rows, a multiple of K, and each class's number of groups.
func (s *Sampler) classQueues(rng *rand.Rand) (queues [][]int32, left []int) {
	queues, left = make([][]int32, len(s.rows)), make([]int, len(s.rows))
	for c, rows := range s.rows {
		left[c] = (len(rows) + s.k - 1) / s.k
		queues[c] = s.cutQueue(make([]int32, 0, left[c]*s.k), c, rng)
	}
	return queues, left
}

// chooseClasses appends at most P distinct classes from open, the list of classes with groups left. It reorders open.
func (s *Sampler) chooseClasses(chosen, open []int, batchesLeft int, rng *rand.Rand) []int {
	total := 0
	for c, n := range open {
		if total += n; n == batchesLeft {
			chosen = append(chosen, c)
			total, open[c] = total-n, 0
		}
	}
	for len(chosen) < s.p && total > 0 {
		x, c := rng.IntN(total), 0
		for ; x >= open[c]; c++ {
			x -= open[c]
		}
		chosen = append(chosen, c)
		total, open[c] = total-open[c], 0
	}
	return chosen
}

// cutQueue appends the rows of a class to rows, shuffled and padded to a multiple of K.
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
	others := slices.Clone(rows[:len(rows)-rest]) // the rows of the class outside the group being filled
	return append(rows, chooseFirst(others, s.k-rest, rng)...)
}

// Uniform draws P classes with K rows each, all classes equally likely.
type Uniform struct {
	Classes    int // P; if there are fewer: all of them; 0: 16
	Images     int // K; 0: 4
	Unlabelled int
}

func (u Uniform) checkSampling() (unlabelled int, err error) { return Groups(u).checkSampling() }

func (u Uniform) buildSampling(s *Sampler) {
	s.p, s.k, s.draw = min(cmp.Or(u.Classes, 16), len(s.rows)), cmp.Or(u.Images, 4), s.uniformBatches
	s.batches = (countRows(s.rows) + s.p*s.k - 1) / (s.p * s.k)
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

// Shuffle draws rows regardless of class.
type Shuffle struct {
	Rows       int // per batch; if there are fewer: all of them; 0: 128
	Unlabelled int
}

func (h Shuffle) checkSampling() (unlabelled int, err error) {
	if h.Rows < 0 {
		err = fmt.Errorf("train: sampler: batches of %d rows, expected at least 1", h.Rows)
	}
	return h.Unlabelled, err
}

func (h Shuffle) buildSampling(s *Sampler) {
	all := countRows(s.rows)
	s.classes, s.p, s.k, s.draw = false, 1, min(cmp.Or(h.Rows, 128), all), s.shuffledBatches
	s.rows = [][]int32{slices.Concat(s.rows...)}
	slices.Sort(s.rows[0])
	s.batches = all / s.k
}

func (s *Sampler) shuffledBatches(rng *rand.Rand) func() []int {
	order := slices.Clone(s.rows[0])
	shuffleList(order, rng)
	return func() []int {
		batch := appendRows(make([]int, 0, s.Images()), order[:s.k])
		order = order[s.k:]
		return batch
	}
}
