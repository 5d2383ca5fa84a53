package judges

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"winnow/features"
	"winnow/filters/leaveout"
	"winnow/internal/eigen"
)

// metric compares every image with every class, as class centres do, in a space that is whitened again to a degree λ:
//
//	t_ik of [leaveout.Means], with products φ_i·M·m_k,   M = (Σ_j φ_j φ_jᵀ + λτ I)^{-1}
//
// where φ are the unit rows and τ is the mean eigenvalue of Σ φφᵀ. M, the class means m and the mean of all images
// leave out image i. If classes have similar sizes, m_k·M is the direction of regularised least squares and of linear
// discriminants; for λ → ∞, t_ik is the cosine to the class centre. The mean must be the mean of the other images:
// whitened vectors have their overall mean at the origin, so the mean of the others points away from the image.
//
// Leaving an image out needs no second inverse (Sherman & Morrison 1950): with h = φ_i·M·φ_i, products in the metric M'
// of the other images are a·M'·b = a·M·b + (a·M·φ_i)(φ_i·M·b)/(1-h).
//
// A duplicate gets the similarities of the image that represents it. A mute image is not in any sum and is not left
// out.
//
// Time O(n·d² + d³) once, then O(n·C·d) for each λ; memory n·d.
type metric struct {
	s     *leaveout.Set
	along blas32.General // n×d: coordinates of the images along the eigenvectors of Σ φφᵀ
	sums  []float64      // C×d: class sums in the same coordinates
	count []float64      // C: number of images of each class
	value []float64      // d: eigenvalues of Σ φφᵀ
	mean  float64        // τ
	twin  []int          // n: the nearest other image of the same label; -1: none

	free func() error // releases along
}

// squaresBlock is the number of rows multiplied in float32 before the product is added to the float64 sum.
const squaresBlock = 2048

