package detectors

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"winnow/features"
)

// auc returns the probability that a rightly labelled row scores above a wrongly labelled one.
func auc(scores []float64, right []bool) float64 {
	var wins, pairs float64
	for i := range scores {
		for j := range scores {
			if right[i] && !right[j] {
				pairs++
				switch {
				case scores[i] > scores[j]:
					wins++
				case scores[i] == scores[j]:
					wins += 0.5
				}
			}
		}
	}
	return wins / pairs
}

// On clusters with 40 % wrong labels both methods find most of them, and the selections and pairs of Sel-CL are
// far cleaner than chance. Shuffled scores, the spoiled twin, are at chance.
func TestBothFindWrongLabels(t *testing.T) {
	for seed := range uint64(4) {
		z, right := world(100+seed, 600, 24, 8, 0.4)
		s, err := DefaultSelCL().Select(context.Background(), z, 8)
		if err != nil {
			t.Fatal(err)
		}
		tcl, err := DefaultTCL().Clean(z, 8)
		if err != nil {
			t.Fatal(err)
		}
		var selected, kept, clean float64
		for i := range right {
			if right[i] {
				clean++
			}
			if s.Selected[i] {
				selected++
				if right[i] {
					kept++
				}
			}
		}
		share := clean / 600
		t.Logf("seed %d: k = %d; AUC of Sel-CL %.4f, of TCL %.4f; clean %.3f of all, %.3f of %v selected", seed,
			s.Neighbours.K, auc(s.Share, right), auc(tcl, right), share, kept/selected, selected)
		if auc(s.Share, right) < 0.95 || auc(tcl, right) < 0.95 {
			t.Errorf("seed %d: AUC of Sel-CL %.4f, of TCL %.4f", seed, auc(s.Share, right), auc(tcl, right))
		}
		if kept/selected < share+0.25 || selected < 200 {
			t.Errorf("seed %d: %v of %v selected are clean, of all %.3f", seed, kept, selected, share)
		}
		rng := rand.New(rand.NewPCG(seed, 5))
		rng.Shuffle(len(tcl), func(i, j int) { tcl[i], tcl[j] = tcl[j], tcl[i] })
		if a := auc(tcl, right); a > 0.6 {
			t.Errorf("seed %d: shuffled scores have an AUC of %.4f", seed, a)
		}
	}
}

// Lengths of rows, rotations and the names of classes change nothing.
func TestInvariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		n, classes := rapid.IntRange(10, 80).Draw(t, "n"), rapid.IntRange(2, 6).Draw(t, "classes")
		z, _ := world(seed, n, 6, classes, 0.3)
		cfg := SelCL{K: rapid.IntRange(1, n).Draw(t, "k"), Alpha: rapid.Float64Range(0, 1).Draw(t, "alpha"),
			Beta: rapid.Float64Range(0, 1).Draw(t, "beta")}
		a, err := cfg.Select(context.Background(), z, classes)
		if err != nil {
			t.Fatal(err)
		}
		ta, err := DefaultTCL().Clean(z, classes)
		if err != nil {
			t.Fatal(err)
		}
		changed := features.NewSet(n, 6)
		for i := range n {
			changed.Labels[i] = z.Labels[i]
			scale := float32(int(1) << (i % 5)) // exact
			for j := range 6 {                  // an exact rotation: coordinates swapped, one mirrored
				changed.Row(i)[(j+2)%6] = scale * z.Row(i)[j]
			}
			changed.Row(i)[0] *= -1
		}
		b, err := cfg.Select(context.Background(), changed, classes)
		if err != nil {
			t.Fatal(err)
		}
		tb, err := DefaultTCL().Clean(changed, classes)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(a.Share, b.Share) || !slices.Equal(a.Selected, b.Selected) {
			t.Fatal("Sel-CL differs")
		}
		for i := range ta {
			if math.Abs(ta[i]-tb[i]) > 1e-2 { // where the fit of the mixture stops is not sharp
				t.Fatalf("TCL: row %d: %v and %v", i, ta[i], tb[i])
			}
		}
	})
}

