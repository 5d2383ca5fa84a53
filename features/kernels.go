package features

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// minNorm is the smallest norm that a vector is divided by (the usual ε of normalisation).
const minNorm = 1e-12

// Dot returns a·b in float64. It sums in four independent chains, which fixes the order and lets the processor overlap
// them.
func Dot(a, b []float32) float64 {
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

// Normalize divides every row by its Euclidean norm, in place. A zero or non-finite row is an error that names the row;
// after success, all rows are unit vectors.
func Normalize(x blas32.General) error {
	for i := range x.Rows {
		row := Row(x, i)
		var sum float64
		for _, v := range row {
			sum += float64(v) * float64(v)
		}
		if !(sum > 0) || math.IsInf(sum, 0) {
			return fmt.Errorf("features: row %d: squared norm is %v, expected a positive finite number", i, sum)
		}
		scale := float32(1 / math.Sqrt(sum))
		for j := range row {
			row[j] *= scale
		}
	}
	return nil
}

// UnitRows reports whether all rows have unit length, up to float32 rounding.
func UnitRows(x blas32.General) bool {
	for i := range x.Rows {
		if row := Row(x, i); !(math.Abs(Dot(row, row)-1) < 1e-5) {
			return false
		}
	}
	return true
}

// UnitRow writes z = y/max(‖y‖, 1e-12) and returns ‖y‖; z may be y. If ‖y‖ is not finite, all values of z are NaN.
func UnitRow(z, y []float32) float64 {
	norm := math.Sqrt(Dot(y, y))
	scale := float32(1 / max(norm, minNorm))
	if math.IsNaN(norm) || math.IsInf(norm, 0) {
		scale = float32(math.NaN())
	}
	for j, v := range y {
		z[j] = v * scale
	}
	return norm
}

// UnitRowGrad writes ∂L/∂y = (dz - z⟨z, dz⟩)/norm, given z and norm as computed by [UnitRow] and dz = ∂L/∂z. It
// writes 0 if norm ≤ 1e-12. dy may be dz.
func UnitRowGrad(dy, z, dz []float32, norm float64) {
	if norm <= minNorm {
		clear(dy)
		return
	}
	along, scale := float32(Dot(z, dz)), float32(1/norm)
	for j := range dy {
		dy[j] = (dz[j] - z[j]*along) * scale
	}
}

// Softmax writes p_c = e^{l_c}/Σ_k e^{l_k} and returns log Σ_k e^{l_k}; p may be l. It subtracts the largest value
// first, to avoid overflow.
func Softmax[T float32 | float64](p []float64, l []T) float64 {
	top := largest(l)
	for c, v := range l {
		p[c] = float64(v) - top
	}
	sum := ExpSlice(p, p, 1, 0)
	for c := range p {
		p[c] /= sum
	}
	return top + math.Log(sum)
}

// LogSumExp returns log Σ_c e^{l_c}, shifted by the largest value; -Inf if all are -Inf.
func LogSumExp[T float32 | float64](l []T) float64 {
	top := largest(l)
	if math.IsInf(top, -1) {
		return top
	}
	var sum float64
	for _, v := range l {
		sum += math.Exp(float64(v) - top)
	}
	return top + math.Log(sum)
}

func largest[T float32 | float64](l []T) float64 {
	top := math.Inf(-1)
	for _, v := range l {
		top = max(top, float64(v))
	}
	return top
}