func newMetric(ctx context.Context, s *leaveout.Set) (*metric, error) {
	n, d := s.Z.Len(), s.Z.Dim()
	squares, part := make([]float64, d*d), features.NewMatrix(d, d)
	for from := 0; from < n; from += squaresBlock {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		block := features.Part(s.Z.X, from, min(squaresBlock, n-from))
		blas32.Gemm(blas.Trans, blas.NoTrans, 1, block, block, 0, part)
		for i, v := range part.Data {
			squares[i] += float64(v)
		}
	}
	for i := range n {
		if s.Voice(i) == i {
			continue
		}
		row := s.Z.Row(i)
		for a, v := range row {
			for b, w := range row {
				squares[a*d+b] -= float64(v) * float64(w)
			}
		}
	}
	values, vectors, ok := eigen.Symmetric(mat.NewSymDense(d, squares))
	if !ok {
		return nil, fmt.Errorf("judges: eigenvectors of the vectors' second moments did not converge")
	}
	m := &metric{s: s, value: values, sums: make([]float64, len(s.Classes)*d), count: make([]float64, len(s.Classes))}
	for j, v := range m.value {
		m.value[j] = math.Max(v, 0)
		m.mean += m.value[j] / float64(d)
	}
	turn := features.NewMatrix(d, d)
	for i := range turn.Data {
		turn.Data[i] = float32(vectors.At(i%d, i/d))
	}
	var err error
	m.along, m.free, err = features.Spill(n, d, func(from int, x blas32.General) error {
		blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, features.Part(s.Z.X, from, x.Rows), turn, 0, x)
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	for i, y := range s.Z.Labels {
		switch voice := s.Voice(i); {
		case voice == leaveout.Mute:
			continue
		case voice != i:
			copy(features.Row(m.along, i), features.Row(m.along, voice))
			continue
		}
		m.count[s.Column[y]]++
		sum := m.sums[s.Column[y]*d:][:d]
		for j, v := range features.Row(m.along, i) {
			sum[j] += float64(v)
		}
	}
	return m, m.findTwins(ctx)
}

// twinsAmong is the most images of a class that each of its images is compared with, evenly spaced among a larger
// class. In such a class, a single image hardly changes the sum.
const twinsAmong = 1 << 12

// findTwins finds the nearest image of the same class for each image. Time O(n·twinsAmong·d) at most.
func (m *metric) findTwins(ctx context.Context) error {
	z := m.s.Z
	m.twin = make([]int, z.Len())
	members := make([][]int, len(m.s.Classes))
	for i, y := range z.Labels {
		members[m.s.Column[y]] = append(members[m.s.Column[y]], i)
	}
	for _, rows := range members {
		const height = 1024
		others := rows
		if m.s.Copied() {
			others = slices.DeleteFunc(slices.Clone(rows), func(i int) bool { return m.s.Voice(i) != i })
		}
		others = features.Thinned(others, twinsAmong)
		x := z.Rows(others).X
		var scratch []float32
		for from := 0; from < len(rows); from += height {
			if err := ctx.Err(); err != nil {
				return err
			}
			asked := rows[from:min(from+height, len(rows))]
			cosines := features.Products(&scratch, z.Rows(asked).X, x)
			for r, i := range asked {
				best := -1
				row := features.Row(cosines, r)
				for j, v := range row {
					if others[j] != m.s.Voice(i) && (best < 0 || v > row[best]) {
						best = j
					}
				}
				if m.twin[i] = -1; best >= 0 {
					m.twin[i] = others[best]
				}
			}
		}
	}
	return nil
}

// visitSimilarities calls do for every step-th image with its column and its similarities under λ; do may change the
// similarities. If twins is false, an image's nearest image of the same label is left out of the class centre, too.
func (m *metric) visitSimilarities(ctx context.Context, lambda float64, twins bool, step int,
	do func(i, y int, row []float64)) error {
	n, d, c := m.along.Rows, m.along.Cols, len(m.s.Classes)
	scale, spread := m.scaleEigenvalues(lambda)
	means, scaled := leaveout.NewMeans(m.sums, scale, m.count, m.count, spread, true), features.NewMatrix(c, d)
	for k := range c {
		out := features.Row(scaled, k)
		for j, v := range m.sums[k*d:][:d] {
			out[j] = float32(v / m.count[k] * scale[j])
		}
	}
	height := max(1, (1<<20)/c)
	row, work, own := make([]float64, c), leaveout.NewWork(c), make([]leaveout.Part, 1)
	shift := 1 / (floats.Sum(m.count) - 1)
	var scratch []float32
	for from := 0; from < n; from += height * step {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := blas32.General{Rows: min(height, (n-from+step-1)/step), Cols: d, Stride: m.along.Stride * step,
			Data: m.along.Data[from*m.along.Stride:]}
		out := features.Products(&scratch, part, scaled)
		for r := range part.Rows {
			i := from + r*step
			y := m.s.Column[m.s.Z.Labels[i]]
			h, f, u := 0.0, 0.0, 0.0
			for j, v := range features.Row(m.along, i) {
				x := float64(v) * scale[j]
				h += float64(v) * x
				f += m.sums[y*d+j] * x // in float64, since h is subtracted from it
				u += m.value[j] * x * x
			}
			for k, v := range features.Row(out, r) {
				row[k] = float64(v)
			}
			x := leaveout.Left{Square: h, Spread: spread}
			if m.s.Voice(i) != leaveout.Mute {
				x.Square = math.Min(h, 1-1e-6)
				x.Gain, x.Shift = 1/(1-x.Square), shift
				x.Spread += (u-h*h)*x.Gain - h
				own[0] = leaveout.Part{Column: y, Weight: 1}
				row[y], x.Parts = f/m.count[y], own
				if !twins && m.twin[i] >= 0 {
					x.Own = m.withoutTwin(i, y, h, f, scale)
				}
			}
			means.Compare(row, x, work)
			do(i, y, row)
		}
	}
	return nil
}

// scaleEigenvalues returns the eigenvalues of M and the trace tr(M·Σ φφᵀ).
func (m *metric) scaleEigenvalues(lambda float64) (scale []float64, spread float64) {
	scale = make([]float64, len(m.value))
	for j, v := range m.value {
		scale[j] = 1 / (v + lambda*m.mean)
		spread += v * scale[j]
	}
	return scale, spread
}

// withoutTwin returns φ·M·m, m·M·m and the number of images behind m, where m is the mean of class y without image i
// and without its nearest neighbour of that class.
func (m *metric) withoutTwin(i, y int, h, f float64, scale []float64) *[3]float64 {
	var phi, hTwin, fTwin, q float64
	twin, sum := features.Row(m.along, m.twin[i]), m.sums[y*len(scale):]
	for j, v := range features.Row(m.along, i) {
		t := float64(twin[j]) * scale[j]
		phi += float64(v) * t
		hTwin += float64(twin[j]) * t
		fTwin += sum[j] * t
		q += sum[j] * sum[j] * scale[j]
	}
	of := math.Max(m.count[y]-2, 1)
	return &[3]float64{(f - h - phi) / of, (q - 2*f + h + hTwin + 2*phi - 2*fTwin) / (of * of), of}
}
