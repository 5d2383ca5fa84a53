package losses

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// A check that was never seen failing is not finished: every loss of the catalog, broken on purpose in each of
// these ways, must fail the named checks.

// spoiledLoss breaks the public path; its parameters stay visible.
type spoiledLoss struct {
	Loss
	eval func(l Loss, grad *blas32.General, z features.Set, ref *features.Set) float64
}

func (l spoiledLoss) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	return l.eval(l.Loss, grad, z, ref)
}

type spoiledTrainable struct {
	spoiledLoss
	Trainable
}

func (l spoiledTrainable) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	return l.spoiledLoss.Eval(grad, z, ref)
}

func scaleGrad(grad *blas32.General, by float32) {
	if grad != nil {
		for i := range grad.Rows {
			for k := range features.Row(*grad, i) {
				features.Row(*grad, i)[k] *= by
			}
		}
	}
}

// The twins and the checks that must detect them.
var spoiledLosses = map[string]struct {
	eval func(l Loss, grad *blas32.General, z features.Set, ref *features.Set) float64
	seen []string
}{
	"value × 1.001": {func(l Loss, grad *blas32.General, z features.Set, ref *features.Set) float64 {
		return 1.001 * l.Eval(grad, z, ref)
	}, []string{"float32 against float64"}},
	"value × 1.001 with gradient": {func(l Loss, grad *blas32.General, z features.Set, ref *features.Set) float64 {
		v := l.Eval(grad, z, ref)
		if grad != nil {
			v *= 1.001
		}
		return v
	}, []string{"value", "float32 against float64"}},
	"sign of the gradient": {func(l Loss, grad *blas32.General, z features.Set, ref *features.Set) float64 {
		v := l.Eval(grad, z, ref)
		scaleGrad(grad, -1)
		return v
	}, []string{"float32 against float64", "directional difference"}},
	"gradient × 1.01": {func(l Loss, grad *blas32.General, z features.Set, ref *features.Set) float64 {
		v := l.Eval(grad, z, ref)
		scaleGrad(grad, 1.01)
		return v
	}, []string{"float32 against float64"}},
	"one row forgotten": {func(l Loss, grad *blas32.General, z features.Set, ref *features.Set) float64 {
		v := l.Eval(grad, z, ref)
		if grad != nil && grad.Rows > 0 {
			clear(features.Row(*grad, lastMoved(*grad)))
		}
		return v
	}, []string{"float32 against float64", "permutation"}},
	"gradient not written": {func(l Loss, grad *blas32.General, z features.Set, ref *features.Set) float64 {
		return l.Eval(nil, z, ref)
	}, []string{"gradient is overwritten", "float32 against float64", "degenerate batches"}},
	"gradient accumulated": {func(l Loss, grad *blas32.General, z features.Set, ref *features.Set) float64 {
		if grad == nil {
			return l.Eval(nil, z, ref)
		}
		g := features.NewMatrix(grad.Rows, grad.Cols)
		v := l.Eval(&g, z, ref)
		for i := range g.Rows {
			for k, x := range features.Row(g, i) {
				features.Row(*grad, i)[k] += x
			}
		}
		return v
	}, []string{"gradient is overwritten", "float32 against float64"}},
	"rows are not alike": {func(l Loss, grad *blas32.General, z features.Set, ref *features.Set) float64 {
		if z.Len() > 1 {
			z = z.Rows(append([]int{0}, seq(z.Len()-1)...)) // the first row instead of the last
		}
		return l.Eval(grad, z, ref)
	}, []string{"permutation"}},
	"coordinates are not alike": {func(l Loss, grad *blas32.General, z features.Set, ref *features.Set) float64 {
		v := l.Eval(grad, z, ref)
		for i := range z.Len() {
			v += float64(z.Row(i)[0]) / float64(z.Len())
			if grad != nil {
				features.Row(*grad, i)[0] += 1 / float32(z.Len())
			}
		}
		return v
	}, []string{"renaming and rotation"}},
	"NaN hidden": {func(l Loss, grad *blas32.General, z features.Set, ref *features.Set) float64 {
		if v := l.Eval(grad, z, ref); !math.IsNaN(v) {
			return v
		}
		return 0
	}, []string{"not a number"}},
	"classes are not alike": {func(l Loss, grad *blas32.General, z features.Set, ref *features.Set) float64 {
		v := l.Eval(grad, z, ref)
		for _, y := range z.Labels {
			if y == 0 {
				v += 0.1
			}
		}
		return v
	}, []string{"renaming and rotation"}},
}

// lastMoved returns the last row that is not 0: some losses use few rows only.
func lastMoved(grad blas32.General) int {
	for i := grad.Rows - 1; i > 0; i-- {
		if slices.ContainsFunc(features.Row(grad, i), func(v float32) bool { return v != 0 }) {
			return i
		}
	}
	return 0
}

