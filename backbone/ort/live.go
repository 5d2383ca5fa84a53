package ort

import (
	"errors"
	"fmt"

	"github.com/viterin/vek/vek32"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/features"
)

// LiveOptions holds the settings of a live network.
type LiveOptions struct {
	Model   *graph.Model // the model before differentiation, with the weights' initial values
	Threads int          // 0: the runtime's

	// Resident creates a [Place] for the weights on the CPU as well. Only tests use it: it brings no gain there.
	Resident bool
}

// Live is a backbone whose weights can change. It runs a derivative with ONNX Runtime and implements
// [backbone.LiveNetwork].
//
// It has three sessions. The first computes the vectors and the tensors that the derivative reads, the second computes
// the derivative. The third, loaded on first use, computes only the vectors and frees every other tensor as soon as
// possible. Weights and gradients are read and written in place, in the parameters' own slices. Tensors kept for the
// backward pass stay in the runtime's memory, allocated once and reused at every step; Go does not access them.
//
// On CUDA the weights, their gradients and the kept tensors are on the device, in a [Place]. While a solver on the
// device holds the Place, only images, vectors and their gradient cross the bus; otherwise Forward copies the weights
// and Backward the gradients.
//
// The memory consists of the kept tensors and an arena shared by all live networks of the process, as large as the
// largest working set of any of them. Close frees the network's memory; the arena is freed with the last network.
type Live struct {
	rt     *Runtime
	d      *gradient.Derivative
	shapes *batchShapes
	dim    int
	tail   []int64 // sizes after D in the output, each 1
	sizes  []int   // floats per image in each data input
	data   []string
	single bool // the model takes one image at a time

	params, state []*features.Param
	dims          map[string][]int64 // shapes of params and state in ONNX

	forward, plain, backward *program
	options                  SessionOptions
	memory                   *memory
	joined                   bool // has joined the shared arena
	saved                    map[string]*block
	place                    *Place // place of weights and gradients on a device; nil: they are used in Go's memory
	pinned                   pins   // pinned memory of the images

	kept, passing pass // tensors of a Forward with keep, and of a Forward without
	keptRows      int  // images of the last Forward with keep; 0: Backward has no Forward
	grads         map[string]*slot
	next          map[string]*held // new running statistics
	added         map[string]*held // gradients to be added
	adding        bool             // the current backward pass writes to added
	dOutput       held
}

var _ backbone.LiveNetwork = (*Live)(nil)

// pass holds the Go side of a forward pass.
type pass struct {
	inputs map[string]*slot
	images map[string]*block // inputs on a device, which both passes read
	params map[string]*slot
	output held
}

// held is a tensor in Go's memory together with the library's view of it.
type held struct {
	slot
	data []float32
}

// viewMemory allocates the memory for this shape if needed, and makes it a tensor of the library.
func (h *held) viewMemory(shape []int64) error {
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	h.data = features.Grow(h.data, int(n))
	return h.holdValue(Float32s(h.data, shape...))
}

// NewLive loads a derivative. Its data inputs must be float32 with the images along the first axis, its output float32
// [n,D] or [n,D,1,1], its weights float32. If an input declares a single image, the network takes one image at a time.
func NewLive(rt *Runtime, d *gradient.Derivative, o LiveOptions) (_ *Live, err error) {
	l := &Live{
		rt: rt, d: d, options: SessionOptions{Threads: o.Threads},
		dims: map[string][]int64{}, saved: map[string]*block{},
		grads: map[string]*slot{}, next: map[string]*held{}, added: map[string]*held{},
		kept: newPass(), passing: newPass(),
	}
	if len(d.Inputs) > 0 {
		return nil, fmt.Errorf("ort: live: found a derivative with respect to the inputs %q, expected the weights only",
			d.Inputs)
	}
	if err := l.readModel(o.Model); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if err = joinArena(rt.library); err != nil {
		return nil, err
	}
	l.joined = true
	if l.forward, err = newProgram(rt, d.Forward, l.options, false); err != nil {
		return nil, err
	}
	if l.backward, err = newProgram(rt, inMemoryOrder(d.Backward), l.options, true); err != nil {
		return nil, err
	}
	if l.memory, err = newMemory(rt.library, rt.sessionDevice(l.options), l.forward.run); err != nil {
		return nil, err
	}
	for _, name := range d.Saved {
		l.saved[name] = new(block)
	}
	if rt.sessionDevice(l.options).CUDA || o.Resident {
		l.place, err = newPlace(l)
	}
	return l, err
}

// Place returns where the weights can be trained without leaving the device, or nil if the weights are in Go's memory.
func (l *Live) Place() features.Place {
	if l.place == nil {
		return nil
	}
	return l.place
}

func newPass() pass {
	return pass{inputs: map[string]*slot{}, images: map[string]*block{}, params: map[string]*slot{}}
}

