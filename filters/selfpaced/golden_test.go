package selfpaced

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"winnow/features"
	"winnow/internal/testing/reference"
)

func TestMain(m *testing.M) { reference.Main(m) }

func TestGolden(t *testing.T) {
	reference.Check(t, "bspml", reference.Checks{
		"bspml_objective":  goldenObjective,
		"bspml_algorithm3": goldenAlgorithm3,
		"maw_sdaw":         goldenSpread,
		"lambda_schedule":  goldenSchedule,
		"spl_hard":         goldenHard,
	})
}

// known fails the test if the case has a parameter that the check does not map.
func known(t *testing.T, c reference.Case, names ...string) {
	t.Helper()
	for key := range c.Params {
		if !slices.Contains(names, key) {
			t.Fatalf("parameter %q is not known", key)
		}
	}
}

// goldenObjective checks ξ in float64 from the vectors as given, then the objective and its gradient in the weights for
// the case's ξ, then the same on the public float32 path. The golden gradient in the embeddings, which this package
// does not compute, is compared with central differences of our objective.
func goldenObjective(t *testing.T, c reference.Case) {
	known(t, c, "lam", "mu", "alpha", "beta", "rho")
	config := Default()
	config.Alpha, config.Beta = c.Param("alpha", config.Alpha), c.Param("beta", config.Beta)
	config.Base, config.Mu = c.Param("rho", config.Base), c.Param("mu", config.Mu)
	lambda := c.Param("lam", math.NaN())
	x, w := c.Matrix(t, "embeddings"), c.Floats(t, "weights")
	g := newGrouping(c.Ints(t, "labels"))
	normalize, similar := true, cosine
	if c.Has("normalize") {
		c.Decode(t, "normalize", &normalize)
	}
	if !normalize {
		similar = dot
	}

	want := Losses{c.Floats(t, "xi_pos"), c.Floats(t, "xi_neg")}
	got := lossesOf(config, similar, x, g)
	nearAll(t, "ξ⁺", got.Pos, want.Pos, 1e-8, 1e-10)
	nearAll(t, "ξ⁻", got.Neg, want.Neg, 1e-8, 1e-10)
	p := newProblem(g, want, lambda, config.Mu, w)
	near(t, "objective", p.computeObjective(), c.Float(t, "loss"), 1e-8, 1e-10)
	slopes := make([]float64, len(w))
	for a := range slopes {
		slopes[a] = p.weightSlope(p.exactGradient(a)) / p.classSize(a)
	}
	nearScaled(t, "∂L/∂w", slopes, c.Floats(t, "grad_weights"), 1e-6)

	if normalize { // the float32 path requires unit rows
		z := unitSet(t, x)
		single := completeLosses(config, z.X, g)
		nearScaled(t, "ξ⁺ in float32", single.Pos, want.Pos, 1e-4)
		nearScaled(t, "ξ⁻ in float32", single.Neg, want.Neg, 1e-4)
		near(t, "objective in float32", newProblem(g, single, lambda, config.Mu, w).computeObjective(),
			c.Float(t, "loss"), 1e-4, 1e-5)
	}

	var slope, wantSlope []float64
	for i, row := range c.Matrix(t, "grad") {
		for j, v := range row {
			const h = 1e-5
			at := x[i][j]
			x[i][j] = at + h
			up := newProblem(g, lossesOf(config, similar, x, g), lambda, config.Mu, w).computeObjective()
			x[i][j] = at - h
			down := newProblem(g, lossesOf(config, similar, x, g), lambda, config.Mu, w).computeObjective()
			x[i][j] = at
			slope, wantSlope = append(slope, (up-down)/(2*h)), append(wantSlope, v)
		}
	}
	nearScaled(t, "∂L/∂x", slope, wantSlope, 1e-6)
}

// lossesOf returns ξ for raw vectors, by the package's kernel on float64 similarities.
func lossesOf(c Config, similar func(a, b []float64) float64, x [][]float64, g grouping) Losses {
	n := len(x)
	sums, k := Losses{make([]float64, n), make([]float64, n)}, newKernel(c)
	for i := range n {
		row := make([]float64, 0, n)
		for j := i + 1; j < n; j++ {
			row = append(row, similar(x[i], x[j]))
		}
		addSamplePairs(k, sums, i, i+1, row, g.members[g.class[i]][g.place[i]+1:])
	}
	sums.finishLosses(c)
	return sums
}

