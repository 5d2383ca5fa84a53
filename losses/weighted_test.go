package losses

import (
	"math"
	"testing"
)

// testWeights returns weights with zeros, ones and values in between.
func testWeights(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = math.Max(0, math.Min(1, 0.5+math.Sin(float64(3*i))))
	}
	return w
}

// With drop_zero_weight, samples of weight 0 have no effect; without it they remain in the sums. Weights belong to IDs,
// so that the remaining rows keep their weights.
func TestDroppedWeights(t *testing.T) {
	in := conformInput(33, 60)
	w := testWeights(60)
	rest := exactInput{normalize: true}
	for i := range in.z {
		if w[i] > 0 {
			rest.z, rest.labels, rest.ids = append(rest.z, in.z[i]), append(rest.labels, in.labels[i]),
				append(rest.ids, i)
		}
	}
	for _, drop := range []bool{true, false} {
		build := func() Loss {
			l := mustNew(t, "weighted_multi_similarity", map[string]any{"drop_zero_weight": drop},
				testEnv(conformDim, conformClasses, 1))
			l.(Weighted).SetWeights(w)
			return l
		}
		whole, _ := public(build(), in)
		part, _ := public(build(), rest)
		if drop != near(whole, part, 1e-6, 1e-9) {
			t.Errorf("drop %v: %v with samples of weight 0, %v without", drop, whole, part)
		}
	}
}
