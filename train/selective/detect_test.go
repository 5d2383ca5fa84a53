package selective

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/filters"
)

// The detectors return finite numbers for degenerate sets.
func TestDegenerateSets(t *testing.T) {
	same, alone := features.NewSet(30, 4), features.NewSet(9, 5)
	two, none := features.NewSet(2, 1), features.NewSet(6, 3)
	for i := range same.X.Data {
		same.X.Data[i] = 0.5
	}
	for i := range alone.X.Data {
		alone.X.Data[i] = float32(i%7) - 2.5
	}
	for i := range alone.Labels {
		alone.Labels[i] = i
	}
	two.X.Data[0], two.X.Data[1] = 1, -1
	for i := range none.X.Data {
		none.X.Data[i] = float32(i%5) + 1
	}
	for i := range none.Labels {
		none.Labels[i] = features.Unlabelled
	}
	for name, z := range map[string]features.Set{"all equal, one class": same, "one of each class": alone, "two": two,
		"no label": none} {
		if err := features.Normalize(z.X); err != nil {
			t.Fatal(err)
		}
		s, err := selclDetector{K: 4, Alpha: 0.5, Beta: 0.5}.selectRows(z, 9)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if p := s.findPairs(); math.IsNaN(p.Threshold) {
			t.Fatalf("%s: threshold %v", name, p.Threshold)
		}
		for _, perClass := range []bool{false, true} {
			d := tclDetector{Temperature: 0.25, PerClass: perClass}.detectClean(z, 9,
				func(dst blas32.General, _ features.Set, _ int) {
					for i := range dst.Rows {
						for k := range features.Row(dst, i) {
							features.Row(dst, i)[k] = 1. / 9
						}
					}
				})
			for i, w := range d.Clean {
				if want := map[bool]float64{true: 0, false: 1}[z.Labels[i] < 0]; !(w >= 0 && w <= 1) ||
					name != "one of each class" && name != "two" && w != want || !(s.Share[i] >= 0 && s.Share[i] <= 1) {
					t.Errorf("%s: row %d: P(clean) %v, expected %v; share %v", name, i, w, want, s.Share[i])
				}
			}
		}
	}
}

func TestMixtureFindsItsParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	x := make([]float64, 20000)
	for i := range x {
		if x[i] = 0.2 + 0.05*rng.NormFloat64(); i%4 == 0 {
			x[i] = 0.7 + 0.1*rng.NormFloat64()
		}
	}
	m, ok := fitMixture(x)
	if !ok {
		t.Fatal("no mixture")
	}
	for _, c := range []struct{ got, want float64 }{
		{m.Mean[0], 0.2}, {m.Mean[1], 0.7}, {m.Weight[0], 0.75}, {m.Weight[1], 0.25}, {math.Sqrt(m.Variance[0]), 0.05},
		{math.Sqrt(m.Variance[1]), 0.1},
	} {
		if math.Abs(c.got-c.want) > 0.01 {
			t.Errorf("found %+v", m)
		}
	}
	if m.lowerShare(0.2) < 0.99 || m.lowerShare(0.7) > 0.01 {
		t.Errorf("posteriors %v, %v", m.lowerShare(0.2), m.lowerShare(0.7))
	}
	if _, ok := fitMixture([]float64{0.3, 0.3, 0.3}); ok {
		t.Error("a mixture of equal numbers")
	}
	if cut, ok := filters.TwoMeans([]float64{9, 1, 2, 1, 8, 9}); !ok || cut != 8 {
		t.Errorf("cut at %v", cut)
	}
}
