package losses

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"winnow/internal/reference"
)

// Tolerances of the golden README.
const (
	lossRel, lossAbs = 1e-8, 1e-10
	gradRel, gradAbs = 1e-6, 1e-9
	loss32, grad32   = 1e-4, 1e-3
)

func goldenInput(t *testing.T, c reference.Case) exactInput {
	in := exactInput{z: c.Matrix(t, "embeddings"), labels: c.Ints(t, "labels"), normalize: true}
	if c.Has("normalize") {
		c.Decode(t, "normalize", &in.normalize)
	}
	if c.Has("memory") {
		in.ref, in.refIDs = c.Matrix(t, "memory"), c.Ints(t, "memory_labels")
	}
	return in
}

func goldenEnv(t *testing.T, c reference.Case) Env {
	labels := c.Ints(t, "labels")
	return testEnv(len(c.Matrix(t, "embeddings")[0]), slices.Max(labels)+1, 1)
}

func compare(t *testing.T, what string, loss, wantLoss float64, grad, wantGrad [][]float64, lossTol, gradTol float64) {
	t.Helper()
	if !near(loss, wantLoss, lossTol, lossTol*1e-2) {
		t.Errorf("%s: loss %.12g, expected %.12g", what, loss, wantLoss)
	}
	if rel, abs := worst(grad, wantGrad); rel > gradTol && abs > gradTol*1e-3 {
		t.Errorf("%s: gradient is off by %.3g of its largest entry (%.3g)", what, rel, abs)
	}
}

