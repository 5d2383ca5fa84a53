package crossfit

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/judges"
	"winnow/eval"
	"winnow/features"
	"winnow/head"
)

// fine draws families of four similar classes, like species of birds, and gives a share of the rows another label. The
// classes differ least in the features with the largest variance.
func fine(seed uint64, rate float64) (z features.Set, truth []int) {
	const classes, each, dim = 32, 20, 48
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
			z.Row(i)[j] = features.Row(centres, k)[j] + float32(spread(j)*rng.NormFloat64())
		}
	}
	return z, truth
}

// spread is the standard deviation of a class in feature j.
func spread(j int) float64 { return []float64{1, 2, 4}[j%3] }

// whitened returns z whitened as by winnow audit.
func whitened(t testing.TB, z features.Set) features.Set {
	t.Helper()
	var err error
	if z.X, err = whitening(t, z).Embed(z.X); err != nil {
		t.Fatal(err)
	}
	return z
}

// whitening returns the head with which all heads start.
func whitening(t testing.TB, z features.Set) *head.Head {
	t.Helper()
	h, err := head.SelfWhitening(t.Context(), z, z.Dim())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func judged(t testing.TB, z features.Set, classes int, opts Options) judges.Opinion {
	t.Helper()
	v, err := Judge(context.Background(), z, classes, opts)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func auroc(t testing.TB, order []float64, z features.Set, truth []int) float64 {
	t.Helper()
	wrong := make([]bool, z.Len())
	for i, y := range truth {
		wrong[i] = y != z.Labels[i]
	}
	d, err := eval.Detect(order, wrong, make([]bool, z.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return d.AUROC
}

// learned returns the evidence and the two weighings of a fold.
func learned(t testing.TB, z features.Set, start *head.Head, c columned, folds []int, fold int) (*evidence,
	[halves]weighing) {
	t.Helper()
	e, err := learnFold(context.Background(), z, c, folds, fold, Options{Seed: 1, Told: func(int, int, string) {},
		Start: start})
	if err != nil {
		t.Fatal(err)
	}
	ws, _, err := e.fitWeighings(t.Context(), c.of)
	if err != nil {
		t.Fatal(err)
	}
	return e, ws
}

// The class probabilities of an image do not depend on its label, to the bit. Its vector affects only the whitening
// with which heads start.
func TestNoImageJudgesItself(t *testing.T) {
	z, _ := fine(3, 0.3)
	c, err := newColumned(z.Labels, 32, Options{}.findVoice)
	if err != nil {
		t.Fatal(err)
	}
	folds := judges.Part(c.of, 32, 5, rand.New(rand.NewPCG(4, 4)))
	start := whitening(t, z)
	e, ws := learned(t, z, start, c, folds, 2)
	probabilities := func(e *evidence, ws [halves]weighing, i int) []float64 {
		p := make([]float64, e.classes)
		ws[i%halves].fillProbabilities(p, e.readSimilarities(i, i+1))
		return p
	}
	for _, i := range []int{0, 1, 17, len(e.rows) - 1} {
		other := c
		other.of = slices.Clone(c.of)
		other.of[e.rows[i]] = (c.of[e.rows[i]] + 5) % 32
		f, us := learned(t, z, start, other, folds, 2)
		if diff := cmp.Diff(probabilities(e, ws, i), probabilities(f, us, i)); diff != "" {
			t.Errorf("image %d of the fold: its label changes its own class probabilities:\n%s", i, diff)
		}
		if j := i ^ 1; j < len(e.rows) && cmp.Equal(probabilities(e, ws, j), probabilities(f, us, j)) {
			t.Errorf("the label of image %d has no effect on the other half of its fold, so this test cannot fail", i)
		}
		moved := z.Rows(all(z.Len()))
		for j := range z.Dim() {
			moved.Row(e.rows[i])[j] = float32(5 - j)
		}
		f, _ = learned(t, moved, start, c, folds, 2)
		for m := range e.kinds {
			if !cmp.Equal(e.kinds[m].means.directions.Data, f.kinds[m].means.directions.Data) {
				t.Errorf("image %d of the fold: its vector changes the class means that it is compared with", i)
			}
		}
		f, _ = learned(t, moved, start, c, folds, 3)
		g, _ := learned(t, z, start, c, folds, 3)
		if cmp.Equal(f.kinds[0].means.directions.Data, g.kinds[0].means.directions.Data) {
			t.Errorf("image %d has no effect on the class means of another fold, so this test cannot fail", i)
		}
	}
}

func all(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// With random vectors, an image's label fits best only as often as by chance. For images that were learned, the label
// fits best far more often, which shows that the test can fail.
func TestNothingIsFlattered(t *testing.T) {
	var agree, out, flattered, in float64
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 5))
		z := features.NewSet(320, 24)
		for i := range z.Len() {
			z.Labels[i] = i % 32
			for k := range z.Dim() {
				z.Row(i)[k] = float32(rng.NormFloat64())
			}
		}
		c, err := newColumned(z.Labels, 32, Options{}.findVoice)
		if err != nil {
			t.Fatal(err)
		}
		folds := judges.Part(c.of, 32, 5, rng)
		seen := folds
		for i := range seen { // duplicates of learned images, scored like held-out images
			if i%5 == 0 {
				z.Labels, c.of, folds = append(z.Labels, z.Labels[i]), append(c.of, c.of[i]), append(folds, 9)
				z.X.Data, z.X.Rows = append(z.X.Data, z.Row(i)...), z.X.Rows+1
			}
		}
		for _, fold := range []int{0, 1, 9} {
			e, _ := learned(t, z, whitening(t, z), c, folds, fold)
			last := e.kinds[len(e.kinds)-1]
			s := features.NewMatrix(last.z.Rows, 32)
			blas32.Gemm(blas.NoTrans, blas.Trans, 1, last.z, last.means.directions, 0, s)
			for i, row := range e.rows {
				fits := best(features.Row(s, i)) == c.of[row]
				switch {
				case fold == 9 && fits:
					flattered++
					fallthrough
				case fold == 9:
					in++
				case fits:
					agree++
					fallthrough
				default:
					out++
				}
			}
		}
	}
	if agree/out > 0.09 {
		t.Errorf("the given label fits best for %.3f of random images, by chance 0.031", agree/out)
	}
	if flattered/in < 0.15 {
		t.Errorf("the label fits best for only %.3f of the learned images, so this test cannot fail", flattered/in)
	}
}

func best(row []float32) int {
	at := 0
	for k, v := range row {
		if v > row[at] {
			at = k
		}
	}
	return at
}

// crossfit finds more label errors than an out-of-sample probe and than the class centres that it starts from. Its
// probabilities sum to the number of wrong labels, and its suggestions correct more labels than they break.
func TestFindsWrongLabels(t *testing.T) {
	const seeds = 2
	for _, rate := range []float64{0.15, 0.4} {
		var mine, centres, probe float64
		for seed := range uint64(seeds) {
			z, truth := fine(seed, rate)
			v := judged(t, z, 32, Options{Seed: seed})
			mine += auroc(t, v.Order, z, truth) / seeds
			for name, mean := range map[string]*float64{"centres": &centres, judges.SelfConfidence: &probe} {
				o, err := judges.Ask(context.Background(), whitened(t, z), 32, name,
					judges.Options{Rand: rand.New(rand.NewPCG(seed, 2))})
				if err != nil {
					t.Fatal(err)
				}
				*mean += auroc(t, o.Order, z, truth) / seeds
			}
			var expected, wrong, mended float64
			for i, y := range truth {
				expected += 1 - v.Score[i]
				if y != z.Labels[i] {
					wrong++
				}
				if v.Suggested[i] != z.Labels[i] && v.Suggested[i] == y {
					mended++
				} else if v.Suggested[i] != z.Labels[i] && z.Labels[i] == y {
					mended--
				}
			}
			if math.Abs(expected-wrong)/float64(z.Len()) > 0.12 {
				t.Errorf("rate %v, seed %d: %.0f labels expected to be wrong, %v are", rate, seed, expected, wrong)
			}
			if mended <= 0 {
				t.Errorf("rate %v, seed %d: net gain of right labels by suggestions %v", rate, seed, mended)
			}
		}
		t.Logf("rate %v: %.4f, centres %.4f, probe %.4f", rate, mine, centres, probe)
		if mine < centres || mine < probe {
			t.Errorf("rate %v: AUROC %.4f, centres %.4f, probe %.4f", rate, mine, centres, probe)
		}
	}
}

func TestSameSeedSameBits(t *testing.T) {
	z, _ := fine(5, 0.3)
	a, b := judged(t, z, 32, Options{Seed: 7}), judged(t, z, 32, Options{Seed: 7})
	if diff := cmp.Diff(a, b); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(a, judged(t, z, 32, Options{Seed: 8})) {
		t.Error("another seed gives bit-identical scores")
	}
}

// Rows without a label, or without another row of their label, are not scored. Classes with few rows are scored.
func TestWhoIsJudged(t *testing.T) {
	z, _ := fine(1, 0)
	rows := []int{0, 32, 64, 1, 33, 2, 34, 66, 98, 130, 162, 3, 4}
	small := z.Rows(rows)
	small.Labels = []int{0, 0, 0, 1, 1, 2, 2, 2, 2, 2, 2, features.Unlabelled, 3}
	v := judged(t, small, 4, Options{Seed: 1})
	for i, y := range small.Labels {
		alone := i >= 11
		if math.IsInf(v.Order[i], 1) != alone || math.IsNaN(v.Order[i]) || alone &&
			(v.Score[i] != 1 || v.Suggested[i] != y) {
			t.Errorf("row %d: order %v, score %v, suggested %d", i, v.Order[i], v.Score[i], v.Suggested[i])
		}
	}
	for _, folds := range []int{2, 5} { // classes of two images, so some folds learn from one
		twos := z.Rows(all(64))
		for i, o := range judged(t, twos, 32, Options{Seed: 1, Folds: folds}).Order {
			if math.IsInf(o, 0) || math.IsNaN(o) {
				t.Errorf("%d folds, row %d: order %v", folds, i, o)
			}
		}
	}
}

func TestMistakesAreNamed(t *testing.T) {
	z, _ := fine(1, 0)
	for _, c := range []struct {
		set     features.Set
		classes int
		opts    Options
		want    string
	}{
		{z, 32, Options{Folds: 1}, "1 folds, expected 2 or more"},
		{z, 31, Options{}, "row 31: label 31, expected one of 31 classes"},
		{features.Set{X: z.X}, 32, Options{}, "0 labels, expected one for each of 640"},
		{z.Rows([]int{0, 32, 1}), 32, Options{}, "1 classes have two images or more, expected at least two"},
	} {
		_, err := Judge(context.Background(), c.set, c.classes, c.opts)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("found %v, expected %q", err, c.want)
		}
	}
}

func TestStops(t *testing.T) {
	z, _ := fine(1, 0)
	ctx, cancel := context.WithCancel(context.Background())
	steps, whole := 0, 0
	_, err := Judge(ctx, z, 32, Options{Told: func(done, total int, where string) {
		if strings.Contains(where, "fold 1") {
			whole = total / 5
		}
		if steps++; strings.Contains(where, "fold 2") && done == whole+3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "fold 2 of 5") {
		t.Errorf("found %v", err)
	}
	if whole == 0 || steps != whole+3 {
		t.Errorf("%d steps, %d of them in the first fold", steps, whole)
	}
}
