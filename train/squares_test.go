package train

import "testing"

// Short parameters can have any memory alignment. Their norm, which metrics and clipping use, must not depend on it.
func TestSquaresDoNotDependOnTheirPlace(t *testing.T) {
	rng := Rand(1, "squares", 0)
	for n := range 16 {
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(rng.NormFloat64())
		}
		want := sumSquares(values)
		for shift := range 8 {
			memory := make([]float32, n+shift)
			copy(memory[shift:], values)
			if got := sumSquares(memory[shift:]); got != want {
				t.Errorf("%d numbers, address shifted by %d: %v, expected %v", n, shift, got, want)
			}
		}
	}
}
