package ort

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
)

// What is faster depends on the device, on the shapes and on the precision: on an H200 ONNX's products win for
// convolutions of 1×1 in float32, by 2 to 6 times, and cuDNN for most in TF32. So it is measured, once in a process for
// each kind of convolution: ResNet-50 at batch 64 trains at 1,072 images/s, 755 with cuDNN for all, 853 with none.

// timing is how long one gradient takes in both ways, seconds.
type timing struct{ kernels, operators float64 }

const (
	timedRuns = 4
	// operatorsWin is how much shorter ONNX's operators must take to be chosen. Near ties then fall the same way in
	// every run.
	operatorsWin = 0.93
)

// ChooseKernels returns options for differentiating a model on this runtime: with winnow's own operators, where this
// device computes the gradients of a batch of n images faster with them. The report has a line for each kind of
// convolution that was measured.
func (r *Runtime) ChooseKernels(m *graph.Model, o gradient.Options, n int) (_ gradient.Options, report []string,
	err error) {
	o.Kernels = r.Kernels()
	if o.Kernels != gradient.ForCUDA {
		return o, nil, nil
	}
	d, err := gradient.Differentiate(m, o)
	if err != nil {
		return o, nil, err
	}
	o.Operators = map[string]bool{}
	said := map[string]bool{}
	for _, c := range d.Convolutions() {
		if len(c.In) != 3 || len(c.Of) != 4 || slices.Contains(append(slices.Clone(c.In), c.Of...), 0) {
			continue
		}
		kind := kindOf(c, n)
		t, err := r.timeConvolution(kind, c, n)
		if err != nil {
			return o, report, err
		}
		o.Operators[c.Filters] = t.operators < operatorsWin*t.kernels
		if !said[kind] {
			said[kind] = true
			report = append(report, fmt.Sprintf("%s: cuDNN %.2f ms, operators %.2f ms", kind, 1e3*t.kernels,
				1e3*t.operators))
		}
	}
	return o, report, nil
}

// kindOf describes a convolution and a batch.
func kindOf(c gradient.Convolution, n int) string {
	text := fmt.Sprintf("%d×%v by %v, strides %v, pads %v", n, c.In, c.Of, c.Node.Ints("strides"), c.Node.Ints("pads"))
	if !c.Input {
		text += ", filters alone"
	}
	return text
}

// timeConvolution measures a convolution's gradients, or remembers. Only one is measured at a time: beside each other
// both would seem slower.
func (r *Runtime) timeConvolution(kind string, c gradient.Convolution, n int) (t timing, err error) {
	r.measuring.Lock()
	defer r.measuring.Unlock()
	r.mu.Lock()
	t, ok := r.timings[kind]
	r.mu.Unlock()
	if ok {
		return t, nil
	}
	var failed, alsoFailed error // a way that does not work here is not taken
	if t.kernels, failed = r.timeGradient(c, n, gradient.ForCUDA); failed != nil {
		t.kernels = math.Inf(1)
	}
	if t.operators, alsoFailed = r.timeGradient(c, n, gradient.NoKernels); alsoFailed != nil {
		t.operators = math.Inf(1)
	}
	if failed != nil && alsoFailed != nil {
		return t, errors.Join(failed, alsoFailed)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timings == nil {
		r.timings = map[string]timing{}
	}
	r.timings[kind] = t
	return t, nil
}

// timeGradient returns the shortest time of a few runs over drawn numbers.
func (r *Runtime) timeGradient(c gradient.Convolution, n int, kernels gradient.Kernels) (_ float64, err error) {
	b := graph.NewBuilder("convolution", gradient.Opset)
	x := b.Input("x", graph.Float32, append(graph.Shape{graph.Free("N")}, graph.ShapeOf(c.In...)...))
	size := int64(1)
	for _, s := range c.Of {
		size *= s
	}
	w := b.Constant(graph.NewTensor("w", normalNumbers(int(size)), c.Of...))
	groups := c.In[0] / c.Of[1]
	y := b.Node("Conv", []string{x, w}, graph.Ints("kernel_shape", c.Of[2:]...),
		graph.Ints("strides", c.Node.Ints("strides")...), graph.Ints("dilations", c.Node.Ints("dilations")...),
		graph.Ints("pads", c.Node.Ints("pads")...), graph.Int("group", groups))
	b.Output(b.NodeTo("y", "Identity", []string{y}))
	o := gradient.Options{Output: "y", Weights: []string{w}, Kernels: kernels}
	if c.Input {
		o.Inputs = []string{x}
	}
	d, err := gradient.Differentiate(b.Model(), o)
	if err != nil {
		return 0, err
	}
	s, err := r.NewResident(d.Backward.Marshal(), SessionOptions{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	facts := graph.Infer(b.Model())
	for name, of := range map[string]string{x: x, w: w, d.GradOutput: "y"} {
		if !slices.ContainsFunc(s.session.ins, func(i Info) bool { return i.Name == name }) {
			continue
		}
		dims, all := shapeWith(facts[of], c.Of, n), 1
		for _, v := range dims {
			all *= int(v)
		}
		if err := s.Put(name, Float32s(normalNumbers(all), dims...)); err != nil {
			return 0, err
		}
	}
	for i, name := range d.Grads {
		of := w
		if i > 0 {
			of = x
		}
		if err := s.Take(name, Float, shapeWith(facts[of], c.Of, n)...); err != nil {
			return 0, err
		}
	}
	best := math.Inf(1)
	for i := range 2 + timedRuns {
		began := time.Now()
		if err := s.Run(); err != nil {
			return 0, err
		}
		if i > 1 { // the first ones load and choose
			best = min(best, time.Since(began).Seconds())
		}
	}
	return best, nil
}

// shapeWith returns a shape for n images, or that of the filters if inference has none.
func shapeWith(v *graph.ValueInfo, filters []int64, n int) []int64 {
	if v == nil {
		return filters
	}
	dims := make([]int64, len(v.Shape))
	for i, d := range v.Shape {
		if dims[i] = d.Size; !d.Known() {
			dims[i] = int64(n)
		}
	}
	return dims
}

// normalNumbers returns normal numbers, the same ones again and again.
func normalNumbers(n int) []float32 {
	rng, x := rand.New(rand.NewPCG(17, 19)), make([]float32, n)
	drawn := min(n, 1<<16)
	for i := range drawn {
		x[i] = float32(rng.NormFloat64())
	}
	for done := drawn; done > 0 && done < n; done *= 2 {
		copy(x[done:], x[:done])
	}
	return x
}
