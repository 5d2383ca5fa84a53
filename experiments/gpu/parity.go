package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone/ort"
	"winnow/features"
)

// parity compares features and gradients of every network with the CPU's, float32 first. Finally it compares gradients
// of the device and of the CPU with gradients in float64.
func parity(b *bench) error {
	if err := b.open(); err != nil {
		return err
	}
	list, err := b.networks()
	if err != nil {
		return err
	}
	for _, n := range list {
		if err := errors.Join(b.sameFeatures(n, b.precisions()[:1]), b.sameGradients(n)); err != nil {
			return err
		}
	}
	for _, n := range list {
		if err := b.sameFeatures(n, b.precisions()[1:]); err != nil {
			return err
		}
	}
	for _, n := range list {
		if !n.inFloat64() {
			continue
		}
		if err := b.exactly(n); err != nil {
			return err
		}
	}
	return nil
}

// sameFeatures compares a network's features in the given precisions with the CPU's.
func (b *bench) sameFeatures(n *network, list []precision) error {
	var want blas32.General
	for _, p := range list {
		err := b.measure(func() (Record, error) {
			if want.Data == nil {
				var err error
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

// slope returns a random gradient of the vectors.
func slope(images, dim int) blas32.General {
	rng, d := rand.New(rand.NewPCG(7, 0)), features.NewMatrix(images, dim)
	for i := range d.Data {
		d.Data[i] = float32(rng.NormFloat64())
	}
	return d
}

// matters is the smallest relative length of a weight's gradient with which the weight is compared.
const matters = 1e-4

// derived holds the gradients and steps that a way computes for a network and images.
type derived struct {
	names []string
	grads [][]float32
	moved [][]float32 // changes of the weights by a few steps of the solver
}

// stepsTried is the number of the solver's steps that are compared.
const stepsTried = 3

// derive computes the gradients of all weights, then runs stepsTried steps of the solver.
func (b *bench) derive(t *trained, n *network) (r derived, err error) {
	defer func() { err = errors.Join(err, t.Close()) }()
	x, d, pixels := features.NewMatrix(b.compared, n.dim), slope(b.compared, n.dim), b.pictures(n, b.compared)
	for _, p := range t.Params() {
		r.names = append(r.names, p.Name)
		r.moved = append(r.moved, slices.Clone(p.Data))
	}
	if err := errors.Join(t.Forward(x, [][]float32{pixels}, b.compared, true), t.Backward(d, false),
		t.settle()); err != nil {
		return r, err
	}
	for _, p := range t.Params() {
		r.grads = append(r.grads, slices.Clone(p.Grad))
	}
	for range stepsTried {
		if _, err := t.step(x, pixels, d, 1e-5); err != nil {
			return r, err
		}
	}
	if err := t.settle(); err != nil {
		return r, err
	}
	for i, p := range t.Params() {
		for j, was := range r.moved[i] {
			r.moved[i][j] = p.Data[j] - was
		}
	}
	return r, nil
}

// gap holds the differences between the results of two ways.
type gap struct {
	least, most float64 // cosine and relative difference of the weight's gradient that differs most
	moved       float64 // relative difference between the changes of all weights
	weights     []apart // the compared weights, those that differ most first
}

// apart holds the relative difference between two gradients of a weight.
type apart struct {
	name string
	off  float64
}

// far returns off, or +Inf if off is NaN.
func (a apart) far() float64 {
	if math.IsNaN(a.off) {
		return math.Inf(1)
	}
	return a.off
}

// worst returns the name of the weight that differs most.
func (g gap) worst() string {
	if len(g.weights) == 0 {
		return "none"
	}
	return g.weights[0].name
}

// worstFew returns the names of the weights that differ most, with their relative differences.
func (g gap) worstFew() (list []string) {
	for _, w := range g.weights[:min(3, len(g.weights))] {
		list = append(list, fmt.Sprintf("%s %.1e", w.name, w.off))
	}
	return list
}

// compare returns the gap between the expected results, want, and got.
func compare(want, got derived) gap {
	longest := 0.0
	length := func(g []float32) float64 {
		var sum float64
		for _, v := range g {
			sum += float64(v) * float64(v)
		}
		return math.Sqrt(sum)
	}
	for _, g := range want.grads {
		longest = greater(longest, length(g))
	}
	a := gap{least: 1}
	for i, g := range want.grads {
		if length(g) < matters*longest {
			continue
		}
		cos, relative := cosine(g, got.grads[i])
		a.weights = append(a.weights, apart{want.names[i], relative})
		a.least, a.most = lesser(a.least, cos), greater(a.most, relative)
	}
	slices.SortStableFunc(a.weights, func(a, b apart) int { return cmp.Compare(b.far(), a.far()) })
	if want.moved != nil {
		_, a.moved = cosine(slices.Concat(want.moved...), slices.Concat(got.moved...))
	}
	return a
}

// sameGradients compares the gradients of all weights and the solver's steps in every way with the CPU's. It also
// compares cuDNN's gradients with those of ONNX operators on the device.
func (b *bench) sameGradients(n *network) error {
	found := map[string]derived{} // by way; "": the CPU's
	get := func(name string, open func() (*trained, error)) (derived, error) {
		if d, ok := found[name]; ok {
			return d, nil
		}
		t, err := open()
		if err != nil {
			return derived{}, err
		}
		d, err := b.derive(t, n)
		if err == nil {
			found[name] = d
		}
		return d, err
	}
	list := ways()
	slices.Reverse(list) // operators first, because the other ways are compared with them
	base := list[0]
	inWay := func(w way) (derived, error) {
		return get(w.name, func() (*trained, error) { return b.openTrained(n, w, false) })
	}
	for _, w := range list {
		err := b.measureWay(w, func() (Record, error) {
			cpu, err := get("", func() (*trained, error) { return newTrained(b.cpu, n, ways()[0]) })
			if err != nil {
				return Record{}, fmt.Errorf("on the CPU: %w", err)
			}
			got, err := inWay(w)
			if err != nil {
				return Record{}, err
			}
			g := compare(cpu, got)
			r := Record{Values: map[string]float64{"cosine": g.least, "relative": g.most, "moved": g.moved,
				"weights": float64(len(cpu.grads))}, Text: "worst: " + g.worst()}
			if before := b.part.find(n.name, "gradients", base.name); w != base && before != nil && before.Error == "" {
				operators, err := inWay(base)
				if err != nil {
					return r, err
				}
				g = compare(operators, got)
				r.Values["beside_operators"], r.Text = g.most, r.Text+"; beside operators: "+g.worst()
			}
			return r, nil
		}, n.name, "gradients", w.name)
		if err != nil {
			return err
		}
	}
	return nil
}
