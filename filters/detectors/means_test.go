package detectors

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// GivenMeans is a classifier that needs no training. It assigns a row to the classes by its cosine to the mean
// of each class's given labels. The mean of its own label leaves out the row itself, so that the classifier has
// not memorised any label, like TCL's early in training.
//
//	p_ik = softmax_k(z_i·m_k/t),   m_k = normalise(Σ_{j≠i, y_j=k} z_j)
//
// A class without another row counts as a vector of length 0. Memory O(C·d).
func GivenMeans(z features.Set, classes int, t float64) (Probabilities, error) {
	if !(t > 0) {
		return nil, fmt.Errorf("detectors: temperature: found %v, expected a number above 0", t)
	}
	u, err := unitCopy(z, classes)
	if err != nil {
		return nil, err
	}
	sums := features.NewMatrix(classes, u.Dim())
	wide := make([]float64, classes*u.Dim())
	for i, y := range u.Labels {
		if y >= 0 {
			for j, v := range u.Row(i) {
				wide[y*u.Dim()+j] += float64(v)
			}
		}
	}
	squares := make([]float64, classes)
	for k, v := range wide {
		sums.Data[k] = float32(v)
		squares[k/u.Dim()] += v * v
	}
	logits := make([]float64, classes)
	return func(dst blas32.General, z features.Set, from int) {
		blas32.Gemm(blas.NoTrans, blas.Trans, 1, features.Part(z.X, from, dst.Rows), sums, 0, dst)
		for i := range dst.Rows {
			row := features.Row(dst, i)
			for k, s := range row {
				along, square := float64(s), squares[k]
				if k == z.Labels[from+i] { // without the row itself
					along, square = along-1, square-2*along+1
				}
				logits[k] = 0
				if square > 1e-6 {
					logits[k] = along / (math.Sqrt(square) * t)
				}
			}
			features.Softmax(logits, logits)
			for k, p := range logits {
				row[k] = float32(p)
			}
		}
	}, nil
}

// Clean returns P(clean) of each row, with [GivenMeans] as the classifier; 0 without a label.
func (c TCL) Clean(z features.Set, classes int) ([]float64, error) {
	p, err := GivenMeans(z, classes, c.Temperature)
	if err != nil {
		return nil, err
	}
	d, err := c.Detect(z, classes, p)
	if err != nil {
		return nil, err
	}
	return d.Clean, nil
}

// Clean returns P(clean) of each row: the share of its neighbours whose pseudo label is its given label; 0
// without a label.
func (c SelCL) Clean(ctx context.Context, z features.Set, classes int) ([]float64, error) {
	s, err := c.Select(ctx, z, classes)
	if err != nil {
		return nil, err
	}
	return s.Share, nil
}
