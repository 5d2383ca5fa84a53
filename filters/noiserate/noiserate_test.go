package noiserate_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"winnow/features"
	"winnow/filters/noiserate"
)

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }

// clusters draws classes as directions and gives a share of the rows a uniformly drawn other label.
func clusters(seed uint64, classes, each, dim int, rate float64) (z features.Set, wrong float64) {
	rng := source(seed)
	centres := features.NewMatrix(classes, dim)
	for i := range centres.Data {
		centres.Data[i] = float32(rng.NormFloat64())
	}
	z = features.NewSet(classes*each, dim)
	for i := range z.Len() {
		k := i % classes
		z.Labels[i] = k
		if rng.Float64() < rate {
			wrong++
			z.Labels[i] = (k + 1 + rng.IntN(classes-1)) % classes
		}
		for j := range dim {
			z.Row(i)[j] = centres.Data[k*dim+j] + float32(1.5*rng.NormFloat64())
		}
	}
	return z, wrong / float64(z.Len())
}

func estimate(t testing.TB, z features.Set, classes int) noiserate.Estimate {
	t.Helper()
	e, err := noiserate.NewEstimate(t.Context(), z, classes)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The estimate must be within two percentage points for similar classes of few images. Its interval must contain the
// true rate, even for a dozen images without a wrong label.
func TestLikelihoodFindsTheRate(t *testing.T) {
	held, cases := 0, 0
	for _, rate := range []float64{0, 0.1, 0.2, 0.5} {
		for seed := range uint64(5) {
			z, wrong := clusters(seed, 60, 25, 24, rate)
			e := estimate(t, z, 60)
			if math.Abs(e.Rate-wrong) > 0.02+1.5*math.Sqrt(wrong*(1-wrong)/1500) {
				t.Errorf("rate %v, seed %d: estimate %.3f [%.3f, %.3f], truth %.3f", rate, seed, e.Rate, e.Low,
					e.High, wrong)
			}
			if cases++; e.Low <= wrong && wrong <= e.High {
				held++
			}
		}
	}
	if held*100 < 85*cases {
		t.Errorf("the interval contains the truth in %d of %d cases", held, cases)
	}
	z, _ := clusters(1, 3, 4, 16, 0)
	if e := estimate(t, z, 3); e.Rate != 0 || e.Low != 0 || e.High < 0.1 || e.High > 0.5 {
		t.Errorf("a dozen images: %+v", e)
	}
}

func TestWhoIsJudged(t *testing.T) {
	z, _ := clusters(2, 6, 10, 12, 0.2)
	whole := estimate(t, z, 6)
	more := features.NewSet(z.Len()+2, z.Dim())
	copy(more.X.Data, z.X.Data)
	copy(more.Labels, z.Labels)
	for i := range 2 {
		copy(more.Row(z.Len()+i), z.Row(i))
	}
	more.Labels[z.Len()], more.Labels[z.Len()+1] = features.Unlabelled, 6 // the only row of its class
	e := estimate(t, more, 8)                                             // class 7 is empty
	if e.Rate != whole.Rate || e.Judged != z.Len() || !slices.Equal(e.Classes[:6], whole.Classes) ||
		!math.IsNaN(e.Classes[6]) || !math.IsNaN(e.Classes[7]) {
		t.Errorf("%+v, without the two rows %+v", e, whole)
	}
}

func TestOrderAndNamesDoNotMatter(t *testing.T) {
	z, _ := clusters(4, 7, 15, 16, 0.3)
	order := source(9).Perm(z.Len())
	moved := z.Rows(order)
	for i := range moved.Labels {
		moved.Labels[i] = 6 - moved.Labels[i]
	}
	a, b := estimate(t, z, 7), estimate(t, moved, 7)
	if math.Abs(a.Rate-b.Rate) > 1e-5 {
		t.Errorf("rate %v, with rows permuted and classes renamed %v", a.Rate, b.Rate)
	}
}

func TestSmall(t *testing.T) {
	same := features.NewSet(6, 3)
	for i := range 6 {
		same.Labels[i] = i % 2
		same.Row(i)[0] = 1
	}
	opposite := features.NewSet(4, 2)
	for i := range 4 {
		opposite.Labels[i] = i / 2
		opposite.Row(i)[i/2] = float32(1 - 2*(i%2)) // the sum of a class is 0
	}
	for name, z := range map[string]features.Set{"equal": same, "opposite": opposite} {
		e := estimate(t, z, 2)
		if !(e.Rate >= 0 && e.Rate <= noiserate.Most && e.Low >= 0 && e.High <= noiserate.Most) {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestRefused(t *testing.T) {
	z, _ := clusters(1, 3, 4, 5, 0)
	for want, z := range map[string]features.Set{
		"expected at least two":   z.Rows([]int{0, 1, 2, 3}),
		"3 labels for 12 vectors": {X: z.X, Labels: z.Labels[:3]},
		"label 3, expected less":  {X: z.X, Labels: slices.Repeat([]int{3}, z.Len())},
	} {
		if _, err := noiserate.NewEstimate(t.Context(), z, 3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}

// A large class of many kinds of images beside small classes is not taken for noise.
func TestUnevenClassesAreNotNoise(t *testing.T) {
	for _, rate := range []float64{0, 0.2} {
		z, _ := clusters(3, 40, 15, 24, 0)
		rng, wrong := source(4), 0.0
		var rows []int
		for i, k := range z.Labels {
			switch {
			case k >= 9:
				z.Labels[i] = 9
			case i/40 >= 3+k:
				continue
			}
			rows = append(rows, i)
			if rng.Float64() < rate {
				z.Labels[i] = (z.Labels[i] + 1 + rng.IntN(9)) % 10
				wrong++
			}
		}
		wrong /= float64(len(rows))
		e := estimate(t, z.Rows(rows), 10)
		if math.Abs(e.Rate-wrong) > 0.05 || e.Low > wrong || e.High < wrong || e.High > wrong+0.15 {
			t.Errorf("rate %v: estimate %.3f [%.3f, %.3f], truth %.3f", rate, e.Rate, e.Low, e.High, wrong)
		}
	}
}
