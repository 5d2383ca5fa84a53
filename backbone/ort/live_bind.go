package ort

import (
	"fmt"

	ortgo "github.com/yalue/onnxruntime_go"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// checkForward returns an error if the arguments of Forward are invalid or the network is closed.
func (l *Live) checkForward(dst blas32.General, inputs [][]float32, n int) error {
	if l.forward == nil || l.forward.run == nil {
		return fmt.Errorf("ort: live: the network is closed")
	}
	if n < 1 || dst.Rows != n || dst.Cols != l.dim || len(inputs) != len(l.sizes) {
		return fmt.Errorf("ort: live: found %d images in %d inputs into %d×%d, "+
			"expected at least one in %d inputs into %d×%d",
			n, len(inputs), dst.Rows, dst.Cols, len(l.sizes), n, l.dim)
	}
	if l.single && n > 1 {
		return fmt.Errorf("ort: live: found %d images, the network takes one at a time", n)
	}
	for i, x := range inputs {
		if len(x) != n*l.sizes[i] {
			return fmt.Errorf("ort: live: input %q: found %d floats, expected %d images of %d floats each",
				l.data[i], len(x), n, l.sizes[i])
		}
	}
	return nil
}

// outputShape returns the shape of the vectors of n images.
func (l *Live) outputShape(n int) []int64 {
	return append([]int64{int64(n), int64(l.dim)}, l.tail...)
}

// holdPass makes inputs, weights, statistics and output available to the library.
func (l *Live) holdPass(p *pass, inputs [][]float32, n int) error {
	for i, name := range l.data {
		shape := append([]int64{int64(n)}, l.shapes.rest[i]...)
		if l.place != nil {
			if err := l.sendImages(p, i, shape, inputs[i]); err != nil {
				return fmt.Errorf("ort: live: input %q: %w", name, err)
			}
			continue
		}
		if p.inputs[name] == nil {
			p.inputs[name] = new(slot)
		}
		if err := p.inputs[name].holdValue(Float32s(inputs[i], shape...)); err != nil {
			return fmt.Errorf("ort: live: input %q: %w", name, err)
		}
	}
	lists := [][]*features.Param{l.params, l.state}
	if l.place != nil {
		lists = lists[1:]
	}
	for _, list := range lists {
		for _, w := range list {
			if p.params[w.Name] == nil {
				p.params[w.Name] = new(slot)
			}
			if err := p.params[w.Name].holdValue(Float32s(w.Data, l.dims[w.Name]...)); err != nil {
				return fmt.Errorf("ort: live: weight %q: %w", w.Name, err)
			}
		}
	}
	if err := p.output.viewMemory(l.outputShape(n)); err != nil {
		return fmt.Errorf("ort: live: %w", err)
	}
	if l.place != nil {
		return l.place.uploadWeights()
	}
	return nil
}

// sendImages copies the i-th input to the device.
func (l *Live) sendImages(p *pass, i int, shape []int64, images []float32) error {
	name := l.data[i]
	if p.images[name] == nil {
		p.images[name] = new(block)
	}
	to := p.images[name]
	if err := to.hold(l.memory, Float, shape); err != nil {
		return err
	}
	if l.memory.device.CUDA {
		l.pinned.add(images)
	}
	return l.memory.copy(to.p, first(images), 4*len(images))
}

// holdKept allocates the tensors that the backward pass will read, and the new statistics.
func (l *Live) holdKept(n int) error {
	shapes, err := l.shapes.shapesFor(n)
	if err != nil {
		return err
	}
	for name, b := range l.saved {
		if shapes[name] == nil {
			return fmt.Errorf("ort: live: the shape of %q is not known", name)
		}
		if err := b.hold(l.memory, l.shapes.types[name], shapes[name]); err != nil {
			return fmt.Errorf("ort: live: keeping %q: %w", name, err)
		}
	}
	for _, s := range l.d.State {
		if l.next[s.Next] == nil {
			l.next[s.Next] = new(held)
		}
		if err := l.next[s.Next].viewMemory(l.dims[s.Name]); err != nil {
			return fmt.Errorf("ort: live: statistics %q: %w", s.Name, err)
		}
	}
	return nil
}

// holdGrads makes the memory for the gradients available to the library.
func (l *Live) holdGrads(add bool) error {
	l.adding = add
	if l.place != nil {
		return l.place.prepareGrads(add)
	}
	for i, w := range l.params {
		name := l.d.Grads[i]
		var err error
		if add {
			if l.added[name] == nil {
				l.added[name] = new(held)
			}
			err = l.added[name].viewMemory(l.dims[w.Name])
		} else {
			if l.grads[name] == nil {
				l.grads[name] = new(slot)
			}
			err = l.grads[name].holdValue(Float32s(w.Grad, l.dims[w.Name]...))
		}
		if err != nil {
			return fmt.Errorf("ort: live: gradient of %q: %w", w.Name, err)
		}
	}
	return nil
}

// tensorFinder returns a function that finds a tensor of a pass by name. It returns nil for tensors that the runtime
// must allocate.
func (l *Live) tensorFinder(p *pass) func(name string) ortgo.Value {
	return func(name string) ortgo.Value {
		if b := l.saved[name]; b != nil && b.value != nil {
			return b
		}
		if l.place != nil {
			if v := l.place.findPlaced(name, l.adding); v != nil {
				return v
			}
		}
		if b := p.images[name]; b != nil {
			return b
		}
		switch name {
		case l.d.Output:
			return p.output.value
		case l.d.GradOutput:
			return l.dOutput.value
		}
		for _, s := range []*slot{p.inputs[name], p.params[name]} {
			if s != nil {
				return s.value
			}
		}
		if h := l.next[name]; h != nil {
			return h.value
		}
		if h := l.added[name]; h != nil && l.adding {
			return h.value
		}
		if s := l.grads[name]; s != nil {
			return s.value
		}
		return nil
	}
}

// readScalar copies a result of rank 0 to dst. The wrapper keeps such results in its own memory.
func (s *slot) readScalar(dst []float32) {
	if v, ok := s.value.(*ortgo.Scalar[float32]); ok {
		dst[0] = v.GetData()
	}
}
