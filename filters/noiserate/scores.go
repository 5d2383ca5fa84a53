package noiserate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// scores gives the similarities of all judged images to all classes that have two images or more, a block at a time.
type scores struct {
	z       features.Set   // judged images, unit rows; labels are those given
	classes []int          // that have two or more of them, rising: the columns
	column  []int          // of a class, -1: none
	centres blas32.General // a unit row for each column, all its images counted
	own     []float64      // of each image, to its class without it
}

// newScores keeps the images whose label another image shares.
func newScores(z features.Set, classes int) (*scores, error) {
	if len(z.Labels) != z.Len() {
		return nil, fmt.Errorf("noise rate: %d labels, expected one for each of %d vectors", len(z.Labels), z.Len())
	}
	count := make([]int, classes)
	for i, y := range z.Labels {
		if y >= classes {
			return nil, fmt.Errorf("noise rate: row %d: label %d, expected one of %d classes", i, y, classes)
		}
		if y >= 0 {
			count[y]++
		}
	}
	s := &scores{column: make([]int, classes)}
	for k, n := range count {
		s.column[k] = -1
		if n >= 2 {
			s.column[k] = len(s.classes)
			s.classes = append(s.classes, k)
		}
	}
	if len(s.classes) < 2 {
		return nil, fmt.Errorf("noise rate: %d classes have two images or more, expected at least two", len(s.classes))
	}
	var rows []int
	for i, y := range z.Labels {
		if y >= 0 && s.column[y] >= 0 {
			rows = append(rows, i)
		}
	}
	s.z = features.Set{X: z.X, Labels: z.Labels}.Rows(rows)
	if err := features.Normalize(s.z.X); err != nil {
		return nil, fmt.Errorf("noise rate: %w", err)
	}
	s.fit()
	return s, nil
}

// fit computes the classes' directions, and every image's similarity to its own class without it.
func (s *scores) fit() {
	d := s.z.Dim()
	sums := make([]float64, len(s.classes)*d)
	for i, y := range s.z.Labels {
		sum := sums[s.column[y]*d:][:d]
		for j, v := range s.z.Row(i) {
			sum[j] += float64(v)
		}
	}
	s.centres = features.NewMatrix(len(s.classes), d)
	for c := range s.classes {
		sum := sums[c*d:][:d]
		scale := inverse(math.Sqrt(dot(sum, sum)))
		for j, v := range sum {
			s.centres.Data[c*d+j] = float32(v * scale)
		}
	}
	s.own = make([]float64, s.z.Len())
	rest := make([]float64, d)
	for i, y := range s.z.Labels {
		sum := sums[s.column[y]*d:][:d]
		var along float64
		for j, v := range s.z.Row(i) {
			rest[j] = sum[j] - float64(v)
			along += rest[j] * float64(v)
		}
		s.own[i] = along * inverse(math.Sqrt(dot(rest, rest)))
	}
}

// inverse is 1/x, or 0 for a length of 0: images that cancel out point nowhere.
func inverse(x float64) float64 {
	if x < 1e-9 {
		return 0
	}
	return 1 / x
}

func dot(a, b []float64) float64 {
	var sum float64
	for j, v := range a {
		sum += v * b[j]
	}
	return sum
}

// blockEntries bounds the similarities held at a time.
const blockEntries = 1 << 20

// each calls do with every image's similarities, one for each column; that of its own class (column y) leaves it out.
func (s *scores) each(do func(i, y int, row []float64)) {
	c := len(s.classes)
	step := max(1, blockEntries/c)
	block := features.NewMatrix(min(step, s.z.Len()), c)
	row := make([]float64, c)
	for from := 0; from < s.z.Len(); from += step {
		n := min(step, s.z.Len()-from)
		part := blas32.General{Rows: n, Cols: s.z.Dim(), Stride: s.z.X.Stride, Data: s.z.X.Data[from*s.z.X.Stride:]}
		out := blas32.General{Rows: n, Cols: c, Stride: c, Data: block.Data[:n*c]}
		blas32.Gemm(blas.NoTrans, blas.Trans, 1, part, s.centres, 0, out)
		for i := range n {
			for k, v := range features.Row(out, i) {
				row[k] = float64(v)
			}
			y := s.column[s.z.Labels[from+i]]
			row[y] = s.own[from+i]
			do(from+i, y, row)
		}
	}
}