// Params returns the trained weights in the derivative's order.
func (l *Live) Params() []*features.Param { return l.params }

// State returns the running statistics of BatchNorm layers in training; there are none if BatchNorm is frozen.
func (l *Live) State() []*features.Param { return l.state }

// Dim returns the length of a vector.
func (l *Live) Dim() int { return l.dim }

// Inputs returns the number of floats per image of each input.
func (l *Live) Inputs() []int { return l.sizes }

// InputNames returns the names of the model's data inputs.
func (l *Live) InputNames() []string { return l.data }

// Values returns the current weights and running statistics by the names of their initializers, for use with
// [graph.WithValues]. The slices are the parameters' own.
func (l *Live) Values() map[string][]float32 {
	values := map[string][]float32{}
	for _, list := range [][]*features.Param{l.params, l.state} {
		for _, p := range list {
			values[p.Name] = p.Data
		}
	}
	return values
}

// Forward computes the vectors of n images; see [backbone.LiveNetwork].
func (l *Live) Forward(dst blas32.General, inputs [][]float32, n int, keep bool) error {
	if err := l.checkForward(dst, inputs, n); err != nil {
		return err
	}
	p, run := &l.passing, l.plain
	if keep {
		p, run = &l.kept, l.forward
		l.keptRows = 0
	} else if run == nil {
		var err error
		if run, err = l.openPlain(); err != nil {
			return err
		}
	}
	if err := l.holdPass(p, inputs, n); err != nil {
		return err
	}
	if keep {
		if err := l.holdKept(n); err != nil {
			return err
		}
	}
	if err := run.runProgram(l.tensorFinder(p)); err != nil {
		return err
	}
	for i := range dst.Rows {
		copy(features.Row(dst, i), p.output.data[i*l.dim:])
	}
	if keep {
		l.keptRows = n
		for i, s := range l.d.State {
			copy(l.state[i].Data, l.next[s.Next].data)
			l.next[s.Next].readScalar(l.state[i].Data)
		}
	}
	return nil
}

// Backward computes the gradients of the last Forward with keep; see [backbone.LiveNetwork].
func (l *Live) Backward(d blas32.General, add bool) error {
	n := l.keptRows
	if n == 0 {
		return errors.New("ort: live: Backward needs a Forward with keep before it")
	}
	if d.Rows != n || d.Cols != l.dim {
		return fmt.Errorf("ort: live: gradient of the vectors: found %d×%d, expected %d×%d", d.Rows, d.Cols, n, l.dim)
	}
	l.keptRows = 0
	if err := l.dOutput.viewMemory(l.outputShape(n)); err != nil {
		return fmt.Errorf("ort: live: %w", err)
	}
	for i := range n {
		copy(l.dOutput.data[i*l.dim:(i+1)*l.dim], features.Row(d, i))
	}
	if err := l.holdGrads(add); err != nil {
		return err
	}
	if err := l.backward.runProgram(l.tensorFinder(&l.kept)); err != nil {
		return err
	}
	if l.place != nil {
		return l.place.collectGrads(add)
	}
	for i, p := range l.params {
		name := l.d.Grads[i]
		if !add {
			l.grads[name].readScalar(p.Grad)
			continue
		}
		from := l.added[name]
		from.readScalar(from.data)
		vek32.Add_Inplace(p.Grad, from.data)
	}
	return nil
}

// openPlain loads the session that computes only the vectors.
func (l *Live) openPlain() (_ *program, err error) {
	b := graph.Extend(l.d.Forward)
	b.SetOutputs(l.d.Output)
	b.Prune([]string{l.d.Output})
	m := b.Model()
	l.plain, err = newProgram(l.rt, m, l.options, false)
	return l.plain, err
}

// Close frees sessions and memory. It may be called twice.
func (l *Live) Close() error {
	for _, b := range l.saved {
		b.free()
	}
	var err error
	if l.place != nil {
		err = l.place.closePlace()
	}
	l.pinned.free()
	for _, p := range []*pass{&l.kept, &l.passing} {
		for _, list := range []map[string]*slot{p.inputs, p.params} {
			for _, s := range list {
				s.dropValue()
			}
		}
		for _, b := range p.images {
			b.free()
		}
		p.output.dropValue()
	}
	for _, s := range l.grads {
		s.dropValue()
	}
	for _, list := range []map[string]*held{l.next, l.added} {
		for _, h := range list {
			h.dropValue()
		}
	}
	l.dOutput.dropValue()
	l.keptRows = 0
	if l.memory != nil {
		err = errors.Join(err, l.memory.close())
	}
	for _, p := range []*program{l.plain, l.forward, l.backward} {
		if p != nil {
			err = errors.Join(err, p.closeProgram())
		}
	}
	if l.joined {
		l.joined = false
		err = errors.Join(err, leaveArena(l.rt.library))
	}
	return err
}
