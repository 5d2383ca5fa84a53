// Package leaveout compares every image of a labelled set with every class. The image itself is left out of all class
// means to which it contributes, so that it cannot support its own label.
//
//	s_ik = cosine of z_i and m_ik,   m_ik = Σ_{j≠i} r_jk z_j / Σ_{j≠i} r_jk
//
// If class sizes are uneven, the similarity is the one defined at [Means]. z are unit rows. r_jk is the share of image
// j in class k: initially 1 in its given class and 0 elsewhere, later set by the caller ([Set.Share]). A class with a
// single image is left out together with that image, because the class has no mean without it. A group of duplicates is
// represented by one image, and duplicates never score each other ([NewHeard]).
//
// The package uses given labels only and imports only features. Products with the classes are float32; everything about
// an image's own classes is float64.
package leaveout

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"winnow/features"
)

// Set holds the images to score and the classes present.
type Set struct {
	Z       features.Set // images to score, unit rows, with given labels
	Rows    []int        // rows of the images in the set passed to New
	Classes []int        // class of each column: those with at least two images, ascending
	Column  []int        // column of each class; -1: none

	voice   []int // the image that represents each image, or Mute; nil: each represents itself
	parts   [][]Part
	sums    []float64      // one row of length d per column: Σ r z
	weight  []float64      // Σ r of each column
	squares []float64      // Σ r²
	total   float64        // Σ r |z|² of all columns
	centres blas32.General // one unit row per column, over all images
	norms   []float64      // length of each sum
	means   *Means
}

// Part is the share of an image in one class.
type Part struct {
	Column int
	Weight float64
}

// Mute marks an image that is in no sum and is not represented by another image.
const Mute = -1

// New returns the images whose label another image shares; a negative label is missing. If these are all rows of z and
// have unit length, the set shares the vectors of z; otherwise it copies them.
func New(z features.Set, classes int) (*Set, error) { return NewHeard(z, classes, nil) }

// NewHeard is [New] for a set with duplicates. voice holds for each row the row that represents it in all sums: itself,
// or the first duplicate with the same label. A row is also left out of the comparison with duplicates that it
// represents. [Mute] marks a row whose label contradicts its duplicates: it is scored by the others, but is in no sum.
// If voice is nil, there are no duplicates. A class needs two images that represent themselves.
func NewHeard(z features.Set, classes int, voice []int) (*Set, error) {
	if len(z.Labels) != z.Len() {
		return nil, fmt.Errorf("%d labels for %d vectors, expected as many labels as vectors", len(z.Labels), z.Len())
	}
	count := make([]int, classes)
	for i, y := range z.Labels {
		if y >= classes {
			return nil, fmt.Errorf("row %d: label %d, expected less than %d", i, y, classes)
		}
		if y >= 0 && (voice == nil || voice[i] == i) {
			count[y]++
		}
	}
	of, column, err := NumberColumns(count)
	if err != nil {
		return nil, err
	}
	s := &Set{Classes: of, Column: column}
	for i, y := range z.Labels {
		if y >= 0 && s.Column[y] >= 0 {
			s.Rows = append(s.Rows, i)
		}
	}
	if voice != nil {
		at := make([]int, z.Len())
		for i, row := range s.Rows {
			at[row] = i
		}
		s.voice = make([]int, len(s.Rows))
		for i, row := range s.Rows {
			if s.voice[i] = Mute; voice[row] != Mute {
				s.voice[i] = at[voice[row]]
			}
		}
	}
	if s.Z = (features.Set{X: z.X, Labels: z.Labels}); len(s.Rows) == z.Len() && features.UnitRows(z.X) {
		s.shareAsGiven()
		return s, nil
	}
	s.Z = s.Z.Rows(s.Rows)
	if err := features.Normalize(s.Z.X); err != nil {
		return nil, err
	}
	s.shareAsGiven()
	return s, nil
}

// NumberColumns returns the classes with a count of at least two, ascending, and the column of each class among them,
// -1 for none. Fewer than two such classes cannot be compared and are an error.
func NumberColumns[N int | int64](count []N) (classes, column []int, err error) {
	column = make([]int, len(count))
	for k, n := range count {
		column[k] = -1
		if n >= 2 {
			column[k] = len(classes)
			classes = append(classes, k)
		}
	}
	if len(classes) < 2 {
		return nil, nil, fmt.Errorf("%d classes have two images or more, expected at least two", len(classes))
	}
	return classes, column, nil
}

// shareAsGiven gives every image a share of 1 in its given class.
func (s *Set) shareAsGiven() {
	parts := make([][]Part, s.Z.Len())
	own := make([]Part, s.Z.Len())
	for i, y := range s.Z.Labels {
		own[i] = Part{s.Column[y], 1}
		parts[i] = own[i : i+1]
	}
	s.Share(parts)
}

