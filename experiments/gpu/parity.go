package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone/graph/gradient"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/train"
)

// parity compares features and gradients of every network with the CPU's.
func parity(b *bench) error {
	if err := b.open(); err != nil {
		return err
	}
	list, err := b.networks()
	if err != nil {
		return err
	}
	for _, n := range list {
		var want blas32.General
		for _, p := range b.precisions() {
			err := b.measure(func() (Record, error) {
				if want.Data == nil {
					if want, err = b.vectors(b.cpu, n.model.Marshal(), n); err != nil {
						return Record{}, fmt.Errorf("on the CPU: %w", err)
					}
				}
				rt, model, err := b.of(p, n)
				if err != nil {
					return Record{}, err
				}
				got, err := b.vectors(rt, model, n)
				if err != nil {
					return Record{}, err
				}
				least, most := 1.0, 0.0
				for i := range want.Rows {
					cos, relative := cosine(features.Row(want, i), features.Row(got, i))
					least, most = lesser(least, cos), greater(most, relative)
				}
				return Record{Values: map[string]float64{"cosine": least, "relative": most}}, nil
			}, n.name, "features", p.name)
			if err != nil {
				return err
			}
		}
	}
	for _, n := range list {
		gradients := func() (Record, error) { return b.gradients(n) }
		if err := b.measure(gradients, n.name, "gradients", "float32"); err != nil {
			return err
		}
	}
	return nil
}

// lesser and greater return the first argument if the second is NaN.
func lesser(a, b float64) float64 {
	if b < a || math.IsNaN(b) {
		return b
	}
	return a
}

func greater(a, b float64) float64 {
	if b > a || math.IsNaN(b) {
		return b
	}
	return a
}

// vectors computes vectors as winnow extract does.
func (b *bench) vectors(rt *ort.Runtime, model []byte, n *network) (x blas32.General, err error) {
	net, err := ort.NewNetwork(rt, model, n.output,
		ort.NetworkInput{Channels: n.channels, Height: n.side, Width: n.side})
	if err != nil {
		return x, err
	}
	x = features.NewMatrix(b.compared, n.dim)
	return x, errors.Join(net.Infer(x, b.pictures(n, b.compared), b.compared), net.Close())
}

// live opens a network whose weights are all trained.
func live(rt *ort.Runtime, n *network) (*ort.Live, error) {
	weights, err := gradient.Choose(n.model, n.output, gradient.AllWeights)
	if err != nil {
		return nil, err
	}
	d, err := gradient.Differentiate(n.model, gradient.Options{Output: n.output, Weights: weights,
		Kernels: rt.Kernels()})
	if err != nil {
		return nil, err
	}
	return ort.NewLive(rt, d, ort.LiveOptions{Model: n.model})
}

// slope returns a random gradient of the vectors.
func slope(images, dim int) blas32.General {
	rng, d := rand.New(rand.NewPCG(7, 0)), features.NewMatrix(images, dim)
	for i := range d.Data {
		d.Data[i] = float32(rng.NormFloat64())
	}
	return d
}

// matters is the smallest length of a weight's gradient, relative to the longest, for its cosine to count.
const matters = 1e-4

// gradients compares the gradients of all weights.
func (b *bench) gradients(n *network) (Record, error) {
	var grads [2][][]float32
	for i, rt := range []*ort.Runtime{b.cpu, b.dev} {
		l, err := live(rt, n)
		if err != nil {
			return Record{}, err
		}
		x := features.NewMatrix(b.compared, l.Dim())
		err = errors.Join(l.Forward(x, [][]float32{b.pictures(n, b.compared)}, b.compared, true),
			l.Backward(slope(b.compared, l.Dim()), false))
		for _, p := range l.Params() {
			grads[i] = append(grads[i], p.Grad)
		}
		if err = errors.Join(err, l.Close()); err != nil {
			return Record{}, err
		}
	}
	longest := 0.0
	length := func(g []float32) float64 {
		var sum float64
		for _, v := range g {
			sum += float64(v) * float64(v)
		}
		return math.Sqrt(sum)
	}
	for _, g := range grads[0] {
		longest = greater(longest, length(g))
	}
	least, most := 1.0, 0.0
	for i, g := range grads[0] {
		if length(g) < matters*longest {
			continue
		}
		cos, relative := cosine(g, grads[1][i])
		least, most = lesser(least, cos), greater(most, relative)
	}
	return Record{Values: map[string]float64{"cosine": least, "relative": most, "weights": float64(len(grads[0]))}}, nil
}

// training compares a fine-tuning step with the network's forward pass.
func training(b *bench) error {
	if err := b.open(); err != nil {
		return err
	}
	list, err := b.networks()
	if err != nil {
		return err
	}
	for _, n := range list {
		for _, batch := range b.steps {
			step := func() (Record, error) { return b.step(n, batch) }
			if err := b.measure(step, n.name, fmt.Sprint("batch ", batch)); err != nil {
				return err
			}
		}
	}
	return nil
}

// step measures a network at a batch.
func (b *bench) step(n *network, batch int) (r Record, err error) {
	pixels := b.pictures(n, batch)
	baked, err := b.dev.NewSession(n.model.Marshal(), ort.SessionOptions{Outputs: []string{n.output}})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, baked.Close()) }()
	in := []ort.Tensor{ort.Float32s(pixels, int64(batch), int64(n.channels), int64(n.side), int64(n.side))}
	out := []ort.Tensor{ort.Float32s(make([]float32, batch*n.dim), n.shape(baked.Outputs()[0], batch)...)}
	alone, err := b.seconds(func() error { return baked.Run(in, out) })
	if err != nil {
		return r, fmt.Errorf("the forward pass alone: %w", err)
	}
	l, err := live(b.dev, n)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	solver, err := train.NewSolver(train.DefaultSolver("adam"))
	if err != nil {
		return r, err
	}
	x, d := features.NewMatrix(batch, n.dim), slope(batch, n.dim)
	var parts [3]time.Duration
	runs := 0
	step, err := b.seconds(func() error {
		began := time.Now()
		if err := l.Forward(x, [][]float32{pixels}, batch, true); err != nil {
			return err
		}
		forward := time.Now()
		if err := l.Backward(d, false); err != nil {
			return err
		}
		backward := time.Now()
		solver.Step(l.Params(), 1e-9) // the gradients are random
		if runs++; runs > 2 {
			parts[0] += forward.Sub(began)
			parts[1] += backward.Sub(forward)
			parts[2] += time.Since(backward)
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	ms := func(d time.Duration) float64 { return 1e3 * d.Seconds() / float64(runs-2) }
	return Record{Values: map[string]float64{"batch": float64(batch), "alone_ms": 1e3 * alone,
		"forward_ms": ms(parts[0]), "backward_ms": ms(parts[1]), "solver_ms": ms(parts[2]),
		"forwards": step / alone, "images_per_second": float64(batch) / step}}, nil
}
