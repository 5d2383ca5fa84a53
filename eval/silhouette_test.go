package eval_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"winnow/eval"
	"winnow/features"
)

// slowSilhouettes follows the definition, pair by pair.
func slowSilhouettes(z features.Set, classes int) []float64 {
	out := make([]float64, z.Len())
	for i := range out {
		sums, counts := make([]float64, classes), make([]float64, classes)
		for j := range out {
			if j == i {
				continue
			}
			d := 1.0
			for k, v := range z.Row(i) {
				d -= float64(v) * float64(z.Row(j)[k])
			}
			sums[z.Labels[j]] += d
			counts[z.Labels[j]]++
		}
		y, least := z.Labels[i], math.Inf(1)
		for k := range classes {
			if k != y && counts[k] > 0 {
				least = min(least, sums[k]/counts[k])
			}
		}
		if counts[y] > 0 && !math.IsInf(least, 1) {
			own := sums[y] / counts[y]
			out[i] = (least - own) / max(least, own)
		}
	}
	return out
}

func TestSilhouettesAgreeWithPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct{ n, classes, dim int }{{40, 4, 6}, {9, 7, 3}, {12, 1, 4}, {2, 2, 3}} {
		z := features.NewSet(c.n, c.dim)
		for i := range c.n {
			z.Labels[i] = r.IntN(c.classes)
			for j := range z.Row(i) {
				z.Row(i)[j] = float32(r.NormFloat64())
			}
			z.Row(i)[z.Labels[i]%c.dim] += 2
		}
		if err := features.Normalize(z.X); err != nil {
			t.Fatal(err)
		}
		got, err := eval.NewSilhouettes(z, c.classes+1) // one class has no image
		if err != nil {
			t.Fatal(err)
		}
		var mean float64
		sums, counts := make([]float64, c.classes+1), make([]float64, c.classes+1)
		for i, v := range slowSilhouettes(z, c.classes+1) {
			mean += v / float64(c.n)
			sums[z.Labels[i]] += v
			counts[z.Labels[i]]++
		}
		if math.Abs(got.Mean-mean) > 1e-6 {
			t.Errorf("%+v: mean %v, expected %v", c, got.Mean, mean)
		}
		for k := range sums {
			if want := sums[k] / max(counts[k], 1); math.Abs(got.ByClass[k]-want) > 1e-6 {
				t.Errorf("%+v: class %d has %v, expected %v", c, k, got.ByClass[k], want)
			}
			if counts[k] > 0 && got.ByClass[k] < got.ByClass[got.Worst] {
				t.Errorf("%+v: Worst is class %d, but class %d is worse", c, got.Worst, k)
			}
		}
	}
}

func TestSilhouettesOfFewImages(t *testing.T) {
	none, err := eval.NewSilhouettes(features.NewSet(0, 3), 2)
	if err != nil || none.Mean != 0 || none.Worst != -1 {
		t.Errorf("empty set: %+v, %v", none, err)
	}
	same := features.NewSet(4, 2) // two classes at one point
	for i := range 4 {
		same.Labels[i], same.Row(i)[0] = i%2, 1
	}
	if s, err := eval.NewSilhouettes(same, 2); err != nil || s.Mean != 0 {
		t.Errorf("two classes at one point: %+v, %v", s, err)
	}
	same.Labels[0] = 2
	if _, err := eval.NewSilhouettes(same, 2); err == nil {
		t.Error("no error for a label beyond the classes")
	}
}
