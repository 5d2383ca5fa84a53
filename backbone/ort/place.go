package ort

import (
	"errors"
	"fmt"
	"strings"

	ortgo "github.com/yalue/onnxruntime_go"

	"winnow/backbone/graph"
	"winnow/features"
)

// Names of the vectors that every Place has.
const (
	weightsVector   = "weights"
	gradientsVector = "gradients"
	addedVector     = "gradients to add"
)

// Place keeps a live network's weights, gradients and the solver's memory on the device. It implements
// [features.Place].
//
// While the Place is not held, the network works as on the CPU: Forward copies the weights to the device and Backward
// copies the gradients back, each with one copy.
type Place struct {
	l       *Live
	layout  layout
	held    bool
	vectors map[string]*flat
	weights map[string]*view // by the names of the tensors
	grads   map[string]*view
	added   map[string]*view

	data, grad []float32 // weights and gradients in Go's memory; the parameters' slices are parts of them
	pinned     pins
	programs   map[*features.Program]*program
	numbers    held
	sum        held
}

var _ features.Place = (*Place)(nil)

// newPlace moves the parameters' slices into two arrays, one for weights and one for gradients.
func newPlace(l *Live) (_ *Place, err error) {
	p := &Place{
		l: l, layout: layOut(l.params), vectors: map[string]*flat{},
		weights: map[string]*view{}, grads: map[string]*view{}, programs: map[*features.Program]*program{},
	}
	p.data, p.grad = make([]float32, p.layout.n), make([]float32, p.layout.n)
	for i, w := range l.params {
		at, n := p.layout.at[i], len(w.Data)
		copy(p.data[at:], w.Data)
		w.Data, w.Grad = p.data[at:at+n:at+n], p.grad[at:at+n:at+n]
	}
	if l.memory.device.CUDA {
		p.pinned.add(p.data)
		p.pinned.add(p.grad)
	}
	for name, to := range map[string]map[string]*view{weightsVector: p.weights, gradientsVector: p.grads} {
		if err := p.viewParams(name, to); err != nil {
			return nil, errors.Join(err, p.closePlace())
		}
	}
	return p, nil
}

// viewParams creates a tensor for each parameter's part of a vector, by the name of the weight or of its gradient.
func (p *Place) viewParams(vector string, to map[string]*view) error {
	f, err := p.namedVector(vector)
	if err != nil {
		return err
	}
	for i, w := range p.l.params {
		name := w.Name
		if vector != weightsVector {
			name = p.l.d.Grads[i]
		}
		if to[name], err = f.tensor(p.layout.at[i], p.l.dims[w.Name]); err != nil {
			return err
		}
	}
	return nil
}

// namedVector returns the vector of this name. It creates the vector on first use.
func (p *Place) namedVector(name string) (*flat, error) {
	if f := p.vectors[name]; f != nil {
		return f, nil
	}
	f, err := p.l.memory.newFlat(p.layout.n)
	if err != nil {
		return nil, fmt.Errorf("ort: live: %s of %d numbers: %w", name, p.layout.n, err)
	}
	p.vectors[name] = f
	return f, nil
}

// Params returns the network's trained weights.
func (p *Place) Params() []*features.Param { return p.l.params }

// Hold implements [features.Place].
func (p *Place) Hold(on bool) error {
	p.held = false
	if on {
		if err := p.uploadWeights(); err != nil {
			return err
		}
	}
	p.held = on
	return nil
}

// uploadWeights copies the weights to the device.
func (p *Place) uploadWeights() error {
	if p.held {
		return nil
	}
	return p.vectors[weightsVector].put(0, p.data)
}

// downloadGrads copies the gradients to Go.
func (p *Place) downloadGrads() error {
	if p.held {
		return nil
	}
	return p.vectors[gradientsVector].get(0, p.grad)
}

// Fetch implements [features.Place].
func (p *Place) Fetch(vector string, to [][]float32) error {
	f, err := p.namedVector(vector)
	if err != nil {
		return err
	}
	if vector == weightsVector && p.ownsSlices(to) {
		return f.get(0, p.data)
	}
	for i := range to {
		err = errors.Join(err, f.get(p.layout.at[i], to[i]))
	}
	return err
}

