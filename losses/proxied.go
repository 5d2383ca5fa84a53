package losses

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/viterin/vek/vek32"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Proxied is a loss that compares with its own vectors: classes·perClass rows, class-major (row c·perClass + k is
// centre k of class c), not normalised. Only their directions matter, and a filter may use them. The rows of a linear
// classifier are not proxies, because their lengths matter as well.
type Proxied interface {
	Trainable
	Proxies() (p *features.Param, perClass int)
}

// proxied is a Loss between a batch and learnable proxies p_j, which are normalised: p̂_j = p_j/‖p_j‖.
//
//	S = z·p̂ᵀ, W = ∂sum/∂S:   ∂L/∂z = W p̂ / terms   ∂L/∂p_j = (g_j - (g_j·p̂_j) p̂_j)/‖p_j‖, g = Wᵀ z / terms
//
// p̂ is never computed: columns of S and W are divided by the norms instead, and g_j·p̂_j = Σ_i W_ij s_ij. A loss may
// add weight·Σ within(p̂_j·p̂_k) over the pairs of proxies of one class. A proxy shorter than 1e-12 is divided by
// 1e-12. An empty batch gives 0 and zero gradients.
// Source: METHODS 1.1, 5.
type proxied struct {
	chain
	name     string
	p        *features.Param
	perClass int
	cols     []int                                  // class of each proxy
	within   func(s float64) (value, slope float64) // nil: there is no such term
	weight   float64
}

// shortest replaces smaller norms.
const shortest = 1e-12

func newProxied(name string, fn simLoss, env Env, perClass int) *proxied {
	l := &proxied{chain: chain{fn: fn}, name: name, perClass: perClass}
	l.p = features.NewParam("proxies", env.Classes*perClass, env.Dim)
	l.p.NoDecay = true
	l.cols = make([]int, l.p.Rows)
	for j := range l.cols {
		l.cols[j] = j / perClass
	}
	l.scale = make([]float64, l.p.Rows)
	l.pull = make([]float64, l.p.Rows)
	return l
}

// Params implements [Trainable].
func (l *proxied) Params() []*features.Param { return []*features.Param{l.p} }

// Proxies implements [Proxied].
func (l *proxied) Proxies() (*features.Param, int) { return l.p, l.perClass }

// Eval implements [Loss]. ref must be nil.
func (l *proxied) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	checkClasses(l.name, z, ref, l.p.Cols, l.p.Rows/l.perClass)
	checkGrad(grad, z)
	if z.Len() == 0 {
		return l.emptyResult(grad)
	}
	clear(l.pull)
	l.invertNorms()
	sum, terms := l.runChain(z.X, l.p.Matrix(), pairs{rows: z.Labels, cols: l.cols}, grad != nil)
	value := 0.0
	if terms > 0 {
		value = sum / terms
	}
	if grad != nil {
		l.backProxies(grad, z.X, terms)
	}
	if l.within != nil {
		value += l.insideTerm(grad != nil)
	}
	return value
}

// emptyResult returns the result for an empty batch.
func (l *proxied) emptyResult(grad *blas32.General) float64 {
	if grad != nil {
		clear(l.p.Grad)
	}
	return zeroGradient(grad)
}

// invertNorms computes 1/‖p_j‖.
func (l *proxied) invertNorms() {
	for j := range l.scale {
		l.scale[j] = 1 / max(math.Sqrt(blas32.DDot(l.proxyVector(j), l.proxyVector(j))), shortest)
	}
}

// backProxies computes the two gradients from W, which c.s holds divided by the norms.
func (l *proxied) backProxies(grad *blas32.General, z blas32.General, terms float64) {
	if terms == 0 {
		l.emptyResult(grad)
		return
	}
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, l.s, l.p.Matrix(), 0, *grad)
	blas32.Gemm(blas.Trans, blas.NoTrans, 1, l.s, z, 0, l.p.GradMatrix())
	scaleMatrix(*grad, float32(1/terms))
	for j, pull := range l.pull {
		l.projectProxy(j, 1/terms, pull/terms)
	}
}

// projectProxy divides the gradient of proxy j by the number of terms, while it is in the cache. It also removes the
// part along = g_j·p̂_j, because changing the length of a proxy does not change the loss.
func (l *proxied) projectProxy(j int, share, along float64) {
	g := blas32.Vector{N: l.p.Cols, Inc: 1, Data: features.Row(l.p.GradMatrix(), j)}
	vek32.MulNumber_Inplace(g.Data, float32(share))
	if k := l.scale[j]; k < 1/shortest {
		blas32.Axpy(float32(-along*k*k), l.proxyVector(j), g)
	}
}

// insideTerm returns the term between proxies of one class. If grad is set, it adds to the proxies' gradient.
func (l *proxied) insideTerm(grad bool) float64 {
	var sum float64
	for a := range l.p.Rows {
		for b := a + 1; b < (a/l.perClass+1)*l.perClass; b++ {
			s := blas32.DDot(l.proxyVector(a), l.proxyVector(b)) * l.scale[a] * l.scale[b]
			value, slope := l.within(s)
			sum += value
			if grad {
				l.turnProxy(a, b, s, slope*l.weight)
				l.turnProxy(b, a, s, slope*l.weight)
			}
		}
	}
	return sum * l.weight
}

// turnProxy adds slope·∂s/∂p_a, where s = p̂_a·p̂_b, to the gradient of proxy a.
func (l *proxied) turnProxy(a, b int, s, slope float64) {
	g := blas32.Vector{N: l.p.Cols, Inc: 1, Data: features.Row(l.p.GradMatrix(), a)}
	blas32.Axpy(float32(slope*l.scale[a]*l.scale[b]), l.proxyVector(b), g)
	if l.scale[a] < 1/shortest {
		blas32.Axpy(float32(-slope*s*l.scale[a]*l.scale[a]), l.proxyVector(a), g)
	}
}

func (l *proxied) proxyVector(j int) blas32.Vector {
	return blas32.Vector{N: l.p.Cols, Inc: 1, Data: features.Row(l.p.Matrix(), j)}
}

// checkClasses panics if a batch is invalid for a loss with its own reference.
func checkClasses(name string, z features.Set, ref *features.Set, dim, classes int) {
	if ref != nil {
		panic("losses: " + name + " compares with its own proxies: ref must be nil")
	}
	checkSet("the batch", z, dim)
	for i, y := range z.Labels {
		if y >= classes {
			panic(fmt.Sprintf("losses: %s: row %d has label %d, expected less than %d classes", name, i, y, classes))
		}
	}
}

// proxyDraws lists the initialisations that every loss with proxies offers. The lengths of proxies do not affect the
// loss, but they determine how far a solver's step rotates them.
var proxyDraws = []string{"normal", "uniform"}

const proxyDrawsDoc = "each coordinate from N(0, 1), or uniform in ±1/√d"

// drawProxies fills the proxies: "normal" draws each coordinate from N(0, 1), "uniform" from ±1/√d, "kaiming" from
// N(0, 2/C) with one proxy per class.
func drawProxies(p *features.Param, kind string, rng *rand.Rand) {
	scale, draw := 1.0, rng.NormFloat64
	switch kind {
	case "kaiming":
		scale = math.Sqrt(2 / float64(p.Rows))
	case "uniform":
		scale, draw = 1/math.Sqrt(float64(p.Cols)), func() float64 { return 2*rng.Float64() - 1 }
	}
	for i := range p.Data {
		p.Data[i] = float32(scale * draw())
	}
}
