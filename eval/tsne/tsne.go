// Package tsne draws vectors of many dimensions as points of a plane, so that neighbours stay neighbours: t-SNE by
// Barnes and Hut's tree, and the two first principal components, which are its start.
//
// Rows are unit vectors; their squared distance is 2 - 2·cosine. What decides is computed in float64. The same rows,
// options and seed give the same bits on a machine, however many cores it uses: every point's forces are summed by one
// goroutine in one order. A map shows who is near whom; sizes of groups and distances between them mean little.
//
// It imports eval (the exact nearest neighbours) and features.
package tsne

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/eval"
	"winnow/features"
)

// Where the points start.
const (
	StartPCA    = "pca"    // the two first principal components, made small
	StartRandom = "random" // a small normal cloud
)

// Options are the settings of t-SNE. The zero value is the default.
type Options struct {
	Perplexity   float64 // how many neighbours a point has, softly; default 30, at most (n-1)/3
	Iterations   int     // default 1000
	Early        int     // the first iterations, of exaggeration and little momentum; default 250
	Exaggeration float64 // factor of the attraction in these, at least 1; default 12
	LearningRate float64 // default n / (4·Exaggeration), at least 50
	Theta        float64 // a cell narrower than Theta times its distance is one point; 0 < Theta ≤ 0.7, default 0.5
	Start        string  // StartPCA (default) or StartRandom
	Seed         uint64  // of the start
	MaxMem       int64   // bytes of similarities held at once; default eval.DefaultMaxMem

	Stepped func(iteration int) // called after each, may be nil
}

// Point is a place in the plane.
type Point struct{ X, Y float64 }

// Report says how a map came to be.
type Report struct {
	KL           float64 `json:"kl"` // KL(P‖Q) at the end, in nats; 0 would be perfect
	KLEarly      float64 `json:"kl_early"`
	Perplexity   float64 `json:"perplexity"` // as used
	Iterations   int     `json:"iterations"`
	LearningRate float64 `json:"learning_rate"`
	Neighbours   int     `json:"neighbours"` // of each point in P before symmetrising
}

// fewest is the least number of points that have neighbours to speak of.
const fewest = 5

// Embed finds the points y_i whose similarities q are as the rows' own p:
//
//	p_j|i = e^{-β_i·|x_i-x_j|²} / Σ_k e^{-β_i·|x_i-x_k|²}   over the 3·Perplexity nearest, β_i so that 2^H(p_·|i) is the perplexity
//	p_ij  = (p_j|i + p_i|j) / 2n,   q_ij = (1+|y_i-y_j|²)⁻¹ / Σ_{k≠l} (1+|y_k-y_l|²)⁻¹
//	minimise KL(P‖Q) = Σ_ij p_ij·log(p_ij/q_ij)
//
// by gradient descent with momentum 0.5, then 0.8, and Jacobs's gains. x is n×d with unit rows, n ≥ 5. Equal rows stay
// close and are told apart by the start's noise. Time O(n²·d) for the neighbours, then O(n·log n + n·Perplexity) an
// iteration; memory O(n·Perplexity).
// Sources: van der Maaten and Hinton, Visualizing Data using t-SNE (JMLR 2008), eq. 1-5; van der Maaten, Accelerating
// t-SNE using Tree-Based Algorithms (JMLR 2014), eq. 6-9; learning rate: Belkina et al. (Nature Communications 2019).
func Embed(ctx context.Context, x blas32.General, o Options) ([]Point, Report, error) {
	o, err := o.resolved(x.Rows)
	if err != nil {
		return nil, Report{}, err
	}
	if err := checkUnit(x); err != nil {
		return nil, Report{}, err
	}
	y, err := o.start(x)
	if err != nil {
		return nil, Report{}, err
	}
	k := min(int(3*o.Perplexity), x.Rows-1)
	near, err := eval.Nearest(ctx, features.Set{X: x}, nil, k, o.MaxMem)
	if err != nil {
		return nil, Report{}, err
	}
	d := descent{p: affinities(near, o.Perplexity), y: y, theta: o.Theta}
	r := Report{Perplexity: o.Perplexity, Iterations: o.Iterations, LearningRate: o.LearningRate, Neighbours: k}
	for t := range o.Iterations {
		if err := ctx.Err(); err != nil {
			return nil, r, err
		}
		if t < o.Early {
			d.step(o.Exaggeration, o.LearningRate, 0.5)
		} else {
			d.step(1, o.LearningRate, 0.8)
		}
		if t+1 == min(o.Early, o.Iterations) {
			r.KLEarly = d.kl()
		}
		if o.Stepped != nil {
			o.Stepped(t + 1)
		}
	}
	if r.KL = d.kl(); math.IsNaN(r.KL) || math.IsInf(r.KL, 0) {
		return nil, r, fmt.Errorf("tsne: after %d iterations the divergence is %v: expected a smaller "+
			"learning rate than %g", o.Iterations, r.KL, o.LearningRate)
	}
	return d.y, r, nil
}

