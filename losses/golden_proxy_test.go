package losses

import (
	"testing"

	"winnow/internal/testing/reference"
)

// classSettings converts a case's parameters to settings. names maps the parameters to the settings; a parameter that
// is missing from names fails the test.
func classSettings(t *testing.T, c reference.Case, names map[string]string) map[string]any {
	t.Helper()
	settings := map[string]any{}
	for param, value := range c.Params {
		name, ok := names[param]
		if !ok {
			t.Fatalf("parameter %q (%v) is not known: known are %v", param, value, names)
		}
		settings[name] = value
	}
	return settings
}

// goldenProxies returns a check of a loss with proxies. names maps a golden case's parameters to settings.
func goldenProxies(name string, names map[string]string) func(*testing.T, reference.Case) {
	return func(t *testing.T, c reference.Case) {
		in, proxies := goldenInput(t, c), c.Matrix(t, "proxies")
		perClass := int(c.Param("centers_per_class", 1))
		env := testEnv(len(proxies[0]), len(proxies)/perClass, 1)
		l := mustNew(t, name, classSettings(t, c, names), env).(*proxied)
		want, wantGrad, wantProxies := c.Float(t, "loss"), c.Matrix(t, "grad"), c.Matrix(t, "grad_proxies")
		loss, grad, gradProxies := exactProxies(l, in, proxies)
		compare(t, "float64", loss, want, grad, wantGrad, lossRel, gradRel)
		compare(t, "float64 proxies", loss, want, gradProxies, wantProxies, lossRel, gradRel)
		copy(l.p.Data, matrix32(proxies).X.Data)
		loss, grad = public(l, in)
		compare(t, "float32", loss, want, grad, wantGrad, loss32, grad32)
		compare(t, "float32 proxies", loss, want, widen64(l.p.Grad, l.p.Cols), wantProxies, loss32, grad32)
	}
}

func goldenCrossEntropy(t *testing.T, c reference.Case) {
	in, weights, bias := goldenInput(t, c), c.Matrix(t, "proxies"), [][]float64(nil)
	settings := classSettings(t, c, nil)
	settings["bias"] = c.Has("bias")
	l := mustNew(t, "cross_entropy", settings, testEnv(len(weights[0]), len(weights), 1)).(*crossEntropy)
	copy(l.w.Data, matrix32(weights).X.Data)
	if c.Has("bias") {
		bias = column64(c.Floats(t, "bias"))
		copy(l.b.Data, matrix32(bias).X.Data)
	}
	want, wantGrad, wantWeights := c.Float(t, "loss"), c.Matrix(t, "grad"), c.Matrix(t, "grad_proxies")
	loss, grad, own := exactLinear(l, in, weights, bias)
	compare(t, "float64", loss, want, grad, wantGrad, lossRel, gradRel)
	compare(t, "float64 weights", loss, want, own[0], wantWeights, lossRel, gradRel)
	loss32bit, grad32bit := public(l, in)
	compare(t, "float32", loss32bit, want, grad32bit, wantGrad, loss32, grad32)
	compare(t, "float32 weights", loss32bit, want, widen64(l.w.Grad, l.w.Cols), wantWeights, loss32, grad32)
	if bias != nil {
		wantBias := column64(c.Floats(t, "grad_bias"))
		compare(t, "float64 bias", loss, want, own[1], wantBias, lossRel, gradRel)
		compare(t, "float32 bias", loss32bit, want, widen64(l.b.Grad, 1), wantBias, loss32, grad32)
	}
}

func column64(values []float64) [][]float64 {
	out := make([][]float64, len(values))
	for i, v := range values {
		out[i] = []float64{v}
	}
	return out
}

// exactCrossEntropy computes crossEntropy in float64.
func exactCrossEntropy(l Loss, in exactInput) (loss float64, grad [][]float64, params [][][]float64) {
	ce := l.(*crossEntropy)
	if ce.b == nil {
		return exactLinear(ce, in, widen64(ce.w.Data, ce.w.Cols), nil)
	}
	return exactLinear(ce, in, widen64(ce.w.Data, ce.w.Cols), widen64(ce.b.Data, 1))
}

// exactLinear computes the loss from the logits W z, with weights and biases in float64.
func exactLinear(
	l *crossEntropy, in exactInput, weights, bias [][]float64,
) (loss float64, grad [][]float64, params [][][]float64) {
	z, norms := in.z, []float64(nil)
	if in.normalize {
		z, norms = unit64(in.z)
	}
	for c := range bias {
		l.linear.bias[c] = bias[c][0]
	}
	S := cosines(z, weights, false) // plain products, because rows and weights need not have unit length
	Q := make([]float64, len(S))
	sum, terms := l.fn.evalPairs(Q, S, &pairs{rows: in.labels, cols: l.cols})
	grad, params = zeros64(len(z), len(z[0])), [][][]float64{zeros64(len(weights), len(z[0]))}
	if bias != nil {
		params = append(params, zeros64(len(bias), 1))
	}
	for i := range z {
		for c := range weights {
			q := Q[i*len(weights)+c] / terms
			for k := range z[i] {
				grad[i][k] += q * weights[c][k]
				params[0][c][k] += q * z[i][k]
			}
			if bias != nil {
				params[1][c][0] += q
			}
		}
	}
	if in.normalize {
		through(grad, z, norms)
	}
	return sum / terms, grad, params
}
