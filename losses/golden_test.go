package losses

import (
	"maps"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/gonum"

	"winnow/internal/testing/reference"
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

// mustNew builds a loss of the catalog. A nil setting keeps its default: golden cases may omit a setting.
func mustNew(t testing.TB, name string, settings map[string]any, env Env) Loss {
	t.Helper()
	l, err := newLoss(name, settings, env)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// newLoss is New with more settings. "printed" and the form "eq_sum" of contrastive set Env.Printed. For scl_rhe,
// "sign" and "scale" request the two changes of Env.Printed separately.
func newLoss(name string, settings map[string]any, env Env) (Loss, error) {
	maps.DeleteFunc(settings, func(_ string, v any) bool { return v == nil })
	given := maps.Clone(settings)
	sign, scale := given["sign"] == "printed", given["scale"] == "inv_k"
	maps.DeleteFunc(given, func(key string, v any) bool {
		printed := key == "printed" && v == true || name == "contrastive" && v == "eq_sum"
		env.Printed = env.Printed || printed
		return printed || key == "printed" || name == "scl_rhe" && (key == "sign" || key == "scale")
	})
	l, err := New(name, given, env)
	if err == nil && (sign || scale) {
		fn := l.(*similarity).fn.(*sclRHE)
		fn.share = scale
		if sign {
			fn.tilt = -fn.tilt
		}
	}
	return l, err
}

// pairCheck returns a check of a loss of pairs or triplets against a golden case: first the function of similarities
// and the chain in float64, then the float32 path. settings converts the case's parameters to the loss's settings.
func pairCheck(name string, settings func(c reference.Case) map[string]any) func(*testing.T, reference.Case) {
	return func(t *testing.T, c reference.Case) {
		in := goldenInput(t, c)
		want, wantGrad := c.Float(t, "loss"), c.Matrix(t, "grad")
		given := settings(c)
		l := mustNew(t, name, given, goldenEnv(t, c))
		loss, grad, _ := exactEval(l, name, in)
		compare(t, "float64", loss, want, grad, wantGrad, lossRel, gradRel)
		loss, grad = public(l, in)
		if given["select"] == batchHard {
			grad, wantGrad = evened(grad, in.z), evened(wantGrad, in.z)
		}
		compare(t, "float32", loss, want, grad, wantGrad, loss32, grad32)
	}
}

// evened adds the gradients of equal rows to the gradient of the first of them. Which of two equal rows is the hardest
// depends on the last bit of a float32 product, and therefore on the rows' memory addresses. The sum of their
// gradients does not.
func evened(grad, rows [][]float64) [][]float64 {
	out := zeros64(len(grad), len(grad[0]))
	for i, row := range rows {
		first := slices.IndexFunc(rows, func(other []float64) bool { return slices.Equal(other, row) })
		for k, v := range grad[i] {
			out[first][k] += v
		}
	}
	return out
}

// goldenChecks maps topics and methods of the golden set to their checks.
var goldenChecks = map[string]reference.Checks{
	"losses_pair": {
		"contrastive_pml":    pairCheck("contrastive_margin", asGiven),
		"multi_similarity":   pairCheck("multi_similarity", multiSimilaritySettings),
		"circle":             pairCheck("circle", renamed(map[string]string{"variant": "form", "m": "margin"})),
		"fastap":             pairCheck("fastap", renamed(map[string]string{"num_bins": "bins"})),
		"contrastive_prism":  pairCheck("contrastive", contrastiveSettings),
		"memory_contrastive": pairCheck("contrastive", contrastiveSettings),
		"snr_contrastive":    pairCheck("snr_contrastive", asGiven),
		"npairs":             pairCheck("n_pair", nPairSettings),
		"ntxent":             pairCheck("ntxent", asGiven),
		"supcon":             pairCheck("supcon", asGiven),
		"scl_rhe":            pairCheck("scl_rhe", sclRHESettings),
	},
	"losses_triplet": {
		"triplet":            tripletCheck("triplet", map[string]any{"select": "all"}, tripletNames),
		"triplet_batch_hard": tripletCheck("triplet", map[string]any{"select": "batch_hard"}, tripletNames),
		"triplet_indices":    goldenTripletIndices,
		"unhinged_triplet": tripletCheck("unhinged_triplet", nil,
			map[string]string{"d_max": "d_max", "margin": "margin"}),
		"rdml": tripletCheck("rdml", nil,
			map[string]string{"eta": "eta", "margin": "margin", "distance": "distance", "reduction": "reduction"}),
		"margin":             goldenMargin,
		"marginal_pairs":     pairCheck("marginal", sameNames),
		"unhinged_marginal":  pairCheck("unhinged_marginal", sameNames),
		"auxiliary_pair":     pairCheck("auxiliary_pair", sameNames),
		"quadruplet":         pairCheck("quadruplet", sameNames),
		"adapted_triplet":    goldenAdapted,
		"adapted_match_only": goldenMatchOnly,
		"semi_match":         goldenSemiMatch,
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
		"triplet_margin_miner": goldenMarginMiner,
		"batch_hard":           goldenBatchHard,
		"random_semihard":      goldenCandidates("random_semihard"),
		"facenet_semihard":     goldenCandidates("semihard"),
		"fixed_semihard":       goldenFixedSemihard,
		"distance_weighted":    goldenDistanceWeighted,
		"ms_miner":             goldenMSMiner,
	},
	"bspml": {
		"weighted_ms": goldenWeightedMS,
	},
}

func TestGolden(t *testing.T) {
	for _, topic := range slices.Sorted(maps.Keys(goldenChecks)) {
		t.Run(topic, func(t *testing.T) { reference.Check(t, topic, goldenChecks[topic]) })
	}
}

// The tests use gonum's products even if ONNX Runtime is available, because gonum's products allocate no memory and do
// not depend on the batch size. Benchmarks request ONNX Runtime's products.
func TestMain(m *testing.M) {
	blas32.Use(gonum.Implementation{})
	reference.Main(m)
}

var contrastiveSettings = renamed(map[string]string{"lam": "margin"})