// Store implements [features.Place].
func (p *Place) Store(vector string, from [][]float32) error {
	f, err := p.namedVector(vector)
	if err != nil {
		return err
	}
	if vector == weightsVector && p.ownsSlices(from) {
		return f.put(0, p.data)
	}
	for i := range from {
		err = errors.Join(err, f.put(p.layout.at[i], from[i]))
	}
	return err
}

// ownsSlices reports whether the slices are the parameters' Data, which are parts of one array.
func (p *Place) ownsSlices(list [][]float32) bool {
	for i, x := range list {
		if first(x) != first(p.data[p.layout.at[i]:]) {
			return false
		}
	}
	return true
}

// Run implements [features.Place].
func (p *Place) Run(what *features.Program, part features.Portion, numbers []float32) (sum float64, err error) {
	s := p.layout.whole()
	if part != features.AllWeights {
		s = p.layout.parts[part]
	}
	if s.n == 0 {
		return 0, nil
	}
	run := p.programs[what]
	if run == nil {
		m, err := graph.Read(what.Model)
		if err != nil {
			return 0, fmt.Errorf("ort: live: %w", err)
		}
		if run, err = newProgram(p.l.rt, m, p.l.options, false); err != nil {
			return 0, err
		}
		p.programs[what] = run
	}
	if err := p.numbers.viewMemory([]int64{int64(max(len(numbers), 1))}); err != nil {
		return 0, err
	}
	copy(p.numbers.data, numbers)
	if err := p.sum.viewMemory([]int64{1}); err != nil {
		return 0, err
	}
	p.sum.data[0] = 0
	err = run.runProgram(func(name string) (v ortgo.Value) {
		switch name {
		case "numbers":
			return p.numbers.value
		case "sum":
			return p.sum.value
		}
		f, missing := p.namedVector(strings.TrimSuffix(name, ".next"))
		if missing == nil {
			if of, missing := f.view(s); missing == nil {
				return of
			}
		}
		err = missing
		return nil
	})
	return float64(p.sum.data[0]), err
}

// addition is the program that adds the gradients of one chunk of a batch to those of the chunks before it.
var addition = func() *features.Program {
	b := graph.NewBuilder("add", 17)
	n := graph.Shape{graph.Free("n")}
	b.NodeTo("gradients.next", "Add", []string{b.Input(gradientsVector, graph.Float32, n),
		b.Input(addedVector, graph.Float32, n)})
	b.SetOutputs("gradients.next")
	return &features.Program{Model: b.Model().Marshal()}
}()

// prepareGrads allocates memory for gradients to be added.
func (p *Place) prepareGrads(add bool) (err error) {
	if !add || p.added != nil {
		return nil
	}
	p.added = map[string]*view{}
	return p.viewParams(addedVector, p.added)
}

// collectGrads completes a backward pass: it adds the new gradients if add is set, and downloads the result.
func (p *Place) collectGrads(add bool) error {
	if add {
		if _, err := p.Run(addition, features.AllWeights, nil); err != nil {
			return err
		}
	}
	return p.downloadGrads()
}

// findPlaced returns the tensor of a weight or a gradient, or nil for other names.
func (p *Place) findPlaced(name string, adding bool) ortgo.Value {
	grads := p.grads
	if adding {
		grads = p.added
	}
	for _, list := range []map[string]*view{p.weights, grads} {
		if v := list[name]; v != nil {
			return v
		}
	}
	return nil
}

// closePlace frees programs and memory.
func (p *Place) closePlace() (err error) {
	for _, list := range []map[string]*view{p.weights, p.grads, p.added} {
		for _, v := range list {
			v.free()
		}
	}
	for _, f := range p.vectors {
		f.free()
	}
	for _, run := range p.programs {
		err = errors.Join(err, run.closeProgram())
	}
	p.numbers.dropValue()
	p.sum.dropValue()
	p.pinned.free()
	p.programs, p.vectors, p.weights, p.grads, p.added = nil, nil, nil, nil, nil
	return err
}
