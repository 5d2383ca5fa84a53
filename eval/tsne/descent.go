package tsne

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// descent is the state of the gradient descent.
type descent struct {
	p     affinity
	y     []Point
	theta float64

	tree          tree
	repelled      []Point   // Σ_j (1+d²)⁻²·(y_i-y_j)
	z             []float64 // Σ_{j≠i} (1+d²)⁻¹
	grad          []Point
	moved, gained []Point
}

// pointGradients computes ∂KL/∂y of all points, with the attraction multiplied by exaggeration:
//
//	∂KL/∂y_i = 4·[ exaggeration·Σ_j p_ij·(1+d_ij²)⁻¹·(y_i-y_j) - 1/Z·Σ_j (1+d_ij²)⁻²·(y_i-y_j) ],
//	Z = Σ_{k≠l} (1+d_kl²)⁻¹
func (d *descent) pointGradients(exaggeration float64) []Point {
	z := d.repelPoints()
	if d.grad == nil {
		d.grad = make([]Point, len(d.y))
	}
	eachIndex(len(d.y), func(i int) {
		me, pull := d.y[i], Point{}
		for _, e := range d.p.all[d.p.from[i]:d.p.from[i+1]] {
			other := d.y[e.col]
			dx, dy := me.X-other.X, me.Y-other.Y
			w := e.p / (1 + dx*dx + dy*dy)
			pull.X += w * dx
			pull.Y += w * dy
		}
		push := d.repelled[i]
		d.grad[i] = Point{4 * (exaggeration*pull.X - push.X/z), 4 * (exaggeration*pull.Y - push.Y/z)}
	})
	return d.grad
}

// repelPoints computes the repulsion of all points and returns Z.
func (d *descent) repelPoints() (sum float64) {
	if d.z == nil {
		d.repelled, d.z = make([]Point, len(d.y)), make([]float64, len(d.y))
	}
	d.tree.buildTree(d.y)
	theta2 := d.theta * d.theta
	eachIndex(len(d.y), func(k int) {
		i := d.tree.order[k]
		d.repelled[i], d.z[i] = d.tree.repelFrom(d.y[i], theta2)
	})
	for _, z := range d.z {
		sum += z
	}
	return sum
}

// movePoints moves all points once and shifts their centre back to the origin.
func (d *descent) movePoints(exaggeration, rate, momentum float64) {
	if d.moved == nil {
		d.moved, d.gained = make([]Point, len(d.y)), make([]Point, len(d.y))
		for i := range d.gained {
			d.gained[i] = Point{1, 1}
		}
	}
	var centre Point
	for i, g := range d.pointGradients(exaggeration) {
		gain, move := &d.gained[i], &d.moved[i]
		gain.X, gain.Y = gainOf(gain.X, g.X, move.X), gainOf(gain.Y, g.Y, move.Y)
		move.X = momentum*move.X - rate*gain.X*g.X
		move.Y = momentum*move.Y - rate*gain.Y*g.Y
		d.y[i].X += move.X
		d.y[i].Y += move.Y
		centre.X += d.y[i].X
		centre.Y += d.y[i].Y
	}
	n := float64(len(d.y))
	for i := range d.y {
		d.y[i].X -= centre.X / n
		d.y[i].Y -= centre.Y / n
	}
}

// gainOf returns a larger gain while the gradient keeps its direction, and a smaller gain after an overshoot.
func gainOf(gain, grad, move float64) float64 {
	if (grad > 0) != (move > 0) {
		return gain + 0.2
	}
	return max(0.8*gain, 0.01)
}

// computeKL returns KL(P‖Q) for the current points, with Z approximated by the tree.
func (d *descent) computeKL() float64 {
	z := d.repelPoints()
	parts := make([]float64, len(d.y))
	eachIndex(len(d.y), func(i int) {
		me := d.y[i]
		for _, e := range d.p.all[d.p.from[i]:d.p.from[i+1]] {
			if e.p > 0 {
				other := d.y[e.col]
				dx, dy := me.X-other.X, me.Y-other.Y
				parts[i] += e.p * math.Log(e.p*(1+dx*dx+dy*dy)*z)
			}
		}
	})
	sum := 0.0
	for _, v := range parts {
		sum += v
	}
	return sum
}

// eachIndex calls do with 0 … n-1 on all cores. do must write only to its own index, so that the result does not
// depend on the distribution of the work.
func eachIndex(n int, do func(i int)) {
	const some = 64
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+some-1)/some) {
		group.Go(func() {
			for {
				from := int(next.Add(some)) - some
				if from >= n {
					return
				}
				for i := from; i < min(from+some, n); i++ {
					do(i)
				}
			}
		})
	}
	group.Wait()
}