// mustNew builds a loss of the catalog. A setting that is nil, as of a golden case that does not name it, stays at
// its default.
func mustNew(t testing.TB, name string, settings map[string]any, env Env) Loss {
	t.Helper()
	maps.DeleteFunc(settings, func(_ string, v any) bool { return v == nil })
	l, err := New(name, settings, env)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// pairCheck compares a loss of pairs or triplets with a golden case: the function of similarities and the chain in
// float64, then the public float32 path. settings turns the case's parameters into the loss's.
func pairCheck(name string, settings func(c reference.Case) map[string]any) func(*testing.T, reference.Case) {
	return func(t *testing.T, c reference.Case) {
		in := goldenInput(t, c)
		want, wantGrad := c.Float(t, "loss"), c.Matrix(t, "grad")
		l := mustNew(t, name, settings(c), goldenEnv(t, c))
		loss, grad, _ := exactEval(l, name, in)
		compare(t, "float64", loss, want, grad, wantGrad, lossRel, gradRel)
		loss, grad = public(l, in)
		compare(t, "float32", loss, want, grad, wantGrad, loss32, grad32)
	}
}

// goldenChecks are all: topic, method, check. A new loss adds its methods in its own file's function.
var goldenChecks = map[string]reference.Checks{
	"losses_pair": {
		"contrastive_prism":  pairCheck("contrastive", contrastiveSettings),
		"memory_contrastive": pairCheck("contrastive", contrastiveSettings),
		"snr_contrastive":    pairCheck("snr_contrastive", asGiven),
		"npairs":             pairCheck("n_pair", nPairSettings),
		"ntxent":             pairCheck("ntxent", asGiven),
		"supcon":             pairCheck("supcon", asGiven),
		"scl_rhe":            pairCheck("scl_rhe", sclRHESettings),
	},
	"losses_triplet": {
		"triplet":            pairCheck("triplet", tripletSettings("all")),
		"triplet_batch_hard": pairCheck("triplet", tripletSettings("batch_hard")),
		"triplet_indices":    goldenTripletIndices,
	},
	"losses_proxy": {
		"soft_triple": goldenProxies("soft_triple", map[string]string{
			"centers_per_class": "centers", "la": "la", "gamma_multiplier": "gamma", "margin": "margin", "tau": "tau",
		}),
		"proxy_nca":            goldenProxies("proxy_nca", map[string]string{"variant": "form", "scale": "scale"}),
		"proxy_anchor":         goldenProxies("proxy_anchor", map[string]string{"alpha": "alpha", "margin": "margin"}),
		"norm_softmax":         goldenProxies("norm_softmax", map[string]string{"temperature": "temperature"}),
		"linear_cross_entropy": goldenCrossEntropy,
	},
	"miners": {
		"facenet_semihard": goldenSemihardCandidates,
	},
	"bspml": {},
}

func TestGolden(t *testing.T) {
	for _, topic := range slices.Sorted(maps.Keys(goldenChecks)) {
		t.Run(topic, func(t *testing.T) { reference.Check(t, topic, goldenChecks[topic]) })
	}
}

func TestMain(m *testing.M) { reference.Main(m) }

func contrastiveSettings(c reference.Case) map[string]any {
	return map[string]any{"form": c.Params["form"], "margin": c.Params["lam"], "eps": c.Params["eps"]}
}

func tripletSettings(choose string) func(c reference.Case) map[string]any {
	return func(c reference.Case) map[string]any {
		return map[string]any{
			"select": choose, "distance": c.Params["distance"], "margin": c.Params["margin"],
			"smooth": c.Params["smooth"], "swap": c.Params["swap"], "reduction": c.Params["reduction"],
		}
	}
}

// listed adds given triplets by the rule of every selection.
type listed struct {
	*triplet
	triplets [3][]int
}

func (l listed) eval(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	l.delta, l.slope = make([]float64, r), make([]float64, r)
	t := tally{}
	clear(dS)
	for i, a := range l.triplets[0] {
		l.distance.of(l.delta, nil, S[a*r:(a+1)*r])
		l.distance.slope(l.slope, l.delta)
		t.d = make([]float64, r)
		l.add(&t, l.triplets[1][i], l.triplets[2][i])
		for j, d := range t.d {
			dS[a*r+j] += d * l.slope[j]
		}
	}
	return t.sum, t.divisor(l.reduce, p)
}

func goldenTripletIndices(t *testing.T, c reference.Case) {
	l := mustNew(t, "triplet", tripletSettings("all")(c), goldenEnv(t, c)).(*similarity)
	fn := listed{triplet: l.fn.(*triplet)}
	c.Decode(t, "indices", &fn.triplets)
	l.fn, l.whole, l.draw = fn, true, nil
	in := goldenInput(t, c)
	loss, grad := exactPairs(l, in)
	compare(t, "float64", loss, c.Float(t, "loss"), grad, c.Matrix(t, "grad"), lossRel, gradRel)
	loss, grad = public(l, in)
	compare(t, "float32", loss, c.Float(t, "loss"), grad, c.Matrix(t, "grad"), loss32, grad32)
}

// The candidate sets of the selection itself: what a draw can be, for every ordered positive pair.
func goldenSemihardCandidates(t *testing.T, c reference.Case) {
	var raw [][]any
	c.Decode(t, "candidates", &raw)
	var want []string
	for _, row := range raw {
		want = append(want, fmt.Sprint(row))
	}
	if got := candidates(goldenInput(t, c), c.Param("alpha", 0)); !slices.Equal(got, want) {
		t.Errorf("candidates %v, expected %v", got, want)
	}
}

func candidates(in exactInput, alpha float64) (out []string) {
	z, _ := unit64(in.z)
	S := cosines(z, z, true)
	n := len(z)
	p := pairs{rows: in.labels, cols: in.labels, self: true}
	delta := make([]float64, n)
	var b band
	for a, y := range in.labels {
		l2sq.of(delta, nil, S[a*n:(a+1)*n])
		for j := range n {
			if !p.positive(a, j) {
				continue
			}
			b.sort(delta, p.cols, y, delta[j], delta[j]+alpha)
			from, to := b.between(delta[j], delta[j]+alpha)
			list := slices.Clone(b.order[from:max(from, to)])
			slices.Sort(list)
			out = append(out, fmt.Sprint([]any{a, j, list}))
		}
	}
	return out
}
