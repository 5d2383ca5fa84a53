package judges

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"winnow/features"
	"winnow/filters/leaveout"
)

// metric compares every image with every class as class centres do, in a space whitened once more, by more or by less:
//
//	t_ik = φ_i·M·b_k / (|φ_i|_M |b_k|_M),   M = (Σ_j φ_j φ_jᵀ + λτ I)^{-1},   b_k = Σ_{y_j=k} φ_j,   |v|_M = √(vᵀMv)
//
// with φ the unit rows and τ the mean eigenvalue of their sum of squares, without image i in M and in the sums b. That
// is the direction of regularised least squares and of linear discriminants, each image left out; with λ → ∞ it is the
// cosine to the class centre. Leaving out needs no second inverse (Sherman & Morrison 1950): with f_k = φ_i·M·b_k,
// h = φ_i·M·φ_i and q_k = b_k·M·b_k of all images,
//
//	φ M' b_k = f_k/(1-h),   φ M' (b_y-φ) = (f_y-h)/(1-h),   |φ|² = h/(1-h),
//	|b_k|² = q_k + f_k²/(1-h),   |b_y-φ|² = q_y - 2f_y + h + (f_y-h)²/(1-h)
//
// in M' of the others. Where twins do not count, the sum of the image's own class lacks its nearest image m too:
//
//	φ M' (b_y-φ-m) = (f_y-h-φMm)/(1-h),   |b_y-φ-m|² = q_y - 2f_y + h + mMm + 2φMm - 2 mMb_y + (f_y-h-φMm)²/(1-h)
//
// Time O(n·d² + d³) once, then O(n·C·d) for each λ; memory n·d.
type metric struct {
	s     *leaveout.Set
	along blas32.General // n×d: images along the eigenvectors of Σ φφᵀ
	sums  []float64      // C×d: classes, likewise
	value []float64      // d eigenvalues
	mean  float64        // τ
	twin  []int          // of each image, the nearest other of its label; -1: none

	free func() error // ends along
}

// squaresBlock rows are multiplied in float32 before they join the float64 sum.
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
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(d, squares), true) {
		return nil, fmt.Errorf("judges: eigenvectors of the vectors' second moments did not converge")
	}
	m := &metric{s: s, value: eigen.Values(nil), sums: make([]float64, len(s.Classes)*d)}
	for j, v := range m.value {
		m.value[j] = math.Max(v, 0)
		m.mean += m.value[j] / float64(d)
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	turn := features.NewMatrix(d, d)
	for i := range turn.Data {
		turn.Data[i] = float32(vectors.At(i/d, i%d))
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
		sum := m.sums[s.Column[y]*d:][:d]
		for j, v := range features.Row(m.along, i) {
			sum[j] += float64(v)
		}
	}
	return m, m.findTwins(ctx)
}

// twinsAmong is how many images of a class are compared with each of it, spread over all where it has more: of so many, one
// hardly moves the sum.
const twinsAmong = 1 << 12

// findTwins compares the images of each class. Time O(n·twinsAmong·d) at most.
func (m *metric) findTwins(ctx context.Context) error {
	z := m.s.Z
	m.twin = make([]int, z.Len())
	members := make([][]int, len(m.s.Classes))
	for i, y := range z.Labels {
		members[m.s.Column[y]] = append(members[m.s.Column[y]], i)
	}
	for _, rows := range members {
		const height = 1024
		others := features.Thinned(rows, twinsAmong)
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
					if others[j] != i && (best < 0 || v > row[best]) {
						best = j
					}
				}
				m.twin[i] = others[best]
			}
		}
	}
	return nil
}

// each calls do for every step-th image with its column and its similarities under λ, which do may change. twins: the
// nearest image of its label counts.
func (m *metric) each(ctx context.Context, lambda float64, twins bool, step int, do func(i, y int, row []float64)) error {
	n, d, c := m.along.Rows, m.along.Cols, len(m.s.Classes)
	scale := make([]float64, d)
	for j, v := range m.value {
		scale[j] = 1 / (v + lambda*m.mean)
	}
	scaled, q := features.NewMatrix(c, d), make([]float64, c)
	for k := range c {
		sum := m.sums[k*d:][:d]
		out := features.Row(scaled, k)
		for j, v := range sum {
			out[j] = float32(v * scale[j])
			q[k] += v * v * scale[j]
		}
	}
	height := max(1, (1<<20)/c)
	row := make([]float64, c)
	var scratch []float32
	for from := 0; from < n; from += height * step {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := blas32.General{Rows: min(height, (n-from+step-1)/step), Cols: d, Stride: m.along.Stride * step, Data: m.along.Data[from*m.along.Stride:]}
		out := features.Products(&scratch, part, scaled)
		for r := range part.Rows {
			i := from + r*step
			y := m.s.Column[m.s.Z.Labels[i]]
			h, own := 0.0, 0.0
			for j, v := range features.Row(m.along, i) {
				h += float64(v) * float64(v) * scale[j]
				own += float64(v) * m.sums[y*d+j] * scale[j] // in float64: h is taken from it
			}
			h = math.Min(h, 1-1e-6)
			length := math.Sqrt(h / (1 - h))
			for k, v := range features.Row(out, r) {
				f := float64(v)
				row[k] = f / (1 - h) * inverse(length*math.Sqrt(q[k]+f*f/(1-h)))
			}
			rest, norm := own-h, q[y]-2*own+h
			if !twins {
				g, hTwin, fTwin := 0.0, 0.0, 0.0
				twin := features.Row(m.along, m.twin[i])
				for j, v := range features.Row(m.along, i) {
					t := float64(twin[j]) * scale[j]
					g += float64(v) * t
					hTwin += float64(twin[j]) * t
					fTwin += m.sums[y*d+j] * t
				}
				rest -= g
				norm += hTwin + 2*g - 2*fTwin
			}
			row[y] = rest / (1 - h) * inverse(length*math.Sqrt(math.Max(norm+rest*rest/(1-h), 0)))
			do(i, y, row)
		}
	}
	return nil
}

// inverse returns 1/x, 0 for next to nothing.
func inverse(x float64) float64 {
	if x < 1e-12 {
		return 0
	}
	return 1 / x
}