// resolved fills in defaults for n points and refuses what has no meaning.
func (o Options) resolved(n int) (Options, error) {
	if n < fewest {
		return o, fmt.Errorf("tsne: found %d points, expected at least %d", n, fewest)
	}
	for _, v := range []struct {
		to    *float64
		usual float64
	}{{&o.Perplexity, 30}, {&o.Exaggeration, 12}, {&o.Theta, 0.5}} {
		if *v.to == 0 {
			*v.to = v.usual
		}
	}
	o.Iterations = cmp.Or(o.Iterations, 1000)
	o.Early = cmp.Or(o.Early, 250)
	o.LearningRate = cmp.Or(o.LearningRate, max(float64(n)/(4*o.Exaggeration), 50))
	o.Start = cmp.Or(o.Start, StartPCA)
	switch {
	case !(o.Perplexity >= 1):
		return o, fmt.Errorf("tsne: perplexity is %v, expected at least 1", o.Perplexity)
	case o.Iterations < 0 || o.Early < 0:
		return o, fmt.Errorf("tsne: %d iterations, %d of them early: expected none below 0", o.Iterations, o.Early)
	case !(o.Exaggeration >= 1):
		return o, fmt.Errorf("tsne: exaggeration is %v, expected at least 1", o.Exaggeration)
	case !(o.LearningRate > 0):
		return o, fmt.Errorf("tsne: learning rate is %v, expected above 0", o.LearningRate)
	case !(o.Theta > 0 && o.Theta <= 0.7): // a cell wider than that may hold the point that looks at it
		return o, fmt.Errorf("tsne: theta is %v, expected above 0 and up to 0.7", o.Theta)
	case o.Start != StartPCA && o.Start != StartRandom:
		return o, fmt.Errorf("tsne: start is %q, expected %s or %s", o.Start, StartPCA, StartRandom)
	}
	o.Perplexity = min(o.Perplexity, float64(n-1)/3)
	return o, nil
}

// startScale is the standard deviation of the start: so small that forces, not places, decide at first.
const startScale = 1e-4

// start puts the points near the origin; a hundredth of noise tells equal rows apart.
func (o Options) start(x blas32.General) ([]Point, error) {
	draw := rand.New(rand.NewPCG(o.Seed, 0x74736e65)) // "tsne"
	y, noise := make([]Point, x.Rows), startScale
	if o.Start == StartPCA {
		c, err := PCA(x)
		if err != nil {
			return nil, err
		}
		spread := cmp.Or(math.Sqrt(c.Variance[0]), 1) // all rows are equal
		for i, p := range c.Points {
			y[i] = Point{startScale * p.X / spread, startScale * p.Y / spread}
		}
		noise /= 100
	}
	for i := range y {
		y[i].X += noise * draw.NormFloat64()
		y[i].Y += noise * draw.NormFloat64()
	}
	return y, nil
}

// checkUnit refuses rows that are not on the unit sphere.
func checkUnit(x blas32.General) error {
	for i := range x.Rows {
		sum := 0.0
		for _, v := range features.Row(x, i) {
			sum += float64(v) * float64(v)
		}
		if !(math.Abs(sum-1) < 1e-3) {
			return fmt.Errorf("tsne: row %d: squared norm is %v, expected 1", i, sum)
		}
	}
	return nil
}
