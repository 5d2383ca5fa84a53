package losses

import (
	"math"
	"math/rand/v2"

	"winnow/features"
)

// This file computes losses slowly in float64: raw rows → unit rows → S → the loss's own evalPairs in one block →
// gradients with respect to the raw rows. Tests compare the result with golden values and with the float32 path.
type exactInput struct {
	z, ref         [][]float64 // raw rows; ref is nil for a batch against itself
	labels, refIDs []int       // labels of z and of ref
	ids, bankIDs   []int       // IDs of z and of ref
	normalize      bool
}

func dot64(a, b []float64) float64 {
	var sum float64
	for k := range a {
		sum += a[k] * b[k]
	}
	return sum
}

func unit64(rows [][]float64) (unit [][]float64, norms []float64) {
	for _, row := range rows {
		n := max(math.Sqrt(dot64(row, row)), 1e-12)
		u := make([]float64, len(row))
		for k := range row {
			u[k] = row[k] / n
		}
		unit, norms = append(unit, u), append(norms, n)
	}
	return unit, norms
}

// through propagates a gradient with respect to unit rows back through the normalisation (METHODS 1.1).
func through(grad, unit [][]float64, norms []float64) {
	for i := range grad {
		along := dot64(grad[i], unit[i])
		for k := range grad[i] {
			grad[i][k] = (grad[i][k] - along*unit[i][k]) / norms[i]
		}
	}
}

func zeros64(n, d int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, d)
	}
	return out
}

func cosines(a, b [][]float64, near bool) []float64 {
	s := make([]float64, 0, len(a)*len(b))
	for _, u := range a {
		for _, v := range b {
			c := dot64(u, v)
			if near && c > nearby {
				var sum float64
				for k := range u {
					sum += (u[k] - v[k]) * (u[k] - v[k])
				}
				c = 1 - sum/2
			}
			s = append(s, c)
		}
	}
	return s
}

// exactPairs evaluates a similarity loss. The gradient is with respect to the raw rows in.z.
func exactPairs(l *similarity, in exactInput) (loss float64, grad [][]float64) {
	z, norms := in.z, []float64(nil)
	if in.normalize {
		z, norms = unit64(in.z)
	}
	p, other := in.pairs(), z
	if in.ref != nil {
		other = in.ref
	}
	if l.draw != nil {
		p.draw = l.draw()
	}
	S := cosines(z, other, l.exact)
	W := make([]float64, len(S))
	for i := range W {
		W[i] = math.NaN()
	}
	survey(l.fn, S, p)
	sum, terms := l.fn.evalPairs(W, S, p)
	grad = zeros64(len(z), len(z[0]))
	if terms == 0 {
		return 0, grad
	}
	for i := range z {
		for j := range other {
			w := W[i*len(other)+j] / terms
			for k := range z[i] {
				grad[i][k] += w * other[j][k]
				if in.ref == nil {
					grad[j][k] += w * z[i][k]
				}
			}
		}
	}
	if in.normalize {
		through(grad, z, norms)
	}
	return sum / terms, grad
}

// pairs returns the pairs of the whole input, in one block.
func (in exactInput) pairs() *pairs {
	if in.ref != nil {
		return &pairs{rows: in.labels, cols: in.refIDs, anchors: in.ids, members: in.bankIDs}
	}
	return &pairs{rows: in.labels, cols: in.labels, self: true, ids: in.ids, anchors: in.ids, members: in.ids}
}

// survey passes all similarities to a loss that counts them before the evaluation, as the chain does.
func survey(fn simLoss, S []float64, p *pairs) {
	if fn, ok := fn.(surveyor); ok {
		fn.surveyPairs(S, p)
	}
}