// Degenerate sets still give numbers.
func TestDegenerateSets(t *testing.T) {
	same := features.NewSet(30, 4)
	for i := range same.X.Data {
		same.X.Data[i] = 1
	}
	alone := features.NewSet(9, 5)
	for i := range alone.X.Data {
		alone.X.Data[i] = float32(i%7) - 2.5
	}
	for i := range alone.Labels {
		alone.Labels[i] = i
	}
	two := features.NewSet(2, 1)
	two.X.Data[0], two.X.Data[1] = 1, -1
	none := features.NewSet(6, 3)
	for i := range none.X.Data {
		none.X.Data[i] = float32(i%5) + 1
	}
	for i := range none.Labels {
		none.Labels[i] = features.Unlabelled
	}
	for name, z := range map[string]features.Set{"all alike, one class": same, "one of each class": alone, "two": two,
		"no label": none} {
		s, err := SelCL{K: 4, Alpha: 0.5, Beta: 0.5}.Select(context.Background(), z, 9)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p, err := s.Pairs(context.Background())
		if err != nil || math.IsNaN(p.Threshold) {
			t.Fatalf("%s: threshold %v, %v", name, p, err)
		}
		for _, perClass := range []bool{false, true} {
			clean, err := TCL{Temperature: 0.25, PerClass: perClass}.Clean(z, 9)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i, w := range clean {
				if !(w >= 0 && w <= 1) || !(s.Share[i] >= 0 && s.Share[i] <= 1) {
					t.Errorf("%s: row %d: P(clean) %v, %v", name, i, w, s.Share[i])
				}
				if want := map[bool]float64{true: 0, false: 1}[z.Labels[i] < 0]; name != "one of each class" &&
					name != "two" && w != want {
					t.Errorf("%s: row %d: P(clean) %v, expected %v", name, i, w, want)
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
	if cut, ok := TwoMeans([]float64{9, 1, 2, 1, 8, 9}); !ok || cut != 8 {
		t.Errorf("cut at %v", cut)
	}
}

func TestDoorsRefuse(t *testing.T) {
	z, _ := world(1, 20, 3, 2, 0)
	bad := z.Rows([]int{0, 1, 2})
	bad.Row(1)[0] = float32(math.NaN())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		want string
		call func() error
	}{
		{"label 1, expected one of 1 classes", func() error {
			_, err := DefaultSelCL().Select(context.Background(), z, 1)
			return err
		}},
		{"1 vectors, expected at least 2", func() error {
			_, err := DefaultTCL().Clean(z.Rows([]int{0}), 2)
			return err
		}},
		{"row 1: squared norm is NaN", func() error { _, err := DefaultTCL().Clean(bad, 2); return err }},
		{"0 classes", func() error { _, err := DefaultTCL().Clean(z, 0); return err }},
		{"temperature: found 0", func() error { _, err := TCL{}.Clean(z, 2); return err }},
		{"alpha: found 2", func() error { _, err := SelCL{Alpha: 2}.Clean(context.Background(), z, 2); return err }},
		{"beta: found NaN", func() error {
			_, err := SelCL{Beta: math.NaN()}.Clean(context.Background(), z, 2)
			return err
		}},
		{"k: found -1", func() error { _, err := SelCL{K: -1}.Clean(context.Background(), z, 2); return err }},
		{"0 labels, expected one for each of 20", func() error {
			_, err := DefaultTCL().Clean(features.Set{X: z.X}, 2)
			return err
		}},
	} {
		if err := c.call(); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.HasPrefix(err.Error(), "detectors: ") {
			t.Errorf("found %v, expected …%s…", err, c.want)
		}
	}
	if _, err := DefaultSelCL().Select(ctx, z, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("%v after ctx ended", err)
	}
}

// In a collapsed embedding all pairs are at the quantile: the answer is a bin, and memory stays bounded.
func TestCollapsedPairs(t *testing.T) {
	z := features.NewSet(4200, 2)
	for i := range z.Len() {
		z.Row(i)[0], z.Row(i)[1] = 1, float32(i)*1e-7
	}
	got, err := similarityQuantile(context.Background(), []alike{{z}}, 0.5)
	if err != nil || math.Abs(got-1) > 5e-5 {
		t.Errorf("%v, %v", got, err)
	}
}
