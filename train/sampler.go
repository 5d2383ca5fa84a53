package train

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
)

// Sampling is how batches are put together: [Groups], [Uniform] or [Shuffle]. Each may ask for rows without a label in
// every batch besides: 0 or more; more than there are: all of them.
type Sampling interface {
	check() (unlabelled int, err error)
	build(s *Sampler) error // s knows its rows
}

// Sampler draws batches. An epoch is a pure function of (seed, number of the epoch) and always has the same number
// of batches, all of the same size. Two variants draw PK batches of
// min(P, classes)·K rows: P distinct classes, K rows each, one class after the other; the third draws rows. Rows with
// a negative label have none; they are only in batches that ask for some, and stand at their end.
//
//   - groups: a class is shuffled, padded by resampling to a multiple of K and cut into groups of K; a batch
//     takes P classes without replacement, with probability proportional to the groups they have left.
//     Every row is in every epoch. Where fewer than P classes have groups left, classes that are
//     through give a fresh draw of K, so that no batch is smaller than the others.
//
//   - uniform: every batch takes P classes at random, each class as likely as any other, and K of
//     its rows. ⌈rows/(P·K)⌉ batches make an epoch. A row is in an epoch by chance only: rows of small
//     classes often, rows of large classes seldom.
//
//   - shuffle: all rows in a random order, cut into batches. The rows that are left over, fewer than a batch, wait
//     for another epoch's order: what a DataLoader with shuffle and drop_last does. (Batches that know
//     nothing of classes are what classifiers are usually trained on.)
//
// A balance b below 1 lets small classes of groups and shuffle come again: an epoch has the rows of the largest class as
// often as before, and of a class of n rows, where the largest has m, m·(n/m)^b instead of n. Every row is in an epoch at
// least as often as without it, and the epoch is longer: 1 is one in which every row comes once, 0 one in which every
// class comes as often as the largest. uniform draws a class in proportion to n^b, and its epoch has as many batches as ever.
//
// K rows of one class repeat a row only where the class has fewer than K; then every row of it
// is taken before one is taken again.
//
// It holds 4 bytes a row, and while an epoch is drawn up to 4 more of each row that the epoch visits; batches are made when
// they are asked for.
//
// groups follows the sampler released with PRISM and XBM, which ends an epoch when fewer than P classes
// remain and so leaves rows out; this one does not. uniform is MPerClassSampler of
// pytorch-metric-learning with the epoch's length fixed.
type Sampler struct {
	rows    [][]int32 // of each class that has any, ascending, one array behind all; shuffle by size: of all as one
	classes bool      // rows are by class
	p, k    int
	balance float64
	draw    func(rng *rand.Rand) func() []int // begins an epoch: gives the labelled rows of one batch after the other
	seed    uint64
	batches int
	views   int     // rows of each image that is drawn
	free    []int32 // rows without a label, if any are drawn
	u       int     // of these in a batch
}

// NewSampler prepares the draws from the rows 0 … len(labels)-1.
func NewSampler(how Sampling, labels []int, seed uint64) (*Sampler, error) {
	unlabelled, err := how.check()
	if err == nil && unlabelled < 0 {
		err = fmt.Errorf("train: sampler: %d rows without a label, expected 0 or more", unlabelled)
	}
	if err != nil {
		return nil, err
	}
	if len(labels) > math.MaxInt32 {
		return nil, fmt.Errorf("train: sampler: %d rows, expected at most %d", len(labels), math.MaxInt32)
	}
	rows := rowsByClass(labels)
	if len(rows) == 0 {
		return nil, fmt.Errorf("train: sampler: none of %d rows has a label", len(labels))
	}
	s := &Sampler{rows: rows, classes: true, seed: seed, views: 1}
	if err := how.build(s); err != nil {
		return nil, err
	}
	if unlabelled > 0 {
		if s.free = rowsWithout(labels); len(s.free) == 0 {
			return nil, fmt.Errorf("train: sampler: unlabelled: found %d for a batch, and every row has a "+
				"label: expected 0", unlabelled)
		}
		s.u = min(unlabelled, len(s.free))
	}
	return s, nil
}

