package tuning

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/features"
)

// newCountedNetwork returns a network as its images are counted: one of a fixed batch is loaded as a network of one
// group.
func (t *Live) newCountedNetwork(net *ort.Live) backbone.LiveNetwork {
	if t.Cut.Batch > 1 {
		return &filled{Live: net, batch: t.Cut.Batch}
	}
	return net
}

// filled is a network of a fixed batch. A smaller batch is filled with copies of its first image, whose gradients are
// 0: they change nothing, unless the network normalises by the batch.
type filled struct {
	*ort.Live
	batch  int
	inputs [][]float32
	x, d   blas32.General
}

// Ahead does nothing: Forward fills the inputs.
func (f *filled) Ahead([][]float32, int) error { return nil }

func (f *filled) Dim() int { return f.Live.Dim() / f.batch }

func (f *filled) Inputs() []int {
	sizes := slices.Clone(f.Live.Inputs())
	for i := range sizes {
		sizes[i] /= f.batch
	}
	return sizes
}

// Forward computes the vectors of at most batch images.
func (f *filled) Forward(dst blas32.General, inputs [][]float32, n int, keep bool) error {
	sizes := f.Inputs()
	if n < 1 || n > f.batch || dst.Rows != n || dst.Cols != f.Dim() || len(inputs) != len(sizes) {
		return fmt.Errorf("finetune: found %d images in %d inputs into %d×%d, expected 1 to %d images", n, len(inputs),
			dst.Rows, dst.Cols, f.batch)
	}
	if f.inputs == nil {
		f.inputs = make([][]float32, len(sizes))
	}
	for i, size := range sizes {
		f.inputs[i] = features.Grow(f.inputs[i], f.batch*size)
		copy(f.inputs[i], inputs[i][:n*size])
		for k := n; k < f.batch; k++ {
			copy(f.inputs[i][k*size:], inputs[i][:size])
		}
	}
	f.x = features.Resize(f.x, 1, f.batch*f.Dim())
	if err := f.Live.Forward(f.x, f.inputs, 1, keep); err != nil {
		return err
	}
	for i := range n {
		copy(features.Row(dst, i), f.x.Data[i*f.Dim():(i+1)*f.Dim()])
	}
	return nil
}

// Backward computes the gradients of the last Forward with keep.
func (f *filled) Backward(d blas32.General, add bool) error {
	f.d = features.Resize(f.d, 1, f.batch*f.Dim())
	clear(f.d.Data)
	for i := range d.Rows {
		copy(f.d.Data[i*f.Dim():], features.Row(d, i))
	}
	return f.Live.Backward(f.d, add)
}

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
