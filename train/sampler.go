package train

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
)

// Sampling is a way to build batches: [Groups], [Uniform] or [Shuffle]. Each can add a number of unlabelled rows to
// every batch. If the data have fewer unlabelled rows, a batch contains all of them.
type Sampling interface {
	checkSampling() (unlabelled int, err error)
	buildSampling(s *Sampler) // called once the rows of s are known
}

// Sampler draws batches. An epoch is a pure function of (seed, number of the epoch), and always has the same
// number of batches of the same size. Two variants draw PK batches of min(P, classes)·K rows: P distinct
// classes with K rows each, class by class. The third draws rows regardless of class. A negative label marks an
// unlabelled row. Only batches with a number of unlabelled rows contain such rows, at their end.
//
//   - groups: the rows of a class are shuffled, padded by resampling to a multiple of K and cut into groups of
//     K. A batch takes P classes without replacement, with probability proportional to the number of groups
//     they have left. Every row occurs in every epoch. When fewer than P classes have groups left, K rows of each
//     of some finished classes are drawn again, so that all batches have the same size.
//
//   - uniform: every batch takes P classes at random, all equally likely, and K rows of each. An epoch has
//     ⌈rows/(P·K)⌉ batches. Whether a row occurs in an epoch is random: rows of small classes often occur,
//     rows of large classes seldom.
//
//   - shuffle: all rows in random order, cut into batches. An incomplete last batch is left out, as by torch's
//     DataLoader with shuffle and drop_last. Classifiers are usually trained on such batches, which ignore
//     classes.
//
// The K rows of a class are distinct unless the class has fewer than K rows. Then each of its rows is taken once
// before any row is repeated.
//
// A Sampler takes 4 bytes per row and, while an epoch is drawn, up to 4 more; batches are made on demand.
//
// groups follows the sampler released with PRISM and XBM. The released sampler ends an epoch when fewer than P
// classes remain, and so leaves out rows; groups leaves out no row. uniform is MPerClassSampler of
// pytorch-metric-learning with a fixed epoch length.
type Sampler struct {
	// the rows of each class that has rows, ascending, as parts of one array; shuffle: all rows in one list
	rows    [][]int32
	classes bool // rows are grouped by class
	p, k    int
	// draw starts an epoch; each call of its result returns the labelled rows of the next batch
	draw    func(rng *rand.Rand) func() []int
	seed    uint64
	batches int
	views   int     // rows per drawn image
	free    []int32 // unlabelled rows, if any are drawn
	u       int     // number of unlabelled rows in a batch
}

// NewSampler prepares draws from the rows 0 … len(labels)-1.
func NewSampler(how Sampling, labels []int, seed uint64) (*Sampler, error) {
	unlabelled, err := how.checkSampling()
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
	how.buildSampling(s)
	if unlabelled > 0 {
		if s.free = rowsWithout(labels); len(s.free) == 0 {
			return nil, fmt.Errorf("train: sampler: unlabelled: found %d per batch, expected 0: every row has "+
				"a label", unlabelled)
		}
		s.u = min(unlabelled, len(s.free))
	}
	return s, nil
}

// ShowViews makes each batch list all its rows n times, one pass over the rows after another. It is for an
// encoder that draws a different view of a row each time.
func (s *Sampler) ShowViews(n int) { s.views = n }

// Images returns the number of rows drawn for a batch. The batch lists each of these rows once per view.
func (s *Sampler) Images() int { return s.countDrawnRows() + s.u }

// countDrawnRows returns the number of labelled rows drawn for a batch, before views repeat them.
func (s *Sampler) countDrawnRows() int { return s.p * s.k }

// Batches returns the number of batches of any epoch.
func (s *Sampler) Batches() int { return s.batches }

// Size returns the number of rows of any batch.
func (s *Sampler) Size() int { return s.views * s.Images() }

// Labelled returns the number of labelled rows of any batch; they come first.
func (s *Sampler) Labelled() int { return s.views * s.countDrawnRows() }

// Epoch lists the batches of epoch e, as positions of rows.
func (s *Sampler) Epoch(e int) [][]int {
	epoch, next := make([][]int, s.batches), s.beginEpoch(e)
	for b := range epoch {
		epoch[b] = next()
	}
	return epoch
}

// Each yields the batches of Epoch, holding only one in memory.
func (s *Sampler) Each(e int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		next := s.beginEpoch(e)
		for range s.batches {
			if !yield(next()) {
				return
			}
		}
	}
}

// beginEpoch returns a function that returns the batches of epoch e one after another.
func (s *Sampler) beginEpoch(e int) func() []int {
	draw := s.draw(Rand(s.seed, "sampler", e))
	if s.u == 0 {
		return func() []int { return s.repeatViews(draw()) }
	}
	rng := Rand(s.seed, "unlabelled", e)
	var queue []int32
	return func() []int {
		free := make([]int, 0, s.views*s.u)
		for range s.u {
			if len(queue) == 0 { // each row once before any is repeated
				queue = slices.Clone(s.free)
				shuffleList(queue, rng)
			}
			free = append(free, int(queue[0]))
			queue = queue[1:]
		}
		return append(s.repeatViews(draw()), s.repeatViews(free)...)
	}
}

// repeatViews lists the rows as many times as there are views, one pass after another.
func (s *Sampler) repeatViews(rows []int) []int {
	if s.views > 1 {
		return slices.Repeat(rows, s.views)
	}
	return rows
}

// appendSome appends K rows of a class.
func (s *Sampler) appendSome(batch []int, class int, rng *rand.Rand) []int {
	return fillRows(batch, s.rows[class], s.k, rng)
}
