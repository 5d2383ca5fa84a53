package losses

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// The losses of classes by loops over the definition, from raw rows and raw proxies.

func slowCosine(a, b []float64) float64 {
	return exactInput{z: [][]float64{a}, ref: [][]float64{b}}.similarity(0, 0)
}

func slowProxyNCA(in exactInput, proxies [][]float64, form string, scale float64) float64 {
	var loss float64
	for i, x := range in.z {
		var own, others float64
		for c, p := range proxies {
			var square float64
			for k := range x {
				d := x[k]/math.Sqrt(dot64(x, x)) - p[k]/math.Sqrt(dot64(p, p))
				square += d * d
			}
			if e := math.Exp(-scale * square); c == in.labels[i] {
				own = e
			} else {
				others += e
			}
		}
		if form == "pml" {
			others += own
		}
		loss -= math.Log(own/others) / float64(len(in.z))
	}
	return loss
}

func slowProxyAnchor(in exactInput, proxies [][]float64, alpha, delta float64) float64 {
	var pull, push, present float64
	for c, p := range proxies {
		own, others, members := 1.0, 1.0, 0
		for i, x := range in.z {
			s := slowCosine(x, p)
			if in.labels[i] == c {
				own += math.Exp(-alpha * (s - delta))
				members++
			} else {
				others += math.Exp(alpha * (s + delta))
			}
		}
		if members > 0 {
			pull += math.Log(own)
			present++
		}
		push += math.Log(others)
	}
	return pull/present + push/float64(len(proxies))
}

func slowNormSoftmax(in exactInput, proxies [][]float64, temperature float64) float64 {
	var loss float64
	for i, x := range in.z {
		var total float64
		for _, p := range proxies {
			total += math.Exp(slowCosine(x, p) / temperature)
		}
		loss -= math.Log(math.Exp(slowCosine(x, proxies[in.labels[i]])/temperature)/total) / float64(len(in.z))
	}
	return loss
}

func slowCrossEntropy(in exactInput, weights, bias [][]float64) float64 {
	var loss float64
	for i, x := range in.z {
		var own, total float64
		for c, w := range weights {
			logit := dot64(x, w)
			if bias != nil {
				logit += bias[c][0]
			}
			total += math.Exp(logit)
			if c == in.labels[i] {
				own = math.Exp(logit)
			}
		}
		loss -= math.Log(own/total) / float64(len(in.z))
	}
	return loss
}

// classInputs returns the oracleInputs that differ for a loss of classes. Rows have at most conformClasses
// labels.
func classInputs() map[string]exactInput {
	all := oracleInputs()
	delete(all, "bank")
	delete(all, "one image twice")
	return all
}

// checkOwner compares a loss of classes with loops: exact is its float64 path for the rows params, which slow
// also reads.
func checkOwner(t *testing.T, what string, in exactInput, params [][][]float64,
	exact func() (float64, [][]float64, [][][]float64), slow func() float64) {
	t.Helper()
	loss, grad, own := exact()
	if want := slow(); !near(loss, want, 1e-10, 1e-12) {
		t.Errorf("%s: %.12g, by loops %.12g", what, loss, want)
	}
	if rel, abs := worst(grad, differences(in.z, grad, slow)); rel > 1e-6 && abs > 1e-8 {
		t.Errorf("%s: gradient is off by %.3g of its largest entry", what, rel)
	}
	for i, rows := range params {
		if rel, abs := worst(own[i], differences(rows, own[i], slow)); rel > 1e-6 && abs > 1e-8 {
			t.Errorf("%s: gradient of parameter %d is off by %.3g of its largest entry", what, i, rel)
		}
	}
}

