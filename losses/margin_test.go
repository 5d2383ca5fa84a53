package losses

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"winnow/features"
)

func TestMarginPanicsOnAnUnknownClass(t *testing.T) {
	l := mustNew(t, "margin", map[string]any{"learn": "class"}, testEnv(4, 3, 1))
	defer func() {
		if said := fmt.Sprint(recover()); said != "losses: margin: row 1 has label 3, expected less than 3 classes" {
			t.Errorf("panics with %q", said)
		}
	}()
	z := matrix32([][]float64{{1, 0, 0, 0}, {0, 1, 0, 0}})
	z.Labels = []int{0, 3}
	l.Eval(nil, z, nil)
}

// β is a parameter for the solver: it starts at the configured value without decay, and Eval overwrites its gradient.
func TestMarginLearnsBeta(t *testing.T) {
	for learn, rows := range map[string]int{"fixed": 0, "one": 1, "class": 7} {
		l := mustNew(t, "margin", map[string]any{"learn": learn, "beta": 1.5}, testEnv(8, 7, 1)).(Trainable)
		params := l.Params()
		if rows == 0 && len(params) == 0 {
			continue
		}
		if len(params) != 1 || params[0].Rows != rows || params[0].Name != "beta" || !params[0].NoDecay ||
			params[0].Data[rows-1] != 1.5 {
			t.Errorf("%s: parameters %+v", learn, params)
		}
	}
	// Gradient descent on only β converges when equally many negatives and positives have a term above 0.
	l := mustNew(t, "margin", map[string]any{"learn": "one", "beta": 0.3},
		testEnv(conformDim, conformClasses, 1)).(Trainable)
	beta := l.Params()[0]
	for range 200 {
		public(l, conformInput(1, 40))
		beta.Data[0] -= 0.02 * beta.Grad[0]
	}
	if g := beta.Grad[0]; !(math.Abs(float64(g)) < 0.05) || !(beta.Data[0] > 0.6) {
		t.Errorf("β converges to %v with gradient %v", beta.Data[0], g)
	}
}

// Draws have the defined probabilities. For an anchor without eligible negatives the draw follows the settings.
func TestDistanceWeightedDraws(t *testing.T) {
	const n, rounds, dim = 40, 40000, 16
	rng := rand.New(rand.NewPCG(3, 3))
	delta, cols := make([]float64, n), make([]int, n)
	for j := range delta {
		delta[j], cols[j] = 0.3+1.7*float64(j)/n, 1+j%2
	}
	check := func(what string, w *distanceWeighted, want []float64) {
		t.Helper()
		if !w.prepareAnchor(delta, cols, 1) {
			t.Fatalf("%s: found no negative to draw", what)
		}
		counts := make([]float64, n)
		for range rounds {
			counts[w.drawNegative(rng)]++
		}
		var total float64
		for _, v := range want {
			total += v
		}
		for j, v := range want {
			expected := rounds * v / total
			if d := counts[j] - expected; d*d > 25*expected {
				t.Errorf("%s: %d was drawn %v times, expected about %.1f", what, j, counts[j], expected)
			}
		}
	}
	density := func(far float64) []float64 {
		out := make([]float64, n)
		for j, d := range delta {
			if d = math.Max(d, 0.5); cols[j] != 1 && d < far {
				out[j] = 1 / (math.Pow(d, dim-2) * math.Pow(1-d*d/4, (dim-3)/2.0))
			}
		}
		return out
	}
	check("as released", &distanceWeighted{dim: dim, near: 0.5, far: 1.4}, density(1.4))
	check("as published", &distanceWeighted{dim: dim, near: 0.5, far: 3}, density(3))
	even := make([]float64, n)
	for j := range even {
		even[j] = float64(cols[j] - 1)
	}
	check("none eligible", &distanceWeighted{dim: dim, near: 0.1, far: 0.2, uniform: true}, even)
	for what, w := range map[string]*distanceWeighted{
		"none eligible": {dim: dim, near: 0.1, far: 0.2}, "far below near": {dim: dim, near: 0.5, far: 0.4},
	} {
		if w.prepareAnchor(delta, cols, 1) {
			t.Errorf("%s: drew a negative, expected none", what)
		}
	}
	far := []float64{2, 2, 0}
	if w := (&distanceWeighted{dim: 3, far: 3}); w.prepareAnchor(far, []int{1, 2, 2}, 1) {
		t.Error("drew a negative at distance 2 or 0")
	}
	if w := (&distanceWeighted{dim: 512, near: 0.5, far: 3, uniform: true}); !w.prepareAnchor(far, []int{1, 1, 2}, 1) ||
		w.drawNegative(rng) != 2 {
		t.Error("did not draw the only negative")
	}
}

// Settings with separate code also allocate no memory after the first step, as TestNoAllocationAfterTheFirstStep tests
// for the defaults.
func TestNoAllocationWithOtherSettings(t *testing.T) {
	z := benchSet(40, 8, 5, 1)
	some := benchSet(40, 8, 5, 1)
	for i := 1; i < 40; i += 4 {
		some.Labels[i] = features.Unlabelled
	}
	source := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"margin", "marginal", "quadruplet", "adapted_triplet"} {
		e, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, settings := range append(settingVariants(e), moreVariants[name]...) {
			env := testEnv(8, 5, 1)
			env.Step = func() *rand.Rand { return source }
			l := mustNew(t, name, settings, env)
			grad := features.NewMatrix(40, 8)
			batches := []features.Set{z}
			if e.Unlabelled {
				batches = append(batches, some)
			}
			for _, batch := range batches {
				if n := testing.AllocsPerRun(20, func() { l.Eval(&grad, batch, nil); l.Eval(nil, batch, nil) }); n > 0 {
					t.Errorf("%s %v: %v allocations a step", name, settings, n)
				}
			}
		}
	}
}