func checkBalance(b *float64) error {
	if b != nil && !(*b >= 0 && *b <= 1) {
		return fmt.Errorf("train: sampler: balance %v, expected a power of the classes' sizes from 0 (all equally "+
			"often) to 1 (by size)", *b)
	}
	return nil
}

// visits returns how many groups of k rows of each class an epoch has by the balance.
func (s *Sampler) visits(k int) []int {
	largest := len(slices.MaxFunc(s.rows, func(a, b []int32) int { return len(a) - len(b) }))
	most := float64((largest + k - 1) / k)
	visits := make([]int, len(s.rows))
	for c, rows := range s.rows {
		visits[c] = (len(rows) + k - 1) / k
		if s.balance < 1 {
			visits[c] = max(visits[c], int(math.Round(most*math.Pow(float64(len(rows))/float64(largest), s.balance))))
		}
	}
	return visits
}

// maxEpoch bounds the rows of an epoch, which are listed in memory, where it has rows more than once.
const maxEpoch = 1 << 26

// bounded returns an error where an epoch of so many rows has become too long.
func (s *Sampler) bounded(rows int) error {
	if n := s.batches * s.p * s.k; s.balance < 1 && n > maxEpoch && n > 4*rows {
		return fmt.Errorf("train: sampler: balance %v makes an epoch of %d rows of %d, as small classes come as "+
			"often as large ones: expected at most %d; a larger balance, or uniform batches", s.balance, n,
			rows, maxEpoch)
	}
	return nil
}

// Relabel makes the epochs that are asked for from now on draw by other labels, which have all classes of the first
// ones and the same rows without any. The number of batches stays: groups for which it has no place are left out
// of the epoch, the last ones of the largest classes first.
func (s *Sampler) Relabel(labels []int) {
	if !s.classes {
		return
	}
	rows := rowsByClass(labels)
	if len(rows) != len(s.rows) {
		panic(fmt.Sprintf("train: sampler: relabelled to %d classes, expected %d as before", len(rows), len(s.rows)))
	}
	s.rows = rows
}

// ShowViews makes batches name each row that is drawn n times: first all of them once, then all of them again. It is for an
// encoder that shows another view of a row each time.
func (s *Sampler) ShowViews(n int) { s.views = n }

// Images returns how many rows are drawn for a batch, each of which is in it once for each view.
func (s *Sampler) Images() int { return s.drawn() + s.u }

// drawn returns how many of them have a label.
func (s *Sampler) drawn() int { return s.p * s.k }

// Batches returns the number of batches of any epoch.
func (s *Sampler) Batches() int { return s.batches }

// Size returns the number of rows of any batch.
func (s *Sampler) Size() int { return s.views * s.Images() }

// Labelled returns how many rows of any batch have a label: its first ones.
func (s *Sampler) Labelled() int { return s.views * s.drawn() }

// Epoch lists the batches of epoch e, each the positions of its rows.
func (s *Sampler) Epoch(e int) [][]int {
	epoch, next := make([][]int, s.batches), s.begin(e)
	for b := range epoch {
		epoch[b] = next()
	}
	return epoch
}

// Each goes through the batches that Epoch lists, of which no more is held than one.
func (s *Sampler) Each(e int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		next := s.begin(e)
		for range s.batches {
			if !yield(next()) {
				return
			}
		}
	}
}

// begin returns a function that gives the batches of epoch e, one after the other.
func (s *Sampler) begin(e int) func() []int {
	draw := s.draw(Rand(s.seed, "sampler", e))
	if s.u == 0 {
		return func() []int { return s.viewed(draw()) }
	}
	rng := Rand(s.seed, "unlabelled", e)
	var queue []int32
	return func() []int {
		free := make([]int, 0, s.views*s.u)
		for range s.u {
			if len(queue) == 0 { // each once before any comes again
				queue = slices.Clone(s.free)
				shuffle(queue, rng)
			}
			free = append(free, int(queue[0]))
			queue = queue[1:]
		}
		return append(s.viewed(draw()), s.viewed(free)...)
	}
}

// viewed names rows once for each view.
func (s *Sampler) viewed(rows []int) []int {
	if s.views > 1 {
		return slices.Repeat(rows, s.views)
	}
	return rows
}

// some appends K rows of a class.
func (s *Sampler) some(batch []int, class int, rng *rand.Rand) []int {
	return fill(batch, s.rows[class], s.k, rng)
}
