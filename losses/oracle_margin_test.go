package losses

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"winnow/features"
)

func (in exactInput) distance(i, j int) float64 {
	return math.Sqrt(math.Max(2-2*in.similarity(i, j), 0))
}

// partners returns the positives and negatives of an anchor, nearest first.
func (in exactInput) partners(a int) (pos, neg []int) {
	for j := range in.columns() {
		switch in.kind(a, j) {
		case 1:
			pos = append(pos, j)
		case -1:
			neg = append(neg, j)
		}
	}
	for _, list := range [][]int{pos, neg} {
		slices.SortStableFunc(list, func(j, k int) int {
			if d := in.distance(a, j) - in.distance(a, k); d != 0 {
				return int(math.Copysign(1, d))
			}
			return 0
		})
	}
	return pos, neg
}

// marginCase are the settings of a margin loss for the oracle.
type marginCase struct {
	alpha, nu     float64
	beta          []float64 // one, or of every class
	sampled       bool
	near, far     float64
	uniform       bool
	dim           int
	fixed, scalar bool
}

// slowNegative returns the negative that the loss draws from the source third; -1 for none.
func (m marginCase) slowNegative(in exactInput, a int, neg []int) int {
	var weights []float64
	var total float64
	for _, n := range neg {
		d := math.Max(in.distance(a, n), m.near)
		w := 0.0
		if d < m.far && d < 2 && d > 0 {
			w = math.Exp((2-float64(m.dim))*math.Log(d) - (float64(m.dim)-3)/2*math.Log(1-d*d/4))
		}
		weights = append(weights, w)
		total += w
	}
	rng := rand.New(third{})
	if total == 0 && m.uniform && len(neg) > 0 {
		return neg[rng.IntN(len(neg))]
	}
	mark := rng.Float64() * total
	for k, w := range weights {
		if mark -= w; mark < 0 {
			return neg[k]
		}
	}
	return -1
}

func (m marginCase) slow(in exactInput) float64 {
	var sum, active, reg float64
	for a := range in.z {
		beta := m.beta[0]
		if len(m.beta) > 1 {
			beta = m.beta[in.labels[a]]
		}
		one := func(p, n int) {
			up := math.Max(in.distance(a, p)-beta+m.alpha, 0)
			down := math.Max(beta-in.distance(a, n)+m.alpha, 0)
			sum += up + down
			for _, v := range []float64{up, down} {
				if v > 0 {
					active++
				}
			}
			reg += m.nu * beta
		}
		pos, neg := in.partners(a)
		if !m.sampled {
			for _, p := range pos {
				for _, n := range neg {
					one(p, n)
				}
			}
			continue
		}
		for range pos {
			if n := m.slowNegative(in, a, neg); n >= 0 {
				one(pos[rand.New(third{}).IntN(len(pos))], n)
			}
		}
	}
	switch {
	case active == 0:
		return 0
	case m.fixed:
		return sum / active
	case m.scalar:
		return sum/active + m.nu*m.beta[0]
	}
	return (sum + reg) / active
}

func TestMarginByLoops(t *testing.T) {
	for name, in := range oracleInputs() {
		for _, learn := range []string{"fixed", "one", "class"} {
			for _, s := range []map[string]any{
				{"select": "all"}, {"select": "all", "margin": 0.0, "beta": 0.9}, {"select": "all", "beta": 1.9},
				{"select": "distance_weighted"}, {"select": "distance_weighted", "far": 3.0},
				{"select": "distance_weighted", "far": 1.0, "near": 0.1, "otherwise": "uniform"},
				{"select": "distance_weighted", "far": 1.0, "near": 0.1, "otherwise": "skip"},
			} {
				settings := map[string]any{"learn": learn, "nu": 0.05}
				for k, v := range s {
					settings[k] = v
				}
				l := mustNew(t, "margin", settings, testEnv(conformDim, conformClasses, 1)).(*parametric)
				values, err := Resolve("margin", settings)
				if err != nil {
					t.Fatal(err)
				}
				fn := l.fn.(*margin)
				for c := range fn.beta {
					fn.beta[c] += 0.03 * float64(c%3)
				}
				m := marginCase{
					alpha: values.Number("margin"), nu: values.Number("nu"), beta: slices.Clone(fn.beta),
					dim:     conformDim,
					sampled: values.Word("select") == "distance_weighted", near: values.Number("near"),
					far:     values.Number("far"),
					uniform: values.Word("otherwise") == "uniform", fixed: learn == "fixed", scalar: learn == "one",
				}
				what := fmt.Sprint(name, settings)
				slow := func() float64 { return m.slow(in) }
				checkOracle(t, what, &l.similarity, in, slow)
				_, _, gradBeta := exactMargin(l, in)
				for c := range m.beta {
					const h = 1e-6
					old := m.beta[c]
					m.beta[c] = old + h
					up := slow()
					m.beta[c] = old - h
					want := (up - slow()) / (2 * h)
					m.beta[c] = old
					if learn == "fixed" {
						want = gradBeta[c][0] // not used
					}
					if !near(gradBeta[c][0], want, 1e-6, 1e-7) {
						t.Errorf("%s: ∂L/∂β[%d] = %.9g, by differences %.9g", what, c, gradBeta[c][0], want)
					}
				}
			}
		}
	}
}

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