// goldenAlgorithm3 repeats the recorded steps with the recorded samples.
func goldenAlgorithm3(t *testing.T, c reference.Case) {
	known(t, c, "lam", "mu", "gamma", "K", "P")
	g := newGrouping(c.Ints(t, "labels"))
	w := c.Floats(t, "weights")
	p := newProblem(g, Losses{c.Floats(t, "xi_pos"), c.Floats(t, "xi_neg")}, c.Param("lam", 0), c.Param("mu", 0), w)
	d := descent{problem: p, rate: c.Param("gamma", 0), printed: true}
	var steps []struct {
		Coordinate   int     `json:"coordinate"`
		Same         []int   `json:"same_class"`
		OtherClasses []int   `json:"other_classes"`
		Others       [][]int `json:"other_samples"`
		G            float64
		Positive     float64 `json:"G_p"`
		Negative     float64 `json:"G_n"`
		Balance      float64 `json:"G_b"`
		After        float64 `json:"weight_after"`
	}
	c.Decode(t, "steps", &steps)
	for k, s := range steps {
		a := s.Coordinate
		if most := int(c.Param("P", 0)); len(s.Others) != min(most, len(g.members)-1) ||
			len(s.OtherClasses) != len(s.Others) {
			t.Fatalf("step %d: %d classes drawn, expected %d", k, len(s.Others), most)
		}
		got := p.gradientOf(a, s.Same, s.Others)
		what := func(name string) string { return fmt.Sprintf("step %d: %s", k, name) }
		near(t, what("G_p"), got.positive, s.Positive, 1e-9, 1e-12)
		near(t, what("G_n"), got.negative, s.Negative, 1e-9, 1e-12)
		near(t, what("G_b"), got.balance, s.Balance, 1e-9, 1e-12)
		near(t, what("G"), p.weightSlope(got)/p.classSize(a), s.G, 1e-9, 1e-12)
		d.moveWeight(a, got)
		near(t, what("weight"), w[a], s.After, 1e-9, 1e-12)
	}
	nearAll(t, "weights", w, c.Floats(t, "weights_after"), 1e-9, 1e-12)
}

func goldenSpread(t *testing.T, c reference.Case) {
	known(t, c)
	labels, w := c.Ints(t, "labels"), c.Floats(t, "weights")
	mean, deviation := Spread(labels, w)
	nearAll(t, "class means", classMeans(newGrouping(labels).members, w), c.Floats(t, "class_means"), 1e-8, 1e-10)
	near(t, "MAW", mean, c.Float(t, "MAW"), 1e-8, 1e-10)
	near(t, "SDAW", deviation, c.Float(t, "SDAW"), 1e-8, 1e-10)
}

func goldenSchedule(t *testing.T, c reference.Case) {
	known(t, c, "lambda0", "c", "lambda_inf")
	lambda := c.Param("lambda0", 0)
	for k, want := range c.Floats(t, "values") {
		near(t, fmt.Sprintf("λ of round %d", k), lambda, want, 1e-12, 0)
		lambda = nextLambda(lambda, c.Param("c", 0), c.Param("lambda_inf", 0))
	}
}

func goldenHard(t *testing.T, c reference.Case) {
	known(t, c, "lam")
	losses := c.Floats(t, "losses")
	got := make([]float64, len(losses))
	hardWeights(got, Losses{losses, make([]float64, len(losses))}, c.Param("lam", 0))
	nearAll(t, "weights", got, c.Floats(t, "weights"), 0, 0)
}

// unitSet returns a set of the normalised rows, all of class 0.
func unitSet(t *testing.T, x [][]float64) features.Set {
	t.Helper()
	z := features.NewSet(len(x), len(x[0]))
	for i := range x {
		norm := math.Sqrt(dot(x[i], x[i]))
		for j, v := range x[i] {
			z.Row(i)[j] = float32(v / norm)
		}
	}
	return z
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for j, v := range a {
		sum += v * b[j]
	}
	return sum
}

func cosine(a, b []float64) float64 { return dot(a, b) / math.Sqrt(dot(a, a)*dot(b, b)) }

func near(t *testing.T, what string, got, want, relative, absolute float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)+absolute) {
		t.Errorf("%s: found %v, expected %v", what, got, want)
	}
}

func nearAll(t *testing.T, what string, got, want []float64, relative, absolute float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: found %d values, expected %d", what, len(got), len(want))
	}
	for i := range got {
		near(t, fmt.Sprintf("%s of %d", what, i), got[i], want[i], relative, absolute)
	}
}

// nearScaled compares lists with a tolerance relative to the largest expected entry.
func nearScaled(t *testing.T, what string, got, want []float64, share float64) {
	t.Helper()
	most := 0.0
	for _, v := range want {
		most = max(most, math.Abs(v))
	}
	nearAll(t, what, got, want, 0, share*most+1e-9)
}
