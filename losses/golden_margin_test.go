package losses

import (
	"maps"
	"math"
	"testing"

	"winnow/internal/testing/reference"
)

// exactParametric computes a loss with a parameter in float64, at the parameter's current value.
func exactParametric(l *parametric, in exactInput) (loss float64, grad [][]float64, params [][][]float64) {
	l.own.loadOwn(l.p, in.labels)
	loss, grad, own := exactMargin(l, in)
	if l.p == nil {
		return loss, grad, nil
	}
	return loss, grad, [][][]float64{own}
}

// exactMargin computes the margin loss with the β stored in fn, so that a golden case can set β in float64.
func exactMargin(l *parametric, in exactInput) (loss float64, grad, gradBeta [][]float64) {
	fn := l.fn.(*margin)
	clear(fn.pull)
	fn.count = 0
	loss, grad = exactPairs(&l.similarity, in)
	gradBeta = zeros64(len(fn.pull), 1)
	for c, v := range fn.pull {
		if fn.count > 0 {
			gradBeta[c][0] = v / fn.count
		}
	}
	return loss, grad, gradBeta
}

// mapped fails if a golden case has a parameter that its check does not map to a setting.
func mapped(t *testing.T, c reference.Case, names ...string) {
	t.Helper()
	for name := range c.Params {
		found := false
		for _, n := range names {
			found = found || n == name
		}
		if !found {
			t.Errorf("%s: parameter %q = %v is not known", c.Name, name, c.Params[name])
		}
	}
}

// oneOrMore returns a case's list under key, or a single number as a list with one entry.
func oneOrMore(t *testing.T, c reference.Case, key string) []float64 {
	t.Helper()
	if c.Fields[key][0] == '[' {
		return c.Floats(t, key)
	}
	return []float64{c.Float(t, key)}
}

func goldenMargin(t *testing.T, c reference.Case) {
	mapped(t, c, "beta", "margin", "nu", "class_beta", "learn_beta")
	perClass, _ := c.Params["class_beta"].(bool)
	learnt, _ := c.Params["learn_beta"].(bool)
	settings := map[string]any{"margin": c.Params["margin"], "nu": c.Params["nu"], "learn": "fixed"}
	if beta, ok := c.Params["beta"].(float64); ok {
		settings["beta"] = beta
	}
	switch {
	case perClass: // also for fixed values, whose gradient is not compared and for which ν has no effect
		settings["learn"] = "class"
	case learnt:
		settings["learn"] = "one"
	}
	if !learnt {
		settings["nu"] = 0.0
	}
	env := goldenEnv(t, c)
	var beta []float64
	if c.Has("beta") {
		beta = oneOrMore(t, c, "beta")
		if perClass {
			env.Classes = len(beta)
		}
	}
	l := mustNew(t, "margin", settings, env).(*parametric)
	if beta != nil {
		copy(l.fn.(*margin).beta, beta)
	}
	in := goldenInput(t, c)
	want, wantGrad := c.Float(t, "loss"), c.Matrix(t, "grad")
	loss, grad, gradBeta := exactMargin(l, in)
	compare(t, "float64", loss, want, grad, wantGrad, lossRel, gradRel)
	var wantBeta [][]float64
	if c.Has("grad_beta") {
		for _, v := range oneOrMore(t, c, "grad_beta") {
			wantBeta = append(wantBeta, []float64{v})
		}
		compare(t, "float64 β", loss, want, gradBeta, wantBeta, lossRel, gradRel)
	}
	if beta != nil && l.p != nil {
		for k, b := range beta {
			l.p.Data[k] = float32(b)
		}
	}
	loss, grad = public(l, in)
	compare(t, "float32", loss, want, grad, wantGrad, loss32, grad32)
	if wantBeta != nil {
		compare(t, "float32 β", loss, want, widen64(l.p.Grad, 1), wantBeta, loss32, grad32)
	}
}

func goldenDistanceWeighted(t *testing.T, c reference.Case) {
	mapped(t, c, "cutoff", "nonzero_loss_cutoff")
	in := goldenInput(t, c)
	want := c.Matrix(t, "probabilities")
	far := c.Params["nonzero_loss_cutoff"]
	if far == "Inf" {
		far = 3.0 // no distance is above 2
	}
	l := mustNew(t, "margin", map[string]any{
		"select": "distance_weighted", "near": c.Params["cutoff"], "far": far,
	}, goldenEnv(t, c)).(*parametric)
	w := l.fn.(*margin).sampler
	z, _ := unit64(in.z)
	S, n := cosines(z, z, true), len(z)
	delta := make([]float64, n)
	for i, y := range in.labels {
		l2.fillDistances(delta, nil, S[i*n:(i+1)*n])
		got := make([]float64, n)
		if w.prepareAnchor(delta, in.labels, y) {
			for k, j := range w.band.order {
				got[j] = w.weight[k] / w.total
			}
		}
		for j := range got {
			if !(math.Abs(got[j]-want[i][j]) <= 1e-10+1e-8*want[i][j]) {
				t.Errorf("anchor %d draws %d with probability %.12g, expected %.12g", i, j, got[j], want[i][j])
			}
		}
	}
}

// sameNames returns a case's parameters as settings with the same names. New rejects unknown names.
func sameNames(c reference.Case) map[string]any { return maps.Clone(c.Params) }
