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

// LiveOptions describe how a live network runs.
type LiveOptions struct {
	Model   *graph.Model // the model before differentiation, with the weights' initial values
	Threads int          // 0: the runtime's

	// Resident makes a [Place] for the weights, as a device has one, also on the CPU, where it gains nothing: a
	// rehearsal.
	Resident bool
}

// Live is a backbone whose weights can change: a derivative run by ONNX Runtime. It implements
// [backbone.LiveNetwork].
//
// It has three sessions. One computes the vectors and the tensors that the derivative reads, one computes the
// derivative, and a third, loaded on first use, computes the vectors alone and frees every other tensor as it goes.
// Weights and gradients are the parameters' own slices, read and written in place. What the forward pass keeps for
// the backward pass stays in the runtime's memory, allocated once and reused at every step; Go never sees it.
//
// On CUDA the weights, their gradients and what is kept are on the device, in a [Place]. While a solver there holds it,
// only images, vectors and their gradient cross the bus; else Forward copies the weights and Backward the gradients.
//
// Memory: the kept tensors, and an arena shared by all live networks of the process, as large as the largest
// working set of any of them. Close frees all of it; the arena is freed with the last network.
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
	place                    *Place // of weights and gradients on a device; nil: they are read and written in place
	pinned                   pins   // images

	kept, passing pass // tensors of a Forward with keep, and of one without
	keptRows      int  // images of the last Forward with keep; 0: none left for Backward
	grads         map[string]*slot
	next          map[string]*held // new running statistics
	added         map[string]*held // gradients to be added
	adding        bool             // the current backward pass writes to added
	dOutput       held
}

var _ backbone.LiveNetwork = (*Live)(nil)

// pass is the Go side of a forward pass.
type pass struct {
	inputs map[string]*slot
	images map[string]*block // the inputs on a device, which both passes read
	params map[string]*slot
	output held
}

// held is Go memory with the library's view of it.
type held struct {
	slot
	data []float32
}

// viewMemory makes the memory a tensor of this shape.
func (h *held) viewMemory(shape []int64) error {
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	h.data = features.Grow(h.data, int(n))
	return h.holdValue(Float32s(h.data, shape...))
}

// NewLive loads a derivative. Its data inputs must be float32 with the images along the first axis, its output
// float32 [n,D] or [n,D,1,1], its weights float32. If an input states a single image, the network takes one at a time.
func NewLive(rt *Runtime, d *gradient.Derivative, o LiveOptions) (_ *Live, err error) {
	l := &Live{
		rt: rt, d: d, options: SessionOptions{Threads: o.Threads},
		dims: map[string][]int64{}, saved: map[string]*block{},
		grads: map[string]*slot{}, next: map[string]*held{}, added: map[string]*held{},
		kept: newPass(), passing: newPass(),
	}
	if len(d.Inputs) > 0 {
		return nil, fmt.Errorf("ort: live: found a derivative by the inputs %q too, expected by the weights alone",
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

// Place returns where the weights can be trained without leaving the device, or nil: in Go's memory alone.
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

// State returns the running statistics of training BatchNorm, or none if it is frozen.
func (l *Live) State() []*features.Param { return l.state }

// Dim returns the length of a vector.
func (l *Live) Dim() int { return l.dim }

// Inputs returns the floats per image in each input.
func (l *Live) Inputs() []int { return l.sizes }

// InputNames returns the names of the tensors that the inputs feed.
func (l *Live) InputNames() []string { return l.data }

// Values returns the current weights and running statistics by the names of their initializers, for
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
		return errors.New("ort: live: Backward without a Forward with keep before it")
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

// openPlain loads the session that keeps nothing.
func (l *Live) openPlain() (_ *program, err error) {
	b := graph.Extend(l.d.Forward)
	b.SetOutputs(l.d.Output)
	b.Prune([]string{l.d.Output})
	m := b.Model()
	l.plain, err = newProgram(l.rt, m, l.options, false)
	return l.plain, err
}

// Close frees sessions and memory. Closing twice is not an error.
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
