package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/stat/distuv"

	"winnow/audit/suspects"
	"winnow/eval"
	"winnow/features"
	"winnow/head"
)

// Evidence holds the data on n images before any decision. Each list has an entry for each image.
type Evidence struct {
	// Vectors is m×d: the stored features of the first m images, m ≤ n. The other images are scored without features.
	Vectors   blas32.General
	Classes   int
	Given     []int     // classes, 0 ≤ k < Classes
	Suggested []int     // the given class if no other class fits better
	Rank      []int     // rank in the audit; 1 is most suspect
	Right     []float64 // the audit's probability that the given label is right; NaN: unknown
	Better    []float64 // probability that the suggested label is right; NaN: unknown
	Fit       []float64 // how well the image fits the set; NaN: unknown
	Odd       []bool    // outliers, and images whose duplicates have other labels
	Group     []int     // number of the group of duplicates, from 1; 0: no duplicate
}

// EvidenceOf returns the evidence in an audit's list. Image i is list[i]. classOf numbers the labels. vectors has a row
// for each of the first images of the list.
func EvidenceOf(list []suspects.Suspect, classOf map[string]int, vectors blas32.General) Evidence {
	n := len(list)
	e := Evidence{
		Vectors: vectors, Classes: len(classOf), Given: make([]int, n), Suggested: make([]int, n), Rank: make([]int, n),
		Right: make([]float64, n), Better: make([]float64, n), Fit: make([]float64, n), Odd: make([]bool, n),
		Group: make([]int, n),
	}
	known := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	for i := range list {
		s := &list[i]
		e.Given[i], e.Suggested[i], e.Rank[i], e.Group[i] = classOf[s.Given], classOf[s.Suggested], s.Rank, s.CopyGroup
		e.Right[i], e.Better[i], e.Fit[i] = known(s.GivenProbability), known(s.SuggestedProbability), known(s.Fit)
		e.Odd[i] = s.Outlier || len(s.Copies) > 0
	}
	return e
}

// Len returns the number of images.
func (e *Evidence) Len() int { return len(e.Given) }

func (e *Evidence) checkEvidence() error {
	n := e.Len()
	for _, m := range []int{len(e.Suggested), len(e.Rank), len(e.Right), len(e.Better), len(e.Fit), len(e.Odd),
		len(e.Group)} {
		if m != n {
			return fmt.Errorf("learn: evidence for %d images has a list of %d entries, expected equal lengths", n, m)
		}
	}
	if n == 0 {
		return errors.New("learn: no images")
	}
	if m := e.Vectors.Rows; m > n {
		return fmt.Errorf("learn: %d vectors for %d images, expected at most one an image", m, n)
	}
	for i, k := range e.Given {
		if k < 0 || k >= e.Classes || e.Suggested[i] < 0 || e.Suggested[i] >= e.Classes {
			return fmt.Errorf("learn: image %d: given class %d, suggested class %d, expected less than %d", i, k,
				e.Suggested[i], e.Classes)
		}
	}
	return nil
}

const (
	components = 64     // number of principal components
	nearest    = 20     // number of neighbours whose labels are compared
	compared   = 20_000 // most images among which neighbours are searched
	mostOdds   = 12     // bound of absolute log odds
)

// base is the evidence in numerical form for the regression.
type base struct {
	Evidence
	z      blas32.General // m×k unit rows: whitened principal components; no rows without vectors
	odds   []float64      // log odds of the audit that the label is wrong
	dense  [][]float64    // standardised fixed features of each image; images without a vector have fewer
	habits [][3]int       // numbers of each image's given class, suggested class and pair of both
	kinds  int            // number of habits
	other  []int          // most frequent other label among the neighbours; the given label if there is none
}

