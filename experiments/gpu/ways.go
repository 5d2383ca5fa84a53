package main

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone/graph/gradient"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/train"
)

// way is a way to train a network on the device.
type way struct {
	name    string
	kernels bool // use cuDNN's gradients and winnow's kernels instead of only ONNX operators
}

// ways returns all ways; the first is winnow's default.
func ways() []way {
	return []way{{"cuDNN", true}, {"operators", false}}
}

// trained is a network that is trained in one way, with its solver.
type trained struct {
	*ort.Live
	solver train.Solver
}

// newTrained opens a network, all of whose weights are trained in a way, and creates its solver.
func newTrained(rt *ort.Runtime, n *network, w way) (*trained, error) {
	weights, err := gradient.Choose(n.model, n.output, gradient.AllWeights)
	if err != nil {
		return nil, err
	}
	o := gradient.Options{Output: n.output, Weights: weights, TF32: rt.TF32()}
	if w.kernels {
		if why := rt.WithoutKernels(); why != "" {
			return nil, errors.New(why)
		}
		o.Kernels = rt.Kernels()
	}
	d, err := gradient.Differentiate(n.model, o)
	if err != nil {
		return nil, err
	}
	l, err := ort.NewLive(rt, d, ort.LiveOptions{Model: n.model})
	if err != nil {
		return nil, err
	}
	var solver train.Solver
	if place := l.Place(); place == nil {
		solver, err = train.NewSolver(train.DefaultSolver("adam"))
	} else if err = place.Hold(true); err == nil {
		solver, err = train.NewPlacedSolver(train.DefaultSolver("adam"), place)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &trained{l, solver}, nil
}

// settle copies weights and gradients from the device to Params.
func (t *trained) settle() error {
	place := t.Place()
	if place == nil {
		return nil
	}
	var data, grads [][]float32
	for _, p := range t.Params() {
		data, grads = append(data, p.Data), append(grads, p.Grad)
	}
	return errors.Join(place.Fetch("weights", data), place.Fetch("gradients", grads))
}

// openTrained opens a network for training in a way and a precision.
func (b *bench) openTrained(n *network, w way, tf32 bool) (*trained, error) {
	rt, err := b.device(ort.GPU{TF32: tf32})
	if err != nil {
		return nil, err
	}
	return newTrained(rt, n, w)
}

// spent holds the times of the phases of a step.
type spent struct{ forward, backward, solver time.Duration }

// step runs a training step: it computes the images' vectors, the gradients of all weights, and new weights.
func (t *trained) step(x blas32.General, pixels []float32, d blas32.General, rate float64) (s spent, err error) {
	began := time.Now()
	if err := t.Forward(x, [][]float32{pixels}, x.Rows, true); err != nil {
		return s, err
	}
	forward := time.Now()
	if err := t.Backward(d, false); err != nil {
		return s, err
	}
	backward := time.Now()
	t.solver.Step(t.Params(), rate)
	return spent{forward.Sub(began), backward.Sub(forward), time.Since(backward)}, nil
}

// pace measures training steps with a batch: images per second, and the times of the phases of a step.
func (b *bench) pace(t *trained, n *network, batch int) (Record, error) {
	x, d, pixels := features.NewMatrix(batch, n.dim), slope(batch, n.dim), b.pictures(n, batch)
	var sum spent
	var busy time.Duration
	runs := 0
	took, err := b.seconds(func() error {
		if runs++; runs == warmUps+1 {
			busy = processorTime()
		}
		s, err := t.step(x, pixels, d, 1e-9) // the gradients are random
		if runs > warmUps {
			sum = spent{sum.forward + s.forward, sum.backward + s.backward, sum.solver + s.solver}
		}
		return err
	})
	if err != nil {
		return Record{}, err
	}
	busy = processorTime() - busy
	ms := func(d time.Duration) float64 { return 1e3 * d.Seconds() / float64(runs-warmUps) }
	return Record{Values: map[string]float64{"batch": float64(batch), "images_per_second": float64(batch) / took,
		"step_ms": 1e3 * took, "forward_ms": ms(sum.forward), "backward_ms": ms(sum.backward),
		"solver_ms": ms(sum.solver), "processor_ms": ms(busy)}}, nil
}

// processorTime returns the CPU time of all threads of this process.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// opened keeps networks open between measurements, because opening a network takes longer than measuring it.
type opened struct {
	list []openedOne
}

type openedOne struct {
	key   string
	batch int // largest batch so far
	*trained
}

// mostOpen is the largest number of images that all open networks together hold on the device.
const mostOpen = 384

// get returns an open network or opens it. It first closes the oldest networks if memory would become scarce.
func (o *opened) get(key string, batch int, open func() (*trained, error)) (*trained, error) {
	if i := slices.IndexFunc(o.list, func(e openedOne) bool { return e.key == key }); i >= 0 {
		e := o.list[i] // now the newest
		e.batch = max(e.batch, batch)
		o.list = append(slices.Delete(o.list, i, i+1), e)
		return e.trained, o.shrink(0)
	}
	if err := o.shrink(batch); err != nil {
		return nil, err
	}
	t, err := open()
	if err == nil {
		o.list = append(o.list, openedOne{key, batch, t})
	}
	return t, err
}

// shrink closes the oldest networks until there is room for more images. With more = 0 it keeps the newest network.
func (o *opened) shrink(more int) error {
	sum := more
	for _, e := range o.list {
		sum += e.batch
	}
	for sum > mostOpen && len(o.list) > 0 && (more > 0 || len(o.list) > 1) {
		sum -= o.list[0].batch
		err := o.list[0].Close()
		if o.list = o.list[1:]; err != nil {
			return fmt.Errorf("closing: %w", err)
		}
	}
	return nil
}

// close closes all networks. It ignores errors, because it is called at the end or after an error.
func (o *opened) close() {
	for _, e := range o.list {
		_ = e.Close()
	}
	o.list = nil
}
