package tsne

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/eval"
	"winnow/features"
)

// placeSteps is the number of iterations in which new points move.
const placeSteps = 250

// Place finds points for the rows of x that have none on a map: whose point in y is NaN. The others stay where they
// are, to the bit. A new point i begins at the mean of its neighbours among the others, weighted by p_j|i, and then
// moves alone so that
//
//	KL_i = Σ_j p_j|i·log(p_j|i/q_j|i),   q_j|i = (1+|y_i-y_j|²)⁻¹ / Σ_k (1+|y_i-y_k|²)⁻¹
//
// falls, where j and k are the others; p_j|i is that of [Embed] over the nearest of them. New points do not act on each
// other, so their order and number do not matter. y must be in the units of Embed. Perplexity, Theta and MaxMem are the
// options that count. x is n×d with unit rows, y has n points.
// Time O(m·n·d + m·log n·250) for m new points, memory O(m·Perplexity + n).
// Source: the row i of van der Maaten and Hinton (JMLR 2008), eq. 1, 4 and 5, with all y_j constant.
func Place(ctx context.Context, x blas32.General, y []Point, o Options) error {
	var fresh, placed []int
	for i, p := range y {
		switch {
		case p.X != p.X || p.Y != p.Y:
			fresh = append(fresh, i)
		case math.IsInf(p.X, 0) || math.IsInf(p.Y, 0):
			return fmt.Errorf("tsne: point %d is %v, expected finite numbers or NaN", i, p)
		default:
			placed = append(placed, i)
		}
	}
	if len(y) != x.Rows {
		return fmt.Errorf("tsne: %d points for %d rows, expected one for each", len(y), x.Rows)
	}
	if len(fresh) == 0 {
		return nil
	}
	o, err := o.resolveOptions(len(placed))
	if err == nil {
		err = checkUnit(x)
	}
	if err != nil {
		return err
	}
	set := features.Set{X: x}
	others := set.Rows(placed)
	near, err := eval.Nearest(ctx, set.Rows(fresh), &others, min(int(3*o.Perplexity), len(placed)), o.MaxMem)
	if err != nil {
		return err
	}
	fixed := make([]Point, len(placed))
	for i, at := range placed {
		fixed[i] = y[at]
	}
	var t tree
	t.buildTree(fixed)
	eachIndex(len(fresh), func(n int) {
		d := make([]float64, len(near[n]))
		for j, v := range near[n] {
			d[j] = max(0, 2-2*float64(v.Similarity))
		}
		if ctx.Err() == nil {
			y[fresh[n]] = settlePoint(&t, fixed, near[n], conditionalRow(d, o.Perplexity), o.Theta)
		}
	})
	return ctx.Err()
}

// settlePoint moves a point among fixed ones. A step that leads nearer to the goal makes the next one longer, another
// one makes it shorter: so it needs no learning rate.
func settlePoint(t *tree, fixed []Point, near []eval.Neighbour, p []float64, theta float64) Point {
	var at Point
	for j, v := range near {
		at.X += p[j] * fixed[v.Row].X
		at.Y += p[j] * fixed[v.Row].Y
	}
	// kl leaves out what does not depend on the point. The tree does not hold the point itself.
	kl := func(at Point) (value float64, grad Point) {
		push, z := t.repelFrom(at, theta*theta)
		z++
		value = math.Log(z)
		for j, v := range near {
			dx, dy := at.X-fixed[v.Row].X, at.Y-fixed[v.Row].Y
			q := 1 / (1 + dx*dx + dy*dy)
			value -= p[j] * math.Log(q)
			grad.X += 2 * p[j] * q * dx
			grad.Y += 2 * p[j] * q * dy
		}
		grad.X -= 2 * push.X / z
		grad.Y -= 2 * push.Y / z
		return value, grad
	}
	value, grad := kl(at)
	step := 1.0
	for range placeSteps {
		next := Point{at.X - step*grad.X, at.Y - step*grad.Y}
		if v, g := kl(next); v < value {
			at, value, grad = next, v, g
			step *= 1.5
		} else if step /= 4; step < 1e-9 {
			break
		}
	}
	return at
}