// prepareBase computes everything that does not depend on decisions.
func prepareBase(ctx context.Context, e Evidence) (*base, error) {
	n := e.Len()
	b := &base{Evidence: e, odds: make([]float64, n), other: slices.Clone(e.Given)}
	spread := distuv.UnitNormal
	var columns [][]float64
	entries := n
	column := func() []float64 {
		columns = append(columns, make([]float64, entries))
		return columns[len(columns)-1]
	}
	ranked, unsure := column(), column()
	for i := range n {
		u := (float64(e.Rank[i]) - 0.5) / float64(n)
		ranked[i] = -spread.Quantile(min(max(u, 1e-6), 1-1e-6))
		switch {
		case !math.IsNaN(e.Right[i]):
			b.odds[i] = -cutLogit(e.Right[i])
		default:
			b.odds[i] = 2*ranked[i] - 2
		}
		if e.Suggested[i] == e.Given[i] {
			unsure[i] = 1
		}
	}
	better, fit, odd := column(), column(), column()
	for i := range n {
		if v := e.Better[i]; !math.IsNaN(v) && e.Suggested[i] != e.Given[i] {
			better[i] = cutLogit(v)
		}
		if v := e.Fit[i]; !math.IsNaN(v) {
			fit[i] = min(max(v, -5), 5)
		}
		if e.Odd[i] {
			odd[i] = 1
		}
	}
	b.dense = standardiseColumns(columns, n)
	if columns, entries = nil, e.Vectors.Rows; entries > 0 {
		if err := b.computeComponents(ctx, column); err != nil {
			return nil, err
		}
		for i, seen := range standardiseColumns(columns, entries) {
			b.dense[i] = slices.Concat(b.dense[i], seen)
		}
	}
	b.numberHabits()
	return b, nil
}

// numberHabits numbers the given classes, the suggested classes and the pairs of both: systematic mistakes share them.
func (b *base) numberHabits() {
	b.habits, b.kinds = make([][3]int, b.Len()), 2*b.Classes
	pairs := map[[2]int]int{}
	for i := range b.habits {
		p := [2]int{b.Given[i], b.Suggested[i]}
		if _, ok := pairs[p]; !ok {
			pairs[p] = b.kinds
			b.kinds++
		}
		b.habits[i] = [3]int{p[0], b.Classes + p[1], pairs[p]}
	}
}

// computeComponents computes the principal components and the labels of the nearest images.
func (b *base) computeComponents(ctx context.Context, column func() []float64) error {
	n := b.Vectors.Rows
	z, err := head.WhitenSet(ctx, features.Set{X: b.Vectors}, min(components, b.Vectors.Cols))
	if err != nil {
		return err
	}
	b.z = z.X
	all := features.AllRows(n)
	rows := features.Thinned(all, compared)
	gallery := z.Rows(rows)
	near, err := eval.Nearest(ctx, features.Set{X: z.X}, &gallery, nearest+1, eval.DefaultMaxMem)
	if err != nil {
		return err
	}
	agree, agreeBetter, rival := column(), column(), column()
	votes := map[int]float64{}
	for i, list := range near {
		clear(votes)
		total, count := 0.0, 0
		for _, p := range list {
			j := rows[p.Row]
			if j == i || b.Group[i] > 0 && b.Group[j] == b.Group[i] || count == nearest {
				continue
			}
			count++
			v := max(float64(p.Similarity), 0.01)
			votes[b.Given[j]] += v
			total += v
		}
		best := 0.0
		for k, v := range votes {
			if k != b.Given[i] && (v > best || v == best && k < b.other[i]) {
				best, b.other[i] = v, k
			}
		}
		smooth := func(v float64) float64 { return math.Log((v + 0.25) / (total - v + 0.25)) }
		agree[i], rival[i] = smooth(votes[b.Given[i]]), smooth(best)
		agreeBetter[i] = smooth(votes[b.Suggested[i]])
	}
	for c := range b.z.Cols {
		values := column()
		for i := range n {
			values[i] = float64(b.z.Data[i*b.z.Stride+c])
		}
	}
	return nil
}

// standardiseColumns returns the columns as n rows, scaled to mean 0 and deviation 1. Constant columns become 0.
func standardiseColumns(columns [][]float64, n int) [][]float64 {
	data := make([]float64, n*len(columns))
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = data[i*len(columns) : (i+1)*len(columns)]
	}
	for c, values := range columns {
		mean, square := 0.0, 0.0
		for _, v := range values {
			mean += v / float64(n)
		}
		for _, v := range values {
			square += (v - mean) * (v - mean) / float64(n)
		}
		scale := 0.0
		if square > 1e-12 {
			scale = 1 / math.Sqrt(square)
		}
		for i, v := range values {
			rows[i][c] = (v - mean) * scale
		}
	}
	return rows
}

// cutLogit returns the log odds of p, bounded by ±mostOdds.
func cutLogit(p float64) float64 {
	switch {
	case p <= 0:
		return -mostOdds
	case p >= 1:
		return mostOdds
	}
	return min(max(math.Log(p)-math.Log1p(-p), -mostOdds), mostOdds)
}

// invertLogit is the inverse of cutLogit.
func invertLogit(v float64) float64 { return 1 / (1 + math.Exp(-v)) }