func seq(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// spoiledSim breaks a function of similarities.
type spoiledSim struct {
	simLoss
	after func(dS []float64, sum *float64, p *pairs)
}

func (l spoiledSim) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	sum, terms = l.simLoss.evalPairs(dS, S, p)
	l.after(dS, &sum, p)
	return sum, terms
}

var spoiledSims = map[string]func(fn simLoss) simLoss{
	"sum × 1.001": func(fn simLoss) simLoss {
		return spoiledSim{fn, func(_ []float64, sum *float64, _ *pairs) { *sum *= 1.001 }}
	},
	"sign of dS": func(fn simLoss) simLoss {
		return spoiledSim{fn, func(dS []float64, _ *float64, _ *pairs) {
			for k := range dS {
				dS[k] *= -1
			}
		}}
	},
	"one row of dS forgotten": func(fn simLoss) simLoss {
		return spoiledSim{fn, func(dS []float64, _ *float64, p *pairs) {
			for k, d := range dS {
				if r := len(p.cols); d != 0 {
					clear(dS[k/r*r : (k/r+1)*r])
					return
				}
			}
		}}
	},
	"dS not written": func(fn simLoss) simLoss { return unwritten{fn} },
}

type unwritten struct{ simLoss }

func (l unwritten) evalPairs(_, S []float64, p *pairs) (sum, terms float64) {
	return l.simLoss.evalPairs(nil, S, p)
}

func TestSpoiledTwinsFail(t *testing.T) {
	for _, e := range Catalog {
		good := catalogSubject(t, e, maps.Clone(plainSettings[e.Name]))
		for name, twin := range spoiledLosses {
			bad := good
			bad.build = func() Loss { return spoilLoss(good.build(), twin.eval) }
			for _, check := range conformChecks {
				if check.name == "directional difference" && (good.drawn() || countsActive(good.exact())) {
					continue // no slope to detect it by: see checkDirection
				}
				if slices.Contains(twin.seen, check.name) && check.run(bad) == nil {
					t.Errorf("%s: %s: %s does not see it", e.Name, name, check.name)
				}
			}
		}
		if !hasKernel(good) {
			continue
		}
		for name, spoil := range spoiledSims {
			bad := good
			bad.spoil = spoil
			if checkSimilarities(bad) == nil {
				t.Errorf("%s: %s: central differences do not see it", e.Name, name)
			}
		}
	}
}

func hasKernel(s subject) bool {
	fn, _, _, _ := kernel(s.exact(), conformInput(4, 18))
	return fn != nil
}

func spoilLoss(l Loss, eval func(Loss, *blas32.General, features.Set, *features.Set) float64) Loss {
	bad := spoiledLoss{l, eval}
	if owner, ok := l.(Trainable); ok {
		return spoiledTrainable{bad, owner}
	}
	return bad
}

// A twin with memory must fail the repetition check; one that treats copies of an image as pairs must fail
// theirs.
func TestOtherChecksFail(t *testing.T) {
	e, err := Find("contrastive")
	if err != nil {
		t.Fatal(err)
	}
	good := catalogSubject(t, e, nil)
	bad := good
	bad.build = func() Loss {
		calls := 0
		return spoilLoss(good.build(), func(l Loss, grad *blas32.General, z features.Set, ref *features.Set) float64 {
			calls++
			v := l.Eval(grad, z, ref)
			scaleGrad(grad, float32(calls))
			return v
		})
	}
	if checkRepetition(bad) == nil {
		t.Error("a loss that remembers is not seen")
	}
	bad.build = func() Loss {
		return spoilLoss(good.build(), func(l Loss, grad *blas32.General, z features.Set, ref *features.Set) float64 {
			z.IDs = nil
			return l.Eval(grad, z, ref)
		})
	}
	if checkSameImage(bad) == nil {
		t.Error("a loss that pulls an image to itself is not seen")
	}
	bad.entry.Params = true
	if checkEntry(bad) == nil {
		t.Error("an entry that promises parameters is not seen")
	}
	bad.entry.Params, bad.entry.Proxied = false, true
	if checkEntry(bad) == nil {
		t.Error("an entry that promises proxies is not seen")
	}
	for name, spoil := range map[string]func(*Entry){
		"no formula":    func(e *Entry) { e.Formula = "" },
		"wrong default": func(e *Entry) { e.Settings = []Setting{{Name: "x", Doc: "x", Default: 5.0, Min: 0, Max: 1}} },
		"no doc":        func(e *Entry) { e.Settings = []Setting{{Name: "x", Default: 5.0}} },
	} {
		spoiled := good
		spoil(&spoiled.entry)
		if checkEntry(spoiled) == nil {
			t.Errorf("%s is not seen", fmt.Sprint(name))
		}
	}
}
