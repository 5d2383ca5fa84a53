// Package tsne maps vectors of many dimensions to points in the plane so that neighbours stay neighbours. It implements
// t-SNE with the Barnes-Hut tree. The map starts from the first two principal components, which are also available
// separately.
//
// Rows are unit vectors; their squared distance is 2 - 2·cosine. Results are computed in float64. The same rows,
// options and seed give the same bits on one machine, for any number of cores: one goroutine sums all forces on a point
// in a fixed order. A map shows which points are near each other; the sizes of groups and the distances between groups
// carry little information.
//
// It imports eval (the exact nearest neighbours), features and head/leading.
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

// Options are the settings of t-SNE. The zero value selects the defaults.
type Options struct {
	Perplexity   float64 // effective number of neighbours of a point; default 30, at most (n-1)/3
	Iterations   int     // default 1000
	Early        int     // number of initial iterations with exaggeration and low momentum; default 250
	Exaggeration float64 // factor of the attraction in early iterations, at least 1; default 12
	LearningRate float64 // default n / (4·Exaggeration), at least 50
	// a cell narrower than Theta times its distance is treated as one point; 0 < Theta ≤ 0.7, default 0.5
	Theta  float64
	Seed   uint64     // for the noise of the start
	MaxMem eval.Bytes // bytes of similarities in memory at once; default eval.DefaultMaxMem

	Stepped func(iteration int) // called after each iteration, counted from 1; may be nil
}

// Point is a point in the plane.
type Point struct{ X, Y float64 }

// Report describes how a map was computed.
type Report struct {
	KL           float64 `json:"kl"`         // KL(P‖Q) at the end, in nats; 0 for a perfect map
	KLEarly      float64 `json:"kl_early"`   // KL(P‖Q) after the early iterations
	Perplexity   float64 `json:"perplexity"` // perplexity used
	Iterations   int     `json:"iterations"`
	LearningRate float64 `json:"learning_rate"`
	Neighbours   int     `json:"neighbours"` // number of neighbours of a point before P is made symmetric
}

// fewest is the least number of points for which neighbours are meaningful.
const fewest = 5

// Embed finds points y_i whose similarities q match the similarities p of the rows:
//
//	p_j|i = e^{-β_i·|x_i-x_j|²} / Σ_k e^{-β_i·|x_i-x_k|²}   over the 3·Perplexity nearest, 2^H(p_·|i) = Perplexity
//	p_ij  = (p_j|i + p_i|j) / 2n,   q_ij = (1+|y_i-y_j|²)⁻¹ / Σ_{k≠l} (1+|y_k-y_l|²)⁻¹
//	minimise KL(P‖Q) = Σ_ij p_ij·log(p_ij/q_ij)
//
// by gradient descent with momentum 0.5, then 0.8, and Jacobs's gains. x is n×d with unit rows, n ≥ 5. Equal
// rows stay close; the noise of the start separates them.
// Time O(n²·d) for the neighbours, then O(n·log n + n·Perplexity) per iteration; memory O(n·Perplexity).
// Sources: van der Maaten and Hinton, Visualizing Data using t-SNE (JMLR 2008), eq. 1-5; van der Maaten,
// Accelerating t-SNE using Tree-Based Algorithms (JMLR 2014), eq. 6-9; learning rate: Belkina et al. (Nature
// Communications 2019).
func Embed(ctx context.Context, x blas32.General, o Options) ([]Point, Report, error) {
	o, err := o.resolveOptions(x.Rows)
	if err != nil {
		return nil, Report{}, err
	}
	if err := checkUnit(x); err != nil {
		return nil, Report{}, err
	}
	var d descent
	if d.y, err = o.startPoints(x); err != nil {
		return nil, Report{}, err
	}
	k := min(int(3*o.Perplexity), x.Rows-1)
	near, err := eval.Nearest(ctx, features.Set{X: x}, nil, k, o.MaxMem)
	if err != nil {
		return nil, Report{}, err
	}
	d.p, d.theta = newAffinity(near, o.Perplexity), o.Theta
	r := Report{Perplexity: o.Perplexity, Iterations: o.Iterations, LearningRate: o.LearningRate, Neighbours: k}
	for t := range o.Iterations {
		if err := ctx.Err(); err != nil {
			return nil, r, err
		}
		if t < o.Early {
			d.movePoints(o.Exaggeration, o.LearningRate, 0.5)
		} else {
			d.movePoints(1, o.LearningRate, 0.8)
		}
		if t+1 == min(o.Early, o.Iterations) {
			r.KLEarly = d.computeKL()
		}
		if o.Stepped != nil {
			o.Stepped(t + 1)
		}
	}
	if r.KL = d.computeKL(); math.IsNaN(r.KL) || math.IsInf(r.KL, 0) {
		return nil, r, fmt.Errorf("tsne: after %d iterations the divergence is %v: use a learning "+
			"rate below %g", o.Iterations, r.KL, o.LearningRate)
	}
	return d.y, r, nil
}

// resolveOptions fills in defaults for n points and validates the options.
func (o Options) resolveOptions(n int) (Options, error) {
	if n < fewest {
		return o, fmt.Errorf("tsne: %d points, expected at least %d", n, fewest)
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
	switch {
	case !(o.Perplexity >= 1):
		return o, fmt.Errorf("tsne: perplexity is %v, expected at least 1", o.Perplexity)
	case o.Iterations < 0 || o.Early < 0:
		return o, fmt.Errorf("tsne: %d iterations, %d of them early: expected 0 or more of each", o.Iterations, o.Early)
	case !(o.Exaggeration >= 1):
		return o, fmt.Errorf("tsne: exaggeration is %v, expected at least 1", o.Exaggeration)
	case !(o.LearningRate > 0):
		return o, fmt.Errorf("tsne: learning rate is %v, expected above 0", o.LearningRate)
	case !(o.Theta > 0 && o.Theta <= 0.7): // a wider cell may contain the point itself
		return o, fmt.Errorf("tsne: theta is %v, expected above 0 and up to 0.7", o.Theta)
	}
	o.Perplexity = min(o.Perplexity, float64(n-1)/3)
	return o, nil
}

// startScale is the standard deviation of the start: so small that the forces, not the positions, dominate at first.
const startScale = 1e-4

// startPoints places the points by their principal components near the origin. Noise of a hundredth of startScale
// separates equal rows.
func (o Options) startPoints(x blas32.General) ([]Point, error) {
	c, err := PCA(x)
	if err != nil {
		return nil, err
	}
	draw := rand.New(rand.NewPCG(o.Seed, 0x74736e65)) // "tsne"
	spread := cmp.Or(math.Sqrt(c.Variance[0]), 1)     // 1 if all rows are equal
	for i, p := range c.Points {
		c.Points[i] = Point{
			startScale * (p.X/spread + draw.NormFloat64()/100), startScale * (p.Y/spread + draw.NormFloat64()/100),
		}
	}
	return c.Points, nil
}

// checkUnit returns an error if a row does not have unit length.
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