func TestProxyLossesByLoops(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings map[string]any
		slow     func(in exactInput, proxies [][]float64) float64
	}{
		{"proxy_nca", nil, func(in exactInput, p [][]float64) float64 { return slowProxyNCA(in, p, "pml", 3) }},
		{"proxy_nca", map[string]any{"form": "original", "scale": 2}, func(in exactInput, p [][]float64) float64 {
			return slowProxyNCA(in, p, "original", 2)
		}},
		{"proxy_anchor", nil, func(in exactInput, p [][]float64) float64 { return slowProxyAnchor(in, p, 32, 0.1) }},
		{"proxy_anchor", map[string]any{"alpha": 4, "margin": 0.3}, func(in exactInput, p [][]float64) float64 {
			return slowProxyAnchor(in, p, 4, 0.3)
		}},
		{"norm_softmax", nil, func(in exactInput, p [][]float64) float64 { return slowNormSoftmax(in, p, 0.05) }},
		{"norm_softmax", map[string]any{"temperature": 1}, func(in exactInput, p [][]float64) float64 {
			return slowNormSoftmax(in, p, 1)
		}},
	} {
		for name, in := range classInputs() {
			l := mustNew(t, c.name, c.settings, testEnv(conformDim, conformClasses, 1)).(*proxied)
			proxies := widen64(l.p.Data, l.p.Cols)
			checkOwner(t, fmt.Sprint(c.name, c.settings, name), in, [][][]float64{proxies},
				func() (float64, [][]float64, [][][]float64) {
					loss, grad, own := exactProxies(l, in, proxies)
					return loss, grad, [][][]float64{own}
				}, func() float64 { return c.slow(in, proxies) })
		}
	}
}

func TestCrossEntropyByLoops(t *testing.T) {
	for name, in := range classInputs() {
		in.normalize = false // the rows have several lengths
		for _, with := range []bool{true, false} {
			l := mustNew(t, "cross_entropy", map[string]any{"bias": with},
				testEnv(conformDim, conformClasses, 1)).(*crossEntropy)
			params := [][][]float64{widen64(l.w.Data, l.w.Cols)}
			var bias [][]float64
			if with {
				bias = widen64(l.b.Data, 1)
				params = append(params, bias)
			}
			checkOwner(t, fmt.Sprint(name, with), in, params, func() (float64, [][]float64, [][][]float64) {
				return exactLinear(l, in, params[0], bias)
			}, func() float64 { return slowCrossEntropy(in, params[0], bias) })
		}
	}
}

// A class without rows is still pushed away, by every loss of classes.
func TestAbsentClassIsPushed(t *testing.T) {
	in := conformInput(31, 40)
	const absent = 3
	for i, y := range in.labels {
		if y == absent {
			in.labels[i] = 0
		}
	}
	for _, e := range Catalog {
		if e.Against != Proxies {
			continue
		}
		l := mustNew(t, e.Name, nil, testEnv(conformDim, conformClasses, 3)).(Trainable)
		public(l, in)
		for _, p := range l.Params() {
			perClass := p.Rows / conformClasses
			rows := widen64(p.Grad, p.Cols)[absent*perClass : (absent+1)*perClass]
			if _, size := worst(rows, zeros64(len(rows), p.Cols)); size == 0 {
				t.Errorf("%s: %s of an absent class have no gradient", e.Name, p.Name)
			}
		}
	}
}

// A single class leaves nothing to decide: the sum of Proxy-NCA's original form has no term, a softmax is 1.
func TestOneClassAlone(t *testing.T) {
	in := conformInput(32, 6)
	clear(in.labels)
	for name, settings := range map[string]map[string]any{
		"proxy_nca": {"form": "original"}, "norm_softmax": nil, "cross_entropy": nil, "soft_triple": {"centers": 1},
		"cosface": nil, "arcface": nil, "sub_center_arcface": nil,
	} {
		l := mustNew(t, name, settings, testEnv(conformDim, 1, 3)).(Trainable)
		loss, grad := public(l, in)
		if _, size := worst(grad, zeros64(6, conformDim)); loss != 0 || size != 0 {
			t.Errorf("%s: loss %v, gradient up to %v, expected zeros", name, loss, size)
		}
		for _, p := range l.Params() {
			if n := blas32.Asum(blas32.Vector{N: len(p.Grad), Inc: 1, Data: p.Grad}); n != 0 {
				t.Errorf("%s: gradient of %s is %v, expected zeros", name, p.Name, n)
			}
		}
	}
}

