package eval

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"winnow/features"
)

// ProbeOptions are the settings of a linear probe; a zero value means the default, except for L2.
type ProbeOptions struct {
	ClassifierOptions
	L2         float64 // weight of the penalty; with 0, separable data have no finite solution
	Iterations int     // largest number of steps; default 1000
	// Tolerance ends the fit when the largest gradient entry falls to this fraction of its value at W = 0; default
	// 1e-3.
	Tolerance float64
}

// Probe is softmax regression on fixed rows:
//
//	min_{W,b} -1/n Σ_i log softmax(W·x_i + b)[y_i] + L2/2 · |W|²
//
// W is C×d and starts at 0; b is not penalised and sums to 0. The function is convex and is minimised to the tolerance
// by L-BFGS, without random draws or a learning rate. A class with one row, a single class (probability 1, W = 0) and
// equal rows with different labels are allowed. Rows are n×d, used as given (winnow gives unit rows, where L2 weighs
// about d times as much as on rows whose coordinates have variance 1). They are centred in a copy, which changes only
// the number of steps. Products are float32; the loss and the sums are float64. Time O(n·C·d) per step; memory n×d,
// MaxMem, and 26 times W in float64. Source: SCL-RHE (004), section 6.1 and Table 1, which specify neither penalty nor
// solver.
type Probe struct {
	Classes    []int // IDs, ascending
	W          [][]float64
	Bias       []float64
	Loss       float64 // the minimised value, including the penalty
	Gradient   float64 // largest entry of the gradient
	Iterations int
	Converged  bool
}

// FitProbe fits a probe on train, whose rows must all be labelled.
func FitProbe(ctx context.Context, train features.Set, opts ProbeOptions) (*Probe, error) {
	if opts.Iterations < 1 {
		opts.Iterations = 1000
	}
	if opts.Tolerance <= 0 {
		opts.Tolerance = 1e-3
	}
	if opts.L2 < 0 || math.IsNaN(opts.L2) || math.IsInf(opts.L2, 0) {
		return nil, fmt.Errorf("eval: linear probe: l2 is %v, expected 0 or more", opts.L2)
	}
	p := &Probe{}
	rows, err := newPoints(train.X, opts.MaxMem)
	if err != nil {
		return nil, err
	}
	s := &regression{ctx: ctx, x: rows.x, l2: opts.L2, maxMem: opts.MaxMem}
	p.Classes, s.of = classesOf(train.Labels)
	if s.maxMem <= 0 {
		s.maxMem = DefaultMaxMem
	}
	classes, d := len(p.Classes), train.Dim()
	s.w, s.gw = features.NewMatrix(classes, d), features.NewMatrix(classes, d)
	at := make([]float64, classes*(d+1))
	solver := lbfgs{limit: opts.Iterations, tolerance: opts.Tolerance}
	if p.Loss, p.Gradient, p.Iterations, p.Converged, err = solver.minimiseValue(at, s.evalRegression); err != nil {
		return nil, fmt.Errorf("eval: linear probe: %w", err)
	}
	for k := range classes {
		p.W = append(p.W, at[k*d:(k+1)*d])
	}
	p.Bias = at[classes*d:]
	for k, w := range p.W { // undo the centring of the rows
		p.Bias[k] -= floats.Dot(w, rows.mean)
	}
	return p, nil
}

// regression is the function that a probe minimises. Its arguments are W, row by row, followed by b.
type regression struct {
	ctx    context.Context
	x      blas32.General
	of     []int // class number of every row
	l2     float64
	maxMem Bytes
	w, gw  blas32.General
}

