package losses

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// crossEntropy is a linear softmax classifier: one logit per class, trained together with the embedding.
//
//	L = 1/n Σ_i -log softmax(W z_i + b)[y_i]
//	Q = softmax - 1_y:   ∂L/∂z = Q W / n   ∂L/∂W = Qᵀ z / n   ∂L/∂b = Qᵀ 1 / n
//
// W is C×d ("weights"), b has C entries ("bias"; the setting bias: false omits it). The lengths of the rows of W
// matter, unlike those of the proxies of other class losses, so this loss offers no proxies to a filter. Rows z are
// used as given, unit length or raw. W and b are drawn uniformly from ±1/√d; weight decay applies to W only.
// The loss is defined for any batch: absent classes are still pushed away, a single class gives 0. An empty batch
// gives 0 and zero gradients. Time O(n·C·d), memory O(n·C).
// Source: METHODS 5.5: the classifier of the Co-teaching baselines of PRISM (001) and the cross entropy baseline of
// SCL-RHE (004).
type crossEntropy struct {
	chain
	w, b   *features.Param // b is nil without a bias
	linear *linearSoftmax
	cols   []int // class numbers 0 … C-1
}

var crossEntropyEntry = Entry{
	Name:     "cross_entropy",
	Title:    "Cross entropy of a linear classifier",
	Paper:    "PRISM (001); SCL-RHE (004)",
	Equation: "a baseline of 001 and 004, which print no equation",
	Formula:  "-1/n Σ_i log softmax(W z_i + b)[y_i]",
	Against:  Proxies,
	Params:   true,
	Settings: []Setting{
		{Name: "bias", Symbol: "b", Default: true, Doc: "learn a bias for each class"},
	},
	New: func(v Values, env Env) (Loss, error) {
		l := &crossEntropy{linear: new(linearSoftmax), cols: features.AllRows(env.Classes)}
		l.fn = l.linear
		l.w = features.NewParam("weights", env.Classes, env.Dim)
		drawProxies(l.w, "uniform", env.Init)
		if v.Flag("bias") {
			l.b = features.NewParam("bias", env.Classes, 1)
			l.b.NoDecay = true
			drawBias(l.b, env.Dim, env.Init)
			l.linear.bias = make([]float64, env.Classes)
			l.linear.slope = make([]float64, env.Classes)
		}
		return l, nil
	},
}

func drawBias(b *features.Param, dim int, rng *rand.Rand) {
	bound := 1 / math.Sqrt(float64(dim))
	for c := range b.Data {
		b.Data[c] = float32(bound * (2*rng.Float64() - 1))
	}
}

// Params implements [Trainable].
func (l *crossEntropy) Params() []*features.Param {
	if l.b == nil {
		return []*features.Param{l.w}
	}
	return []*features.Param{l.w, l.b}
}

// Eval implements [Loss]. ref must be nil.
func (l *crossEntropy) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	checkClasses("cross_entropy", z, ref, l.w.Cols, l.w.Rows)
	checkGrad(grad, z)
	if z.Len() == 0 {
		if grad != nil {
			for _, p := range l.Params() {
				clear(p.Grad)
			}
		}
		return zeroGradient(grad)
	}
	if l.b != nil {
		for c, v := range l.b.Data {
			l.linear.bias[c] = float64(v)
		}
		clear(l.linear.slope)
	}
	sum, terms := l.runChain(z.X, l.w.Matrix(), pairs{rows: z.Labels, cols: l.cols}, grad != nil)
	if grad != nil {
		blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, l.s, l.w.Matrix(), 0, *grad)
		blas32.Gemm(blas.Trans, blas.NoTrans, 1, l.s, z.X, 0, l.w.GradMatrix())
		scaleMatrix(*grad, float32(1/terms))
		scaleMatrix(l.w.GradMatrix(), float32(1/terms))
		if l.b != nil {
			for c, v := range l.linear.slope {
				// 0*sum is NaN if rows are not finite, in which case no slope was added up
				l.b.Grad[c] = float32((v + 0*sum) / terms)
			}
		}
	}
	return sum / terms
}

// linearSoftmax is the loss as a function of W z. It adds the derivatives with respect to b to slope.
type linearSoftmax struct {
	bias, slope []float64 // nil without b
	logits      []float64 // logits of one row, used when no derivative is wanted
}

func (l *linearSoftmax) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	l.logits = growSlice(l.logits, r)
	for i, y := range p.rows {
		d, s := l.logits, S[i*r:(i+1)*r]
		if dS != nil {
			d = dS[i*r : (i+1)*r]
		}
		if l.bias == nil {
			sum += softmaxLoss(d, s, 1, y)
			continue
		}
		for j, b := range l.bias {
			d[j] = s[j] + b
		}
		sum += softmaxLoss(d, d, 1, y)
		if dS != nil {
			for j, v := range d {
				l.slope[j] += v
			}
		}
	}
	return sum, float64(len(p.rows))
}

// softmaxLoss returns -log softmax(scale·s)[y] of one row, and sets d to the derivative with respect to s; d may be s.
func softmaxLoss(d, s []float64, scale float64, y int) float64 {
	own, top := s[y], maxValue(s)
	weight := features.ExpSlice(d, s, scale, -scale*top)
	k := scale / weight
	for j := range d {
		d[j] *= k
	}
	d[y] -= scale
	return math.Log(weight) + scale*(top-own)
}

// maxValue returns the largest value of s, or -Inf if s is empty. NaN may be ignored or returned.
func maxValue(s []float64) float64 {
	top := math.Inf(-1)
	for _, v := range s {
		if v > top {
			top = v
		}
	}
	return top
}
