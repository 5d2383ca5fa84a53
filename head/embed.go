package head

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// embedBlock rows go through the head at a time: enough for a fast product, little enough for the cache
// and for the memory of hidden layers.
const embedBlock = 1024

// minNorm is the least length a vector is divided by (the ε of the usual normalize).
const minNorm = 1e-12

// Embed maps each row of x to a unit row.
func (h *Head) Embed(x blas32.General) (blas32.General, error) {
	dst := features.NewMatrix(x.Rows, h.cfg.Out)
	return dst, h.EmbedInto(dst, x)
}

// EmbedSet is set with each vector embedded.
func (h *Head) EmbedSet(set features.Set) (features.Set, error) {
	x, err := h.Embed(set.X)
	return features.Set{X: x, Labels: set.Labels, IDs: set.IDs}, err
}

// NotFinite is a row whose embedding is no vector: the features or the weights are not finite, or overflow.
type NotFinite struct {
	Row  int
	Norm float64
}

func (e *NotFinite) Error() string {
	return fmt.Sprintf("head: row %d: the output has norm %v, expected a finite number", e.Row, e.Norm)
}

// EmbedInto overwrites dst, x.Rows×Out, with the unit embeddings of the rows of x. A row whose output is
// zero stays zero; one that is not finite is a [NotFinite] error.
func (h *Head) EmbedInto(dst, x blas32.General) error {
	if x.Cols != h.cfg.In {
		return fmt.Errorf("head: features: found dimension %d, expected %d", x.Cols, h.cfg.In)
	}
	if dst.Rows != x.Rows || dst.Cols != h.cfg.Out {
		return fmt.Errorf("head: destination: found %d×%d, expected %d×%d", dst.Rows, dst.Cols, x.Rows, h.cfg.Out)
	}
	block := min(embedBlock, x.Rows)
	var hidden []blas32.General
	for _, l := range h.layers[:len(h.layers)-1] {
		hidden = append(hidden, features.NewMatrix(block, l.weight.Cols))
	}
	for from := 0; from < x.Rows; from += block {
		n := min(block, x.Rows-from)
		in := part(x, from, n)
		for i, l := range h.layers {
			out := part(dst, from, n)
			if i < len(hidden) {
				out = part(hidden[i], 0, n)
			}
			l.apply(out, in)
			in = out
		}
		for i := range n {
			if norm := unitRow(features.Row(in, i), features.Row(in, i)); !finite(norm) {
				return &NotFinite{Row: from + i, Norm: norm}
			}
		}
	}
	return nil
}

// apply overwrites out with the layer's output for the rows of in.
func (l layer) apply(out, in blas32.General) {
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, in, l.weight.Matrix(), 0, out)
	if l.bias == nil && !l.relu {
		return
	}
	for i := range out.Rows {
		row := features.Row(out, i)
		if l.bias != nil {
			for j, b := range l.bias.Data[:len(row)] {
				row[j] += b
			}
		}
		if l.relu {
			for j, v := range row {
				row[j] = max(v, 0)
			}
		}
	}
}

// part is a view of n rows of m.
func part(m blas32.General, from, n int) blas32.General {
	if n == 0 {
		return blas32.General{Cols: m.Cols, Stride: m.Stride}
	}
	return blas32.General{Rows: n, Cols: m.Cols, Stride: m.Stride, Data: m.Data[from*m.Stride : (from+n-1)*m.Stride+m.Cols]}
}

// unitRow writes y/max(‖y‖, 1e-12) to z, which may be y, and returns ‖y‖. Where that is not finite, every
// value of z is NaN.
func unitRow(z, y []float32) float64 {
	norm := math.Sqrt(dot(y, y))
	scale := float32(1 / max(norm, minNorm))
	if !finite(norm) {
		scale = float32(math.NaN())
	}
	for j, v := range y {
		z[j] = v * scale
	}
	return norm
}

// unitRowGrad writes (dz - z⟨z, dz⟩)/‖y‖ to dy, or 0 where ‖y‖ ≤ 1e-12.
func unitRowGrad(dy, y, z, dz []float32) {
	norm := math.Sqrt(dot(y, y))
	if norm <= minNorm {
		clear(dy)
		return
	}
	along, scale := float32(dot(z, dz)), float32(1/norm)
	for j := range dy {
		dy[j] = (dz[j] - z[j]*along) * scale
	}
}

// dot sums in float64 in four fixed strands, which keeps the order and lets the processor overlap them.
func dot(a, b []float32) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += float64(a[i]) * float64(b[i])
		s1 += float64(a[i+1]) * float64(b[i+1])
		s2 += float64(a[i+2]) * float64(b[i+2])
		s3 += float64(a[i+3]) * float64(b[i+3])
	}
	for ; i < len(a); i++ {
		s0 += float64(a[i]) * float64(b[i])
	}
	return (s0 + s1) + (s2 + s3)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