// exactProxies evaluates a proxy loss for the given raw proxies.
func exactProxies(l *proxied, in exactInput, proxies [][]float64) (loss float64, grad, gradProxies [][]float64) {
	z, norms := in.z, []float64(nil)
	if in.normalize {
		z, norms = unit64(in.z)
	}
	q, lengths := unit64(proxies)
	S := cosines(z, q, l.exact)
	W := make([]float64, len(S))
	sum, terms := l.fn.evalPairs(W, S, &pairs{rows: in.labels, cols: l.cols})
	grad, gradProxies = zeros64(len(z), len(z[0])), zeros64(len(q), len(q[0]))
	for i := range z {
		for j := range q {
			for k := range z[i] {
				grad[i][k] += W[i*len(q)+j] / terms * q[j][k]
				gradProxies[j][k] += W[i*len(q)+j] / terms * z[i][k]
			}
		}
	}
	loss = sum / terms
	if l.within != nil {
		for a := range q {
			for b := range a {
				if l.cols[a] != l.cols[b] {
					continue
				}
				value, slope := l.within(dot64(q[a], q[b]))
				loss += l.weight * value
				for k := range q[a] {
					gradProxies[a][k] += l.weight * slope * q[b][k]
					gradProxies[b][k] += l.weight * slope * q[a][k]
				}
			}
		}
	}
	if in.normalize {
		through(grad, z, norms)
	}
	through(gradProxies, q, lengths)
	return loss, grad, gradProxies
}

// matrix32 converts raw rows to float32 for the float32 path.

func matrix32(rows [][]float64) features.Set {
	if len(rows) == 0 {
		return features.Set{}
	}
	s := features.Set{X: features.NewMatrix(len(rows), len(rows[0]))}
	for i, row := range rows {
		for k, v := range row {
			s.X.Data[i*s.X.Stride+k] = float32(v)
		}
	}
	return s
}

// public evaluates a loss by its float32 Eval and propagates the gradient back to the raw rows.
func public(l Loss, in exactInput) (loss float64, grad [][]float64) {
	rows, norms := in.z, []float64(nil)
	if in.normalize {
		rows, norms = unit64(in.z)
	}
	z := matrix32(rows)
	z.Labels, z.IDs = in.labels, in.ids
	var ref *features.Set
	if in.ref != nil {
		r := matrix32(in.ref)
		if len(in.ref) == 0 {
			r.X = features.NewMatrix(0, z.Dim())
		}
		r.Labels, r.IDs = in.refIDs, in.bankIDs
		ref = &r
	}
	g := features.NewMatrix(z.Len(), z.Dim())
	for i := range g.Data {
		g.Data[i] = float32(math.NaN())
	}
	loss = l.Eval(&g, z, ref)
	grad = widen64(g.Data, z.Dim())
	if in.normalize {
		through(grad, rows, norms)
	}
	return loss, grad
}

func widen64(data []float32, cols int) [][]float64 {
	out := zeros64(len(data)/cols, cols)
	for i := range data {
		out[i/cols][i%cols] = float64(data[i])
	}
	return out
}

// worst returns the largest difference between two matrices, divided by the largest entry of want, and undivided.
func worst(got, want [][]float64) (relative, absolute float64) {
	var top float64
	for i := range want {
		for k := range want[i] {
			top = max(top, math.Abs(want[i][k]))
			absolute = max(absolute, math.Abs(got[i][k]-want[i][k]))
			if math.IsNaN(got[i][k]) {
				return math.Inf(1), math.Inf(1)
			}
		}
	}
	if absolute == 0 {
		return 0, 0
	}
	return absolute / top, absolute
}

// near reports whether |got - want| ≤ rel·|want| + abs.
func near(got, want, rel, abs float64) bool {
	return math.Abs(got-want) <= rel*math.Abs(want)+abs
}

// third is a random source with which every IntN(n) is about n/3. The choice does not depend on the order of calls.
type third struct{}

func (third) Uint64() uint64 { return 0x5555555555555555 }

func testEnv(dim, classes int, seed uint64) Env {
	return Env{
		Dim: dim, Classes: classes,
		Init: rand.New(rand.NewPCG(seed, 1)),
		Step: func() *rand.Rand { return rand.New(third{}) },
	}
}

// kind returns +1 for a positive pair, -1 for a negative pair, and 0 if the rows form no pair.
func (in exactInput) kind(i, j int) int {
	switch {
	case in.ref != nil && in.labels[i] == in.refIDs[j]:
		return 1
	case in.ref != nil:
		return -1
	case i == j, in.labels[i] == in.labels[j] && in.ids != nil && in.ids[i] == in.ids[j]:
		return 0
	case in.labels[i] == in.labels[j]:
		return 1
	}
	return -1
}
