package ort

import (
	"fmt"
	"slices"

	"winnow/backbone"
	"winnow/backbone/graph"
)

// Prefix implements [backbone.Prefix]: it runs the frozen part of a network, cut by [gradient.Split]. It must be used
// by one goroutine at a time.
type Prefix struct {
	session         *Session
	names           []string // names of the inputs
	sizes, outputs  []int    // floats per image in each input and output
	of              []int    // index of each output in the session's outputs, or -1-i for a copy of input i
	in, out         []Tensor
	inRest, outRest [][]int64 // sizes after the first axis
}

var _ backbone.Prefix = (*Prefix)(nil)

// NewPrefix loads a frozen model. outputs names the data inputs of the live part, in the live part's order: tensors
// that the model computes, or inputs of the model that the live part reads as well.
func NewPrefix(rt *Runtime, frozen *graph.Model, outputs []string) (*Prefix, error) {
	p := &Prefix{}
	facts := graph.Infer(frozen)
	for _, in := range frozen.Graph.DataInputs() {
		dims, size, err := perImage(facts, in.Name, false)
		if err != nil {
			return nil, err
		}
		p.names, p.sizes = append(p.names, in.Name), append(p.sizes, size)
		p.inRest = append(p.inRest, dims)
	}
	var wanted []string
	for _, name := range outputs {
		dims, size, err := perImage(facts, name, false)
		if err != nil {
			return nil, err
		}
		p.outputs = append(p.outputs, size)
		if at := slices.Index(p.names, name); at >= 0 {
			p.of = append(p.of, -1-at)
			continue
		}
		p.of = append(p.of, len(wanted))
		wanted, p.outRest = append(wanted, name), append(p.outRest, dims)
	}
	if len(wanted) == 0 {
		return nil, fmt.Errorf("ort: prefix: found no tensor to compute among %q", outputs)
	}
	var err error
	if p.session, err = rt.NewSession(frozen.Marshal(), SessionOptions{Outputs: wanted}); err != nil {
		return nil, err
	}
	p.in, p.out = make([]Tensor, len(p.sizes)), make([]Tensor, len(wanted))
	return p, nil
}

// perImage returns the sizes after the first axis of a tensor with one row per image, and their product. If one is
// set, the tensor may also declare a single image.
func perImage(facts map[string]*graph.ValueInfo, name string, one bool) ([]int64, int, error) {
	v := facts[name]
	if v == nil || v.Type != graph.Float32 || len(v.Shape) < 1 || v.Shape[0].Known() && !one {
		return nil, 0, fmt.Errorf("ort: live: tensor %q: found %v, "+
			"expected float32 with a free number of images along its first axis", name, v)
	}
	size, dims := 1, []int64{}
	for _, d := range v.Shape[1:] {
		if !d.Known() {
			return nil, 0, fmt.Errorf("ort: live: tensor %v: expected known sizes after the first", v)
		}
		size *= int(d.Size)
		dims = append(dims, d.Size)
	}
	return dims, size, nil
}

// Inputs returns the number of floats per image of each input.
func (p *Prefix) Inputs() []int { return p.sizes }

// Outputs returns the number of floats per image of each output.
func (p *Prefix) Outputs() []int { return p.outputs }

// Infer computes the outputs of n images.
func (p *Prefix) Infer(dst, inputs [][]float32, n int) error {
	if n < 1 || len(dst) != len(p.outputs) || len(inputs) != len(p.sizes) {
		return fmt.Errorf("ort: prefix: found %d images in %d inputs and %d outputs, "+
			"expected at least one in %d and %d", n, len(inputs), len(dst), len(p.sizes), len(p.outputs))
	}
	for i, x := range inputs {
		if len(x) != n*p.sizes[i] {
			return fmt.Errorf("ort: prefix: input %q: found %d floats, expected %d images of %d floats each",
				p.names[i], len(x), n, p.sizes[i])
		}
		p.in[i] = Float32s(x, append([]int64{int64(n)}, p.inRest[i]...)...)
	}
	for i, at := range p.of {
		if len(dst[i]) != n*p.outputs[i] {
			return fmt.Errorf("ort: prefix: output %d: found %d floats, expected %d images of %d floats each",
				i, len(dst[i]), n, p.outputs[i])
		}
		if at < 0 {
			copy(dst[i], inputs[-1-at])
			continue
		}
		p.out[at] = Float32s(dst[i], append([]int64{int64(n)}, p.outRest[at]...)...)
	}
	return p.session.Run(p.in, p.out)
}

// Close frees the model. It may be called twice.
func (p *Prefix) Close() error {
	return p.session.Close()
}
