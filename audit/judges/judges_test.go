package judges

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"winnow/eval"
	"winnow/features"
	"winnow/filters/leaveout"
)

// fine draws families of four similar classes, like species of birds, and gives a share of the rows another label.
func fine(seed uint64, rate float64) (z features.Set, truth []int) {
	const classes, each, dim = 32, 14, 48
	rng := rand.New(rand.NewPCG(seed, 11))
	centres := features.NewMatrix(classes, dim)
	family := make([]float64, dim)
	for k := range classes {
		if k%4 == 0 {
			for j := range family {
				family[j] = rng.NormFloat64()
			}
		}
		for j := range dim {
			features.Row(centres, k)[j] = float32(family[j] + 0.8*rng.NormFloat64())
		}
	}
	z, truth = features.NewSet(classes*each, dim), make([]int, classes*each)
	for i := range z.Len() {
		k := i % classes
		truth[i], z.Labels[i] = k, k
		if rng.Float64() < rate {
			z.Labels[i] = (k + 1 + rng.IntN(classes-1)) % classes
		}
		for j := range dim {
			z.Row(i)[j] = features.Row(centres, k)[j] + float32(2*rng.NormFloat64())
		}
	}
	return z, truth
}

func judged(t testing.TB, z features.Set, name string) Verdict {
	t.Helper()
	v, err := Ask(context.Background(), z, 32, name, Options{Rand: rand.New(rand.NewPCG(1, 2)), Heads: headsOf(z, 32)})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// judgedByAll runs all judges of the catalog.
func judgedByAll(t testing.TB, z features.Set) map[string]Verdict {
	t.Helper()
	all, opts := map[string]Verdict{}, Options{Heads: headsOf(z, 32)}
	for _, name := range Names() {
		opts.Rand = rand.New(rand.NewPCG(1, 2))
		v, err := Ask(context.Background(), z, 32, name, opts)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = v
	}
	return all
}

func auroc(t testing.TB, v Verdict, z features.Set, truth []int) float64 {
	t.Helper()
	wrong := make([]bool, z.Len())
	for i, y := range truth {
		wrong[i] = y != z.Labels[i]
	}
	d, err := eval.Detect(v.Order, wrong, make([]bool, z.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return d.AUROC
}

// On similar classes, the default judge ranks better than every baseline on the same vectors.
func TestDefaultBeatsBaselines(t *testing.T) {
	for _, rate := range []float64{0.15, 0.35} {
		mean := map[string]float64{}
		const seeds = 2
		for seed := range uint64(seeds) {
			z, truth := fine(seed, rate)
			for name, v := range judgedByAll(t, z) {
				mean[name] += auroc(t, v, z, truth) / seeds
			}
		}
		t.Logf("rate %v: %v", rate, mean)
		if mean[Default] < mean["centres"]-0.005 {
			t.Errorf("rate %v: %s %.4f, centres %.4f", rate, Default, mean[Default], mean["centres"])
		}
		for _, j := range Catalog {
			if j.Baseline && mean[j.Name] >= mean[Default] {
				t.Errorf("rate %v: %s %.4f, %s %.4f", rate, j.Name, mean[j.Name], Default, mean[Default])
			}
			if mean[j.Name] < 0.6 {
				t.Errorf("rate %v: %s has AUROC %.4f, expected at least 0.6", rate, j.Name, mean[j.Name])
			}
		}
	}
}

// Probabilities are calibrated, and suggestions are more often right than the labels they replace.
func TestScoresAreProbabilities(t *testing.T) {
	for seed := range uint64(2) {
		z, truth := fine(seed, 0.3)
		all := judgedByAll(t, z)
		for _, j := range Catalog {
			v := all[j.Name]
			var expected, wrong, mended, replaced float64
			for i, y := range truth {
				if math.IsNaN(v.Order[i]) || math.IsNaN(v.Score[i]) || v.Suggested[i] < 0 {
					t.Fatalf("%s: row %d: %+v", j.Name, i, v.Order[i])
				}
				expected += 1 - v.Score[i]
				if y != z.Labels[i] {
					wrong++
				}
				if v.Suggested[i] != z.Labels[i] {
					replaced++
					if v.Suggested[i] == y {
						mended++
					}
					if z.Labels[i] == y {
						mended--
					}
				}
			}
			n := float64(z.Len())
			if j.Probability && math.Abs(expected-wrong)/n > 0.1 {
				t.Errorf("%s, seed %d: %.0f labels expected to be wrong, %v truly wrong", j.Name, seed, expected, wrong)
			}
			if j.Probability && mended <= 0 {
				t.Errorf("%s, seed %d: %v suggestions, net gain of right labels %v", j.Name, seed, replaced, mended)
			}
		}
	}
}

// noise draws vectors unrelated to their labels.
func noise(seed uint64) features.Set {
	rng := rand.New(rand.NewPCG(seed, 5))
	z := features.NewSet(320, 24)
	for i := range z.Len() {
		z.Labels[i] = i % 32
		for k := range z.Dim() {
			z.Row(i)[k] = float32(rng.NormFloat64())
		}
	}
	return z
}

// No image is used to score itself: for random vectors, the given label fits best only as often as by chance.
func TestNothingJudgesItself(t *testing.T) {
	agreement := map[string]float64{}
	const seeds = 2
	for seed := range uint64(seeds) {
		z := noise(seed)
		for _, name := range []string{SelfConfidence} {
			v := judged(t, z, name)
			for i := range z.Len() {
				if v.Suggested[i] == z.Labels[i] {
					agreement[name] += 1.0 / 320 / seeds
				}
			}
		}
		s, err := leaveout.New(z, 32)
		if err != nil {
			t.Fatal(err)
		}
		best := func(name string) func(i, y int, row []float64) {
			return func(_, y int, row []float64) {
				if row[y] == slices.Max(row) {
					agreement[name] += 1.0 / 320 / seeds
				}
			}
		}
		s.Each(t.Context(), best("centres"))
		m, err := newMetric(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		m.visitSimilarities(t.Context(), 0.1, true, 1, best("fitted"))
		m.visitSimilarities(t.Context(), 0.1, false, 1, best("fitted, twins left out"))
		for i, y := range z.Labels { // the control: centres that include the image
			row := make([]float64, 32)
			for k := range row {
				for j, v := range features.Row(s.Centres(), k) {
					row[k] += float64(v) * float64(s.Z.Row(i)[j])
				}
			}
			best("spoiled")(i, y, row)
		}
	}
	for name, v := range agreement {
		if name == "spoiled" && v < 0.2 {
			t.Errorf("control: the label fits best for only %.3f of the images, so this test cannot fail", v)
		}
		if name != "spoiled" && v > 0.09 {
			t.Errorf("%s: the given label fits best for %.3f of random images, by chance 0.031", name, v)
		}
	}
}

// Class ids and the order of rows do not change the scores of centres. The only row of a class is not scored.
func TestWhoIsJudged(t *testing.T) {
	z, _ := fine(1, 0.2)
	base := judged(t, z, "centres")
	order := rand.New(rand.NewPCG(3, 3)).Perm(z.Len())
	moved := z.Rows(order)
	for i := range moved.Labels {
		moved.Labels[i] = 31 - moved.Labels[i]
	}
	v := judged(t, moved, "centres")
	for i, row := range order {
		if math.Abs(v.Score[i]-base.Score[row]) > 1e-3 || v.Suggested[i] != 31-base.Suggested[row] &&
			base.SuggestedScore[row] > 0.51 {
			t.Errorf("row %d: %v, moved %v", row, base.Score[row], v.Score[i])
		}
	}
	for _, j := range Catalog {
		alone := z.Rows([]int{0, 1, 2, 32, 33, 34, 64, 65, 3})
		alone.Labels = []int{0, 1, 2, 0, 1, 2, 0, features.Unlabelled, 3}
		v := judged(t, alone, j.Name)
		for _, i := range []int{7, 8} {
			if !math.IsInf(v.Order[i], 1) || v.Score[i] != 1 || v.Suggested[i] != alone.Labels[i] {
				t.Errorf("%s: row %d: order %v, score %v, suggested %v", j.Name, i, v.Order[i], v.Score[i],
					v.Suggested[i])
			}
		}
	}
	if _, err := Ask(context.Background(), z, 32, "guess", Options{}); err == nil {
		t.Error("Ask accepts an unknown judge")
	}
	if !slices.Contains(Names(), Default) {
		t.Error("the default judge is not in the catalog")
	}
}

// The suggestions of confident learning agree with plain loops over the same probabilities.
func TestConfidentAgainstLoops(t *testing.T) {
	z, _ := fine(2, 0.3)
	v := judged(t, z, "confident")
	p := make([][]float64, z.Len())
	c, err := Ask(context.Background(), z, 32, SelfConfidence, Options{Rand: rand.New(rand.NewPCG(1, 2))})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{ctx: context.Background(), s: c.Classes, opts: Options{Folds: 5, Rand: rand.New(rand.NewPCG(1, 2))}}
	if err := b.outOfSample(func(i, _ int, row []float64) { p[i] = slices.Clone(row) }); err != nil {
		t.Fatal(err)
	}
	bar := make([]float64, 32)
	for k := range bar {
		n := 0.0
		for i, y := range z.Labels {
			if y == k {
				bar[k] += p[i][k]
				n++
			}
		}
		bar[k] /= n
	}
	found := 0
	for i, y := range z.Labels {
		best := -1
		for k := range bar {
			if float64(float32(p[i][k])) >= bar[k] && (best < 0 || p[i][k] > p[i][best]) {
				best = k
			}
		}
		want := best >= 0 && best != y
		if want {
			found++
		}
		if got := v.Suggested[i] != y; got != want || want && v.Suggested[i] != best {
			t.Errorf("row %d: suggested %d, by loops %d", i, v.Suggested[i], best)
		}
	}
	if found < 50 {
		t.Errorf("%d suggestions, expected at least 50 to compare", found)
	}
}

// Self-confidence and the margin of confident learning agree with plain loops over the probe's probabilities.
func TestMarginAgainstLoops(t *testing.T) {
	z, _ := fine(2, 0.3)
	own, margin := judged(t, z, SelfConfidence), judged(t, z, Confident)
	b := &bench{ctx: context.Background(), s: own.Classes, opts: Options{Folds: 5, Rand: rand.New(rand.NewPCG(1, 2))}}
	if err := b.outOfSample(func(i, y int, p []float64) {
		best, rival := y, math.Inf(-1)
		for k, v := range p {
			if v > p[best] {
				best = k
			}
			if k != y {
				rival = math.Max(rival, v)
			}
		}
		if own.Order[i] != p[y] || own.Score[i] != p[y] || own.Suggested[i] != best {
			t.Errorf("row %d: self-confidence %v, suggested %d, by loops %v and %d", i, own.Order[i], own.Suggested[i],
				p[y], best)
		}
		if want := (1 + p[y] - rival) / 2; margin.Order[i] != want {
			t.Errorf("row %d: margin %v, by loops %v", i, margin.Order[i], want)
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// An image among those of a class less than a third as large as its own is flagged only in a set that is large enough.
func TestFewImagesFlagNothing(t *testing.T) {
	for _, c := range []struct {
		large, small int
		flagged      bool
	}{{60, 12, false}, {180, 36, true}} {
		rng := rand.New(rand.NewPCG(4, 4))
		z := features.NewSet(c.large+c.small, 16)
		for i := range z.Len() {
			class := 0
			if i >= c.large {
				class = 1
			}
			if z.Labels[i] = class; i == 0 {
				class = 1
			}
			for j := range z.Row(i) {
				z.Row(i)[j] = float32(rng.NormFloat64() / 8)
			}
			z.Row(i)[class]++
		}
		v, err := Ask(t.Context(), z, 2, Fitted, Options{Rand: rng})
		if err != nil {
			t.Fatal(err)
		}
		if flagged := v.Score[0] < 0.5; flagged != c.flagged || v.Suggested[0] != 1 {
			t.Errorf("%d and %d images: right with probability %.3f, class %d suggested", c.large, c.small, v.Score[0],
				v.Suggested[0])
		}
	}
}
