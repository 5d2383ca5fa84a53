package losses

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// This file tests the losses of classes, with loops over their definitions from raw rows and raw proxies.

// In every loss of classes, the proxies of a class without rows in the batch have a gradient.
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

// With a single class, loss and gradient are 0: the sum in Proxy-NCA's original form is empty, and a softmax is 1.
func TestOneClassAlone(t *testing.T) {
	in := conformInput(32, 6)
	clear(in.labels)
	for name, settings := range map[string]map[string]any{
		"proxy_nca": {"form": "original"}, "norm_softmax": nil, "cross_entropy": nil, "soft_triple": {"centers": 1},
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

// Extreme settings cause neither overflow nor underflow for rows at the proxies or opposite to them.
func TestClassLossesAtExtremes(t *testing.T) {
	for name, list := range map[string][]map[string]any{
		"proxy_nca":    {{"scale": 1e4}, {"scale": 1e4, "form": "original"}},
		"proxy_anchor": {{"alpha": 256, "margin": 1}},
		"norm_softmax": {{"temperature": 1e-4}},
		"soft_triple":  {{"gamma": 300, "la": 1e4, "margin": 2, "centers": 2}},
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
				// the row is at the other class's proxy, which is opposite to its own class's proxy
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

// A loss offers its proxies to filters only if the length of a row does not change the loss, because a filter by
// proxies uses only directions.
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

// blocksDiffer evaluates a loss of classes in blocks and reports whether it differs from the float64 evaluation, which
// uses all rows at once.
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
	const classes = 200 // the batch contains conformClasses of them
	for _, e := range Catalog {
		if e.Against == Proxies &&
			blocksDiffer(mustNew(t, e.Name, nil, testEnv(conformDim, classes, 3)).(Trainable), e.Name) {
			t.Errorf("%s: loss or gradient differ between blocks and the whole batch", e.Name)
		}
	}
	rows := mustNew(t, "proxy_anchor", nil, testEnv(conformDim, classes, 3)).(*proxied)
	rows.columns = false
	if !blocksDiffer(rows, "proxy_anchor") {
		t.Error("proxy_anchor: blocks of rows instead of columns go unnoticed")
	}
}