// evalRegression writes the gradient and returns the value. It processes one block of rows at a time.
func (r *regression) evalRegression(at, grad []float64) (float64, error) {
	classes, d := r.w.Rows, r.w.Cols
	weights, bias := at[:classes*d], at[classes*d:]
	loss := 0.0
	for i, v := range weights {
		r.w.Data[i] = float32(v)
		grad[i] = r.l2 * v
		loss += r.l2 / 2 * v * v
	}
	gradBias := grad[classes*d:]
	clear(gradBias)
	block := int(min(max(r.maxMem/(4*Bytes(classes)), 1), Bytes(r.x.Rows), 4096))
	var scratch []float32
	losses := make([]float64, block)
	for from := 0; from < r.x.Rows; from += block {
		if err := r.ctx.Err(); err != nil {
			return 0, err
		}
		part := features.Part(r.x, from, min(block, r.x.Rows-from))
		logits := features.Products(&scratch, part, r.w)
		r.softmaxGradient(logits, bias, r.of[from:from+part.Rows], losses)
		for i := range part.Rows {
			loss += losses[i]
			for k, v := range features.Row(logits, i) {
				gradBias[k] += float64(v)
			}
		}
		blas32.Gemm(blas.Trans, blas.NoTrans, 1, logits, part, 0, r.gw)
		for i, v := range r.gw.Data[:classes*d] {
			grad[i] += float64(v)
		}
	}
	return loss, nil
}

// softmaxGradient replaces logits by their gradient, (softmax - one-hot label)/n, and writes the losses of the rows.
func (r *regression) softmaxGradient(logits blas32.General, bias []float64, of []int, losses []float64) {
	workers := runtime.GOMAXPROCS(0)
	n := float64(r.x.Rows)
	var group errgroup.Group
	for w := range workers {
		group.Go(func() error {
			e := make([]float64, len(bias))
			for i := w; i < logits.Rows; i += workers {
				row := features.Row(logits, i)
				for k, v := range row {
					e[k] = float64(v) + bias[k]
				}
				own := e[of[i]]
				losses[i] = (features.Softmax(e, e) - own) / n
				e[of[i]]--
				for k, v := range e {
					row[k] = float32(v / n)
				}
			}
			return nil
		})
	}
	_ = group.Wait() // no function returns an error
}

// Weights returns W in float32, for products.
func (p *Probe) Weights() blas32.General {
	w := features.NewMatrix(len(p.W), len(p.W[0]))
	for k, row := range p.W {
		for j, v := range row {
			features.Row(w, k)[j] = float32(v)
		}
	}
	return w
}

// Predict returns the class with the largest logit of every row (ties: the lowest ID).
func (p *Probe) Predict(ctx context.Context, x blas32.General, maxMem Bytes) ([]int, error) {
	out := make([]int, x.Rows)
	err := eachRow(ctx, x, p.Weights(), maxMem, func(i int, dot []float32, _ *ranker) {
		best, most := 0, math.Inf(-1)
		for k, v := range dot {
			if z := float64(v) + p.Bias[k]; z > most {
				best, most = k, z
			}
		}
		out[i] = p.Classes[best]
	})
	return out, err
}

// Probed is the accuracy of a linear probe, with the state of the fit at its end.
type Probed struct {
	Accuracy
	FitAccuracy float64 `json:"fit_accuracy"` // on the fitted rows
	Loss        float64 `json:"loss"`
	Iterations  int     `json:"iterations"`
	Converged   bool    `json:"converged"`
}

// LinearProbe fits a probe on train and measures how often it predicts the class of test's rows (top-1). Rows
// without a label are ignored.
func LinearProbe(ctx context.Context, train, test features.Set, opts ProbeOptions) (Probed, error) {
	train, test, err := fittableRows("linear probe", train, test)
	if err != nil {
		return Probed{}, err
	}
	p, err := FitProbe(ctx, train, opts)
	if err != nil {
		return Probed{}, err
	}
	out := Probed{Loss: p.Loss, Iterations: p.Iterations, Converged: p.Converged}
	for _, of := range []features.Set{train, test} {
		predicted, err := p.Predict(ctx, of.X, opts.MaxMem)
		if err != nil {
			return Probed{}, err
		}
		out.FitAccuracy, out.Accuracy = out.Accuracy.Accuracy, scorePredicted(
			predicted,
			train,
			of,
			p.Classes,
			opts.CountUnseen,
		)
	}
	return out, nil
}