// β is a parameter for the solver: it starts at the right value, is not decayed, and its gradient is
// overwritten.
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
	// Gradient descent on β alone comes to rest where as many negatives as positives have a term above 0.
	l := mustNew(t, "margin", map[string]any{"learn": "one", "beta": 0.3},
		testEnv(conformDim, conformClasses, 1)).(Trainable)
	beta := l.Params()[0]
	for range 200 {
		public(l, conformInput(1, 40))
		beta.Data[0] -= 0.02 * beta.Grad[0]
	}
	if g := beta.Grad[0]; !(math.Abs(float64(g)) < 0.05) || !(beta.Data[0] > 0.6) {
		t.Errorf("β comes to %v with gradient %v", beta.Data[0], g)
	}
}

// Draws have the probabilities of the definition, and an anchor without eligible negatives is treated as the
// settings say.
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
			t.Fatalf("%s: nothing to draw", what)
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
			t.Errorf("%s: something to draw", what)
		}
	}
	far := []float64{2, 2, 0}
	if w := (&distanceWeighted{dim: 3, far: 3}); w.prepareAnchor(far, []int{1, 2, 2}, 1) {
		t.Error("draws at distance 2 or 0")
	}
	if w := (&distanceWeighted{dim: 512, near: 0.5, far: 3, uniform: true}); !w.prepareAnchor(far, []int{1, 1, 2}, 1) ||
		w.drawNegative(rng) != 2 {
		t.Error("does not draw the one negative there is")
	}
}

// slowDistancePairs is a pair loss by loops: l = at + slope·d.
func slowDistancePairs(
	in exactInput, pos, neg func(d float64) float64, mined bool, alpha float64, reduce string,
) float64 {
	var sum, count, active float64
	add := func(v float64) {
		sum += v
		count++
		if v > 0 {
			active++
		}
	}
	for a := range in.z {
		ps, ns := in.partners(a)
		for _, p := range ps {
			add(pos(in.distance(a, p)))
			var use []int
			for _, n := range ns {
				if mined && in.distance(a, p)-in.distance(a, n)+alpha > 0 {
					use = append(use, n)
				}
			}
			if len(use) > 0 {
				add(neg(in.distance(a, use[rand.New(third{}).IntN(len(use))])))
			}
		}
		for _, n := range ns {
			if !mined {
				add(neg(in.distance(a, n)))
			}
		}
	}
	n := map[string]float64{"sum": 1, "mean": count, "avg_nonzero": active}[reduce]
	if n == 0 {
		return 0
	}
	return sum / n
}

func TestPairLossesByLoops(t *testing.T) {
	env := testEnv(conformDim, conformClasses, 1)
	for name, in := range oracleInputs() {
		for _, mined := range []bool{false, true} {
			for _, reduce := range []string{"mean", "avg_nonzero", "sum"} {
				for _, alpha := range []float64{0.2, 0} {
					const beta = 1.3
					choose := map[bool]string{false: "all", true: "random_semihard"}[mined]
					l := mustNew(t, "marginal", map[string]any{"select": choose, "reduction": reduce, "margin": alpha,
						"beta": beta}, env)
					checkOracle(t, fmt.Sprint(name, choose, reduce, alpha), l.(*similarity), in, func() float64 {
						return slowDistancePairs(in, func(d float64) float64 { return math.Max(d-beta+alpha, 0) },
							func(d float64) float64 { return math.Max(beta-d+alpha, 0) }, mined, alpha, reduce)
					})
				}
			}
		}
		l := mustNew(t, "unhinged_marginal", map[string]any{"margin": 0.3, "beta": 1.1}, env)
		checkOracle(t, name+"unhinged", l.(*similarity), in, func() float64 {
			return slowDistancePairs(in, func(d float64) float64 { return 2 + (d - 1.1) + 0.3 },
				func(d float64) float64 { return 2 - (d - 1.1) + 0.3 }, false, 0, "mean")
		})
		for _, w := range []float64{1, 0.3, 0, -1} {
			l := mustNew(t, "auxiliary_pair", map[string]any{"w_neg": w, "w_pos": 1.5}, env)
			if w < 0 {
				w = 1.0 / conformClasses
			}
			checkOracle(t, name+"auxiliary", l.(*similarity), in, func() float64 {
				return slowDistancePairs(in, func(d float64) float64 { return 1.5 * d },
					func(d float64) float64 { return w * (2 - d) }, false, 0, "mean")
			})
		}
	}
}

// Settings that use other code do not allocate after the first step either; TestNoAllocationAfterTheFirstStep
// covers the defaults.
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