// Extreme settings neither overflow nor lose the sum: the rows are at the proxies, or opposite.
func TestClassLossesAtExtremes(t *testing.T) {
	for name, list := range map[string][]map[string]any{
		"proxy_nca":          {{"scale": 1e4}, {"scale": 1e4, "form": "original"}},
		"proxy_anchor":       {{"alpha": 256, "margin": 1}},
		"norm_softmax":       {{"temperature": 1e-4}},
		"soft_triple":        {{"gamma": 300, "la": 1e4, "margin": 2, "centers": 2}},
		"cosface":            {{"scale": 1e4, "margin": 2}},
		"arcface":            {{"scale": 1e4, "margin": 1.5}, {"scale": 1e4, "margin": 0}},
		"sub_center_arcface": {{"scale": 1e4, "margin": 1.5, "centers": 2}},
	} {
		for _, settings := range list {
			l := mustNew(t, name, settings, testEnv(conformDim, 2, 3)).(Proxied)
			p, perClass := l.Proxies()
			z := features.NewSet(2*p.Rows, conformDim)
			for j := range p.Rows {
				copy(z.Row(j), features.Row(p.Matrix(), j))
				for k, v := range z.Row(j) {
					z.Row(p.Rows + j)[k] = -v
				}
				// at the other class's proxy, opposite to its own
				z.Labels[j], z.Labels[p.Rows+j] = 1-j/perClass, j/perClass
			}
			if err := features.Normalize(z.X); err != nil {
				t.Fatal(err)
			}
			grad := features.NewMatrix(z.Len(), conformDim)
			loss := l.Eval(&grad, z, nil)
			if bad := notFinite(loss, widen64(grad.Data, conformDim), l); bad != "" || loss <= 0 {
				t.Errorf("%s %v: loss %v %s", name, settings, loss, bad)
			}
		}
	}
}

// A filter by proxies uses directions: it must not get rows whose lengths matter.
func TestWhoHasProxies(t *testing.T) {
	in := conformInput(33, 40)
	for _, e := range Catalog {
		if e.Against != Proxies {
			continue
		}
		l := mustNew(t, e.Name, nil, testEnv(conformDim, conformClasses, 3)).(Trainable)
		before, _ := public(l, in)
		p := l.Params()[0]
		for i := range p.Data {
			p.Data[i] *= 1 + float32(i/p.Cols%3)
		}
		after, _ := public(l, in)
		if _, ok := l.(Proxied); ok != near(after, before, 1e-5, 1e-6) {
			t.Errorf("%s offers proxies: %v; longer rows change the loss from %v to %v", e.Name, ok, before, after)
		}
	}
}

func TestKaimingProxies(t *testing.T) {
	l := mustNew(t, "proxy_anchor", map[string]any{"init": "kaiming"}, testEnv(64, 200, 1)).(Proxied)
	p, _ := l.Proxies()
	n := float64(len(p.Data))
	norm := float64(blas32.Nrm2(blas32.Vector{N: len(p.Data), Inc: 1, Data: p.Data}))
	if got, want := norm/math.Sqrt(n), math.Sqrt(2.0/200); !near(got, want, 0.03, 0) {
		t.Errorf("deviation %v, expected %v", got, want)
	}
}

// blocksDiffer evaluates a loss of classes in blocks and compares it with its float64 twin, which uses all rows
// at once.
func blocksDiffer(l Trainable, name string) bool {
	in := conformInput(34, 150)
	want, wantGrad, wantParams := exactEval(l, name, in)
	got, grad := public(l, in)
	rel, _ := worst(grad, wantGrad)
	for i, p := range l.Params() {
		r, _ := worst(widen64(p.Grad, p.Cols), wantParams[i])
		rel = max(rel, r)
	}
	return !near(got, want, loss32, 1e-6) || rel > grad32
}

func TestClassLossesInBlocks(t *testing.T) {
	const classes = 200 // of which the batch has conformClasses
	for _, e := range Catalog {
		if e.Against == Proxies &&
			blocksDiffer(mustNew(t, e.Name, nil, testEnv(conformDim, classes, 3)).(Trainable), e.Name) {
			t.Errorf("%s: blocks give another loss or gradient than the whole", e.Name)
		}
	}
	rows := mustNew(t, "proxy_anchor", nil, testEnv(conformDim, classes, 3)).(*proxied)
	rows.columns = false
	if !blocksDiffer(rows, "proxy_anchor") {
		t.Error("proxy_anchor: blocks of rows instead of columns are not seen")
	}
}