// Share sets every image's shares in the classes and computes the class directions from them. The columns of an image
// must differ. The set keeps parts; a duplicate gets the shares of the image that represents it.
func (s *Set) Share(parts [][]Part) {
	d, n := s.Z.Dim(), len(s.Classes)
	s.parts, s.sums, s.weight, s.squares = parts, make([]float64, n*d), make([]float64, n), make([]float64, n)
	s.total = 0
	for i, list := range parts {
		if voice := s.Voice(i); voice != i {
			if parts[i] = nil; voice != Mute {
				parts[i] = parts[voice]
			}
			continue
		}
		z := s.Z.Row(i)
		for _, p := range list {
			sum := s.sums[p.Column*d:][:d]
			for j, v := range z {
				sum[j] += p.Weight * float64(v)
			}
			s.weight[p.Column] += p.Weight
			s.squares[p.Column] += p.Weight * p.Weight
			s.total += p.Weight
		}
	}
	s.computeDirections()
}

// computeDirections computes the class directions and means from the sums.
func (s *Set) computeDirections() {
	d, n := s.Z.Dim(), len(s.Classes)
	s.centres, s.norms = features.NewMatrix(n, d), make([]float64, n)
	for c := range n {
		sum := s.sums[c*d:][:d]
		s.norms[c] = floats.Norm(sum, 2)
		scale := inverseLength(s.norms[c])
		for j, v := range sum {
			s.centres.Data[c*d+j] = float32(v * scale)
		}
	}
	s.means = NewMeans(s.sums, nil, s.weight, s.squares, s.total, true)
}

// least is the weight below which a class has no mean.
const least = 1e-9

// Plain returns a set of the same images with the shares of the given labels.
func (s *Set) Plain() *Set {
	plain := *s
	plain.shareAsGiven()
	return &plain
}

// Voice returns the image that represents image i in all sums: itself, its first duplicate with that label, or [Mute].
func (s *Set) Voice(i int) int {
	if s.voice == nil {
		return i
	}
	return s.voice[i]
}

// Copied reports whether some images do not represent themselves.
func (s *Set) Copied() bool { return s.voice != nil }

// Parts returns the shares of image i.
func (s *Set) Parts(i int) []Part { return s.parts[i] }

// inverseLength returns 1/x, or 0 for x = 0: images that cancel out have no direction.
func inverseLength(x float64) float64 {
	if x < least {
		return 0
	}
	return 1 / x
}

// blockEntries limits the number of similarities in memory.
const blockEntries = 1 << 20

// Each calls do for every image i with the column y of its given class and its similarities to all columns, which do
// may modify. The only possible error is ctx.Err(). Time O(n·C·d).
func (s *Set) Each(ctx context.Context, do func(i, y int, row []float64)) error {
	return s.Among(ctx, 0, s.Z.Len(), 1, do)
}

// Among is Each for the images from, from+step, … below to.
func (s *Set) Among(ctx context.Context, from, to, step int, do func(i, y int, row []float64)) error {
	c := len(s.Classes)
	height := max(1, blockEntries/c)
	row, work := make([]float64, c), NewWork(c)
	var scratch []float32
	for ; from < to; from += height * step {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(height, (to-from+step-1)/step)
		part := blas32.General{Rows: n, Cols: s.Z.Dim(), Stride: s.Z.X.Stride * step,
			Data: s.Z.X.Data[from*s.Z.X.Stride:]}
		out := features.Products(&scratch, part, s.centres)
		for b := range n {
			i := from + b*step
			for k, v := range features.Row(out, b) {
				row[k] = 0
				if s.weight[k] >= least {
					row[k] = float64(v) * s.norms[k] / s.weight[k]
				}
			}
			x := Left{Square: 1, Spread: s.total, Parts: s.parts[i]}
			for _, p := range x.Parts {
				row[p.Column] = s.meanProduct(i, p.Column)
				x.Spread -= p.Weight * x.Square
			}
			s.means.Compare(row, x, work)
			do(i, s.Column[s.Z.Labels[i]], row)
		}
	}
	return nil
}

// meanProduct returns the product of the image that represents image i with the mean of a class, in float64.
func (s *Set) meanProduct(i, column int) (v float64) {
	if s.weight[column] < least {
		return 0
	}
	sum := s.sums[column*s.Z.Dim():][:s.Z.Dim()]
	for j, x := range s.Z.Row(i) {
		v += sum[j] * float64(x)
	}
	return v / s.weight[column]
}

// Spread holds the inputs for estimating a class's concentration: the length of the mean of its images, weighted by
// share, and the effective number of images (as many equally weighted images would be as informative).
type Spread struct{ Length, Count float64 }

// Spread returns the spread of a column over all images, or zero if no image has a share.
func (s *Set) Spread(column int) Spread {
	d := s.Z.Dim()
	var norm float64
	for _, v := range s.sums[column*d:][:d] {
		norm += v * v
	}
	return newSpread(math.Sqrt(norm), s.weight[column], s.squares[column])
}

func newSpread(length, weight, squares float64) Spread {
	if weight < 1e-9 || squares < 1e-18 {
		return Spread{}
	}
	return Spread{math.Min(length/weight, 1), weight * weight / squares}
}

// Centres returns a view of the class directions, as unit rows.
func (s *Set) Centres() blas32.General { return s.centres }
