package head

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// Random weights have the variance of their initialisation, and random heads have a bias of zero.
func TestRandomStarts(t *testing.T) {
	const in, out = 300, 60
	for start, want := range map[string]float64{Random: 2. / (in + out), Kaiming: 2. / out} {
		h, err := New(t.Context(), Config{In: in, Out: out, Bias: true, Init: start}, blas32.General{}, source(1))
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range h.weight.Data {
			sum += float64(v) * float64(v)
		}
		if found := sum / (in * out); math.Abs(found-want) > 0.05*want {
			t.Errorf("%s: variance %.5f, expected %.5f", start, found, want)
		}
		for _, v := range h.bias.Data {
			if v != 0 {
				t.Fatalf("%s: found the bias %v, expected 0", start, v)
			}
		}
	}
}
