package tuning

import (
	"fmt"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
)

// newPrefix loads the frozen part.
func (t *Live) newPrefix() error {
	if t.Cut.Batch == 1 {
		p, err := newSingly(t.rt, t.frozen, t.net.InputNames())
		if err == nil {
			t.prefix = p
		}
		return err
	}
	p, err := ort.NewPrefix(t.rt, t.frozen, t.net.InputNames())
	if err == nil {
		t.prefix = p
	}
	return err
}

// singly is the frozen part of a network that takes one image at a time. The first axis of what it reads and computes
// is 1.
type singly struct {
	session        *ort.Session
	sizes, outputs []int
	in, out        [][]int64 // shapes
	of             []int     // position of each output among the session's, or -1 for a copy of the image
}

// newSingly loads a frozen model. outputs are the inputs of the live part, in its order.
func newSingly(rt *ort.Runtime, frozen *graph.Model, outputs []string) (*singly, error) {
	s, facts := &singly{}, graph.Infer(frozen)
	shape := func(name string) (dims []int64, size int, err error) {
		v := facts[name]
		if v == nil || v.Type != graph.Float32 {
			return nil, 0, fmt.Errorf("finetune: tensor %q: found %v, expected float32", name, v)
		}
		size = 1
		for _, d := range v.Shape {
			if !d.Known() {
				return nil, 0, fmt.Errorf("finetune: tensor %v: expected known sizes", v)
			}
			dims, size = append(dims, d.Size), size*int(d.Size)
		}
		return dims, size, nil
	}
	image := frozen.Graph.DataInputs()[0].Name
	dims, size, err := shape(image)
	if err != nil {
		return nil, err
	}
	s.sizes, s.in = []int{size}, [][]int64{dims}
	var wanted []string
	for _, name := range outputs {
		dims, size, err := shape(name)
		if err != nil {
			return nil, err
		}
		if s.outputs = append(s.outputs, size); name == image {
			s.of = append(s.of, -1)
			continue
		}
		s.of, wanted, s.out = append(s.of, len(wanted)), append(wanted, name), append(s.out, dims)
	}
	s.session, err = rt.NewSession(frozen.Marshal(), ort.SessionOptions{Outputs: wanted})
	return s, err
}

func (s *singly) Inputs() []int  { return s.sizes }
func (s *singly) Outputs() []int { return s.outputs }
func (s *singly) Close() error   { return s.session.Close() }

// Infer computes the outputs of n images, one after the other.
func (s *singly) Infer(dst, inputs [][]float32, n int) error {
	out := make([]ort.Tensor, len(s.out))
	for k := range n {
		image := inputs[0][k*s.sizes[0]:][:s.sizes[0]]
		for i, at := range s.of {
			part := dst[i][k*s.outputs[i]:][:s.outputs[i]]
			if at < 0 {
				copy(part, image)
				continue
			}
			out[at] = ort.Float32s(part, s.out[at]...)
		}
		if err := s.session.Run([]ort.Tensor{ort.Float32s(image, s.in[0]...)}, out); err != nil {
			return err
		}
	}
	return nil
}
