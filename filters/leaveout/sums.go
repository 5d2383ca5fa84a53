package leaveout

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"winnow/features"
)

// Sums holds the sums from which the classes and the whitening of a set are computed, for sets that no machine
// holds as a whole: rows are added block by block. The sums are integers, so the result is the same to the last
// bit in any order of adding.
type Sums struct {
	Dim     int
	Rows    int64   // with and without a label
	Count   []int64 // rows of each class
	All     []int64 // Σ u, in units of 1/one
	Squares []int64 // Σ u uᵀ, the whole matrix, likewise
	Classes []int64 // Σ u of each class, likewise, class after class
}

const (
	one      = 1 << 32 // a value of a row is rounded to 2e-10 of its length, finer than float32
	mostRows = 1 << 30 // limit for the sums to fit into 63 bits
)

// NewSums returns empty sums.
func NewSums(dim, classes int) *Sums {
	return &Sums{Dim: dim, Count: make([]int64, classes), All: make([]int64, dim), Squares: make([]int64, dim*dim),
		Classes: make([]int64, classes*dim)}
}

// Add adds a block of unit rows; a negative label means none. Products are float32 over the block as given: the
// same blocks give the same sums.
func (s *Sums) Add(x blas32.General, labels []int) error {
	if x.Cols != s.Dim || len(labels) != x.Rows {
		return fmt.Errorf("leaveout: found %d rows of %d values and %d labels, expected rows of %d values "+
			"and as many labels", x.Rows, x.Cols, len(labels), s.Dim)
	}
	if s.Rows += int64(x.Rows); s.Rows > mostRows {
		return fmt.Errorf("leaveout: found more than %d rows, expected at most as many", mostRows)
	}
	for i, y := range labels {
		if y >= len(s.Count) {
			return fmt.Errorf("leaveout: row %d: label %d, expected one of %d classes", i, y, len(s.Count))
		}
		var class []int64
		if y >= 0 {
			s.Count[y]++
			class = s.Classes[y*s.Dim:][:s.Dim]
		}
		for j, v := range features.Row(x, i) {
			n := toFixedPoint(v)
			s.All[j] += n
			if class != nil {
				class[j] += n
			}
		}
	}
	squares := features.NewMatrix(s.Dim, s.Dim)
	blas32.Gemm(blas.Trans, blas.NoTrans, 1, x, x, 0, squares)
	for i, v := range squares.Data {
		s.Squares[i] += toFixedPoint(v)
	}
	return nil
}

func toFixedPoint(v float32) int64 { return int64(math.RoundToEven(float64(v) * one)) }

// Moments returns the mean of the rows and their covariance.
func (s *Sums) Moments() (mean []float64, covariance *mat.SymDense) {
	n := float64(s.Rows)
	mean = make([]float64, s.Dim)
	for j, v := range s.All {
		mean[j] = float64(v) / one / n
	}
	covariance = mat.NewSymDense(s.Dim, nil)
	for i := range s.Dim {
		for j := i; j < s.Dim; j++ {
			both := float64(s.Squares[i*s.Dim+j]+s.Squares[j*s.Dim+i]) / 2 / one
			covariance.SetSym(i, j, both/n-mean[i]*mean[j])
		}
	}
	return mean, covariance
}

// Whole holds the classes of a set when only some rows are compared with them at a time, in the space that an
// affine map takes rows to. There, rows have any length.
type Whole struct {
	Weight  blas32.General // in×out
	Bias    []float32
	Classes []int     // with at least two rows, rising: the columns
	Column  []int     // of a class; -1: none
	Sums    []float64 // of each column, in the space
	Images  []float64 // of each column
	Total   float64   // Σ |x|² of these images, in the space

	centres blas32.General // once computed, as norms and means
	norms   []float64
	means   *Means
}

// Turned returns the classes of the rows of s, mapped by x·weight + bias.
func (s *Sums) Turned(weight blas32.General, bias []float32) (*Whole, error) {
	classes, column, err := NumberColumns(s.Count)
	if err != nil {
		return nil, err
	}
	w := &Whole{Weight: weight, Bias: bias, Classes: classes, Column: column}
	w.Sums, w.Images = make([]float64, len(w.Classes)*weight.Cols), make([]float64, len(w.Classes))
	for c, k := range w.Classes {
		sum := w.Sums[c*weight.Cols:][:weight.Cols]
		w.Images[c] = float64(s.Count[k])
		for j, b := range bias {
			sum[j] = float64(s.Count[k]) * float64(b)
		}
		for i, v := range s.Classes[k*s.Dim:][:s.Dim] {
			x := float64(v) / one
			for j, f := range features.Row(weight, i) {
				sum[j] += x * float64(f)
			}
		}
	}
	w.Total = s.squareOf(weight, bias) * floats.Sum(w.Images)
	return w, nil
}

// squareOf returns the mean of |x·weight + bias|² over all rows.
func (s *Sums) squareOf(weight blas32.General, bias []float32) (square float64) {
	mean, covariance := s.Moments()
	var turned mat.Dense
	w := mat.NewDense(weight.Rows, weight.Cols, nil)
	for i := range weight.Rows {
		for j, v := range features.Row(weight, i) {
			w.Set(i, j, float64(v))
		}
	}
	turned.Mul(covariance, w)
	for j, b := range bias {
		middle := float64(b) + mat.Dot(mat.NewVecDense(len(mean), mean), w.ColView(j))
		square += middle*middle + mat.Dot(w.ColView(j), turned.ColView(j))
	}
	return square
}

// Compare returns the rows of x whose class has other rows, mapped to the space, as a Set that compares them
// with the classes of the whole; each row is left out of its own class. x are rows of the whole, as they were
// added.
func (w *Whole) Compare(x blas32.General, labels []int) *Set {
	d := w.Weight.Cols
	s := &Set{Classes: w.Classes, Column: w.Column, sums: w.Sums, weight: w.Images, squares: w.Images, total: w.Total}
	for i, y := range labels {
		if y >= 0 && w.Column[y] >= 0 {
			s.Rows = append(s.Rows, i)
		}
	}
	all := features.NewMatrix(x.Rows, d)
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, x, w.Weight, 0, all)
	s.Z = features.Set{X: features.NewMatrix(len(s.Rows), d), Labels: make([]int, len(s.Rows))}
	s.parts = make([][]Part, len(s.Rows))
	own := make([]Part, len(s.Rows))
	for at, i := range s.Rows {
		row := features.Row(all, i)
		for j, b := range w.Bias {
			row[j] += b
		}
		own[at] = Part{w.Column[labels[i]], 1}
		s.lengths = append(s.lengths, features.UnitRow(s.Z.Row(at), row))
		s.Z.Labels[at], s.parts[at] = labels[i], own[at:at+1]
	}
	if w.means == nil {
		s.computeDirections()
		w.centres, w.norms, w.means = s.centres, s.norms, s.means
	}
	s.centres, s.norms, s.means = w.centres, w.norms, w.means
	return s
}
