package ort_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/internal/testing/reference"
	"winnow/train"
)

// noGPU is the folder of an ONNX Runtime with its CUDA provider. Tests with it run that provider on a stand-in for CUDA
// (internal/testing/nogpu), which computes nothing but copies and products: what is seen is that winnow asks it
// rightly.
const noGPU = "WINNOW_NOGPU"

// TestNoGPU runs the tests below in a process whose loader finds the stand-in. make gpu-rehearsal calls it.
func TestNoGPU(t *testing.T) {
	folder := os.Getenv(noGPU)
	if folder == "" {
		t.Skipf("%s is not set: the CUDA provider is NOT tried on a stand-in; make gpu-rehearsal does", noGPU)
	}
	stand := t.TempDir()
	build := exec.Command("sh", filepath.Join(reference.Root(t), "internal", "testing", "nogpu", "build.sh"), stand,
		filepath.Join(folder, "libonnxruntime_providers_cuda.so"))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, c := range []struct {
		test string
		env  []string
	}{
		{"TestOnNoGPU", nil},
		{"TestKernelsOnNoGPU", nil},
		{"TestChooseOnNoGPU", nil},
		{"TestCopiesOnNoGPU", []string{"NOGPU_COPIES=" + filepath.Join(stand, "copies")}},
		{"TestPrecisionNoGPU", nil},
		{"TestLanesNoGPU", nil},
		{"TestFullNoGPU", []string{"NOGPU_MIB=100"}},
		{"TestBrokenNoGPU", []string{"NOGPU_ERROR=35",
			"WANT=CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version"}},
		{"TestBrokenNoGPU", []string{"NOGPU_ERROR=100", "WANT=CUDA failure 100: no CUDA-capable device is detected"}},
		{"TestBrokenNoGPU", []string{"DEVICE=cuda:7",
			"WANT=Invalid device ID: 7, must be between 0 (inclusive) and 1 (exclusive)."}},
	} {
		cmd := exec.Command(os.Args[0], "-test.run", "^"+c.test+"$", "-test.v")
		cmd.Env = append(append(os.Environ(), "NOGPU_LIBRARY="+filepath.Join(folder, "libonnxruntime.so.1"),
			"LD_LIBRARY_PATH="+stand), c.env...)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+c.test) {
			t.Errorf("%s %q: %v: %s", c.test, c.env, err, out)
		}
	}
}

// standIn loads the runtime on the stand-in, and on the CPU.
func standIn(t *testing.T, gpu ort.GPU) (cuda, cpu *ort.Runtime) {
	t.Helper()
	library := os.Getenv("NOGPU_LIBRARY")
	if library == "" {
		t.Skip("TestNoGPU runs this in a process of its own")
	}
	cuda, err := ort.Load(ort.Config{Library: library, Device: "cuda", GPU: gpu})
	if err != nil {
		t.Fatal(err)
	}
	if cpu, err = ort.Load(ort.Config{Library: library}); err != nil {
		t.Fatal(err)
	}
	return cuda, cpu
}

// matMul is q [N,d] times g [d,M].
func matMul(d int64) []byte {
	b := graph.NewBuilder("product", 17)
	q := b.Input("q", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(d)})
	g := b.Input("g", graph.Float32, graph.Shape{graph.Fixed(d), graph.Free("M")})
	b.Output(b.NodeTo("s", "MatMul", []string{q, g}))
	return b.Model().Marshal()
}

// Tensors are copied to the device, stay there, are replaced and come back; so are a live network's weights,
// kept tensors and gradients.
func TestOnNoGPU(t *testing.T) {
	cuda, cpu := standIn(t, ort.GPU{})
	var found [2][]float32
	for i, rt := range []*ort.Runtime{cpu, cuda} {
		d, err := rt.NewResident(matMul(4), ort.SessionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s := make([]float32, 5*7)
		for _, err := range []error{d.Put("q", ort.Float32s(drawnFloats(1, 20), 5, 4)),
			d.Put("g", ort.Float32s(drawnFloats(2, 28), 4, 7)), d.Take("s", ort.Float, 5, 7), d.Run(),
			d.Put("q", ort.Float32s(drawnFloats(3, 20), 5, 4)), d.Run(), d.Fetch("s",
				ort.Float32s(s, 5, 7)), d.Close()} {
			if err != nil {
				t.Fatal(err)
			}
		}
		found[i] = s
	}
	if off := furthest(found[0], found[1]); off > 1e-6 || slices.Max(found[0]) == 0 {
		t.Errorf("products are off by %g", off)
	}

	b := graph.NewBuilder("live", 17)
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(6)})
	y := b.Node("MatMul", []string{x, b.Constant(graph.NewTensor("a", drawnFloats(1, 18), 6, 3))})
	b.Output(b.NodeTo("features", "MatMul", []string{y, b.Constant(graph.NewTensor("b", drawnFloats(2, 15), 3, 5))}))
	m := b.Model()
	for i, rt := range []*ort.Runtime{cpu, cuda} {
		d, err := gradient.Differentiate(m,
			gradient.Options{Output: "features", Weights: []string{"a", "b"}, Kernels: rt.Kernels()})
		if err != nil {
			t.Fatal(err)
		}
		l, err := ort.NewLive(rt, d, ort.LiveOptions{Model: m})
		if err != nil {
			t.Fatal(err)
		}
		out, slope := features.NewMatrix(2, 5), features.NewMatrix(2, 5)
		copy(slope.Data, drawnFloats(9, 10))
		for range 2 { // the second sees weights that have moved
			if err := l.Forward(out, [][]float32{drawnFloats(4, 12)}, 2, true); err != nil {
				t.Fatal(err)
			}
			if err := l.Backward(slope, false); err != nil {
				t.Fatal(err)
			}
			for _, p := range l.Params() {
				for j, g := range p.Grad {
					p.Data[j] -= 0.1 * g
				}
			}
		}
		found[i] = slices.Concat(out.Data, l.Params()[0].Grad, l.Params()[1].Grad)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if off := furthest(found[0], found[1]); off > 1e-5 {
		t.Errorf("a live network's numbers are off by %g", off)
	}
}

// windowed is a convolution to try.
type windowed struct {
	in, out, kernel, stride, dilation, pad, groups int64
	relu, pool                                     bool
}

// model is x → Conv 1×1 → the convolution → Relu, so that the gradient by the second's input matters.
func (w windowed) model() *graph.Model {
	b := graph.NewBuilder("windows", 17)
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(2), graph.Fixed(9), graph.Fixed(7)})
	weight := weights(b)
	y := b.Node("Conv", []string{x, weight("a", 1, w.in, 2, 1, 1), weight("a.bias", 2, w.in)})
	filters := weight("b", 3, w.out, w.in/w.groups, w.kernel, w.kernel)
	y = b.Node("Conv", []string{y, filters, weight("b.bias", 4, w.out)},
		graph.Ints("strides", w.stride, w.stride), graph.Ints("dilations", w.dilation, w.dilation),
		graph.Ints("pads", w.pad, w.pad, w.pad, w.pad), graph.Int("group", w.groups))
	if w.relu {
		y = b.Node("Relu", []string{y})
	}
	if w.pool { // overlapping windows, and padding
		y = b.Node("MaxPool", []string{y}, graph.Ints("kernel_shape", 3, 3), graph.Ints("strides", 2, 2),
			graph.Ints("pads", 1, 1, 1, 1))
	}
	b.Output(b.NodeTo("features", "Identity", []string{y}))
	return b.Model()
}

// rowed is x → layer normalisation, Gelu, softmax of scaled numbers, between products.
func rowed() *graph.Model {
	b := graph.NewBuilder("rows", 17)
	y := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(2), graph.Fixed(9), graph.Fixed(7)})
	weight := weights(b)
	y = b.Node("MatMul", []string{y, weight("a", 1, 7, 300)})
	y = b.Node("LayerNormalization", []string{y, weight("scale", 2, 300), weight("shift", 3, 300)})
	b.Import("com.microsoft", 1)
	wide := b.Node("MatMul", []string{y, weight("b", 4, 300, 8)})
	b.Add(&graph.Node{Op: "Gelu", Domain: "com.microsoft", Inputs: []string{wide}, Outputs: []string{"bent"}})
	y = b.Node("Add", []string{b.Node("MatMul", []string{"bent", weight("c", 5, 8, 6)}), weight("d", 6, 6)})
	y = b.Node("Mul", []string{b.Node("MatMul", []string{y, weight("fixed", 7, 1, 6, 5)}),
		b.Constant(graph.NewTensor("scale of scores", []float32{0.4}))})
	y = b.Node("Softmax", []string{y}, graph.Int("axis", -1))
	b.Output(b.NodeTo("features", "Identity", []string{y}))
	return b.Model()
}

// gradientsOf computes those of all weights. The forward pass runs on the CPU.
func gradientsOf(t *testing.T, m *graph.Model, weights []string, cpu, rt *ort.Runtime) (grads [][]float32) {
	t.Helper()
	d, err := gradient.Differentiate(m, gradient.Options{Output: "features", Weights: weights, Kernels: rt.Kernels()})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]ort.Tensor{"x": ort.Float32s(drawnFloats(8, 3*2*9*7), 3, 2, 9, 7)}
	for name, c := range m.Graph.Constants() {
		data, err := c.Float32s()
		if err != nil {
			t.Fatal(err)
		}
		known[name] = ort.Float32s(data, c.Dims...)
	}
	for _, pass := range []struct {
		rt *ort.Runtime
		m  *graph.Model
	}{{cpu, d.Forward}, {rt, d.Backward}} {
		s, err := pass.rt.NewSession(pass.m.Marshal(), ort.SessionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		in, out := make([]ort.Tensor, len(s.Inputs())), make([]ort.Tensor, len(s.Outputs()))
		for i, info := range s.Inputs() {
			in[i] = known[info.Name]
		}
		if err := errors.Join(s.Run(in, out), s.Close()); err != nil {
			t.Fatal(err)
		}
		for i, info := range s.Outputs() {
			known[info.Name] = out[i]
		}
		y := known["features"]
		known[d.GradOutput] = ort.Float32s(drawnFloats(9, len(y.F32)), y.Shape...)
	}
	for _, name := range d.Grads {
		grads = append(grads, known[name].F32)
	}
	return grads
}

func compareOnNoGPU(t *testing.T, name string, m *graph.Model, weights []string, cpu, cuda *ort.Runtime) {
	t.Helper()
	want, found := gradientsOf(t, m, weights, cpu, cpu), gradientsOf(t, m, weights, cpu, cuda)
	for i := range want {
		if off := furthest(want[i], found[i]); !(off <= 1e-4) || slices.Max(want[i]) == 0 {
			t.Errorf("%s: gradient of %s is off by %g", name, weights[i], off)
		}
	}
}

// The operators for CUDA, compiled for this machine, give the gradients of ONNX's own operators, whether a stand-in for
// cuDNN computes them or winnow's kernels.
func TestKernelsOnNoGPU(t *testing.T) {
	for _, gpu := range []ort.GPU{{}, {Search: ort.SearchExhaustive}} {
		cuda, cpu := standIn(t, gpu)
		if why := cuda.WithoutKernels(); why != "" {
			t.Fatal(why)
		}
		for _, w := range []windowed{
			{in: 3, out: 4, kernel: 3, stride: 1, dilation: 1, pad: 1, groups: 1},
			{in: 3, out: 4, kernel: 3, stride: 1, dilation: 1, pad: 1, groups: 1, relu: true},
			{in: 4, out: 6, kernel: 3, stride: 2, dilation: 1, pad: 1, groups: 2, relu: true},
			{in: 5, out: 3, kernel: 1, stride: 1, dilation: 1, pad: 0, groups: 1, relu: true},
			{in: 3, out: 2, kernel: 3, stride: 2, dilation: 2, pad: 2, groups: 1},
			{in: 6, out: 6, kernel: 3, stride: 1, dilation: 1, pad: 1, groups: 6, relu: true},
			{in: 6, out: 6, kernel: 5, stride: 2, dilation: 1, pad: 2, groups: 6},
			{in: 4, out: 4, kernel: 3, stride: 2, dilation: 2, pad: 1, groups: 4, relu: true},
			{in: 3, out: 4, kernel: 3, stride: 1, dilation: 1, pad: 1, groups: 1, pool: true},
			{in: 3, out: 4, kernel: 1, stride: 1, dilation: 1, pad: 0, groups: 1, pool: true, relu: true},
			{in: 300, out: 300, kernel: 3, stride: 1, dilation: 1, pad: 1, groups: 300, relu: true},
		} {
			compareOnNoGPU(t, fmt.Sprintf("%+v", w), w.model(), []string{"a", "a.bias", "b", "b.bias"}, cpu, cuda)
		}
		compareOnNoGPU(t, "rows", rowed(), []string{"a", "scale", "shift", "b", "c", "d"}, cpu, cuda)
	}
}

// Every kind of convolution is measured in both ways, and those that the operators win are left to them.
func TestChooseOnNoGPU(t *testing.T) {
	cuda, _ := standIn(t, ort.GPU{})
	w := windowed{in: 5, out: 3, kernel: 1, stride: 1, dilation: 1, groups: 1, relu: true}
	of := gradient.Options{Output: "features", Weights: []string{"a", "b"}}
	o, report, err := cuda.ChooseKernels(w.model(), of, 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(report) != 2 || len(o.Operators) != 2 || !strings.HasPrefix(report[0], "3×[5 9 7] by [3 5 1 1]") ||
		!strings.Contains(report[1], "filters alone") {
		t.Fatalf("found %q, %v", report, o.Operators)
	}
	for name := range o.Operators {
		o.Operators[name] = name == "a"
	}
	d, err := gradient.Differentiate(w.model(), o)
	if err != nil {
		t.Fatal(err)
	}
	if list := d.Convolutions(); len(list) != 1 || list[0].Filters != "b" {
		t.Errorf("found the convolutions %v, expected that of b alone", list)
	}
}

// A step of a network whose weights are held moves its pictures, vectors, their gradient and a few numbers across the
// bus, nothing else; without, weights and gradients move too, each in one piece.
func TestCopiesOnNoGPU(t *testing.T) {
	cuda, _ := standIn(t, ort.GPU{})
	b := graph.NewBuilder("live", 17)
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(60)})
	y := b.Node("MatMul", []string{x, b.Constant(graph.NewTensor("a", drawnFloats(1, 60*300), 60, 300))})
	last := b.Constant(graph.NewTensor("b", drawnFloats(2, 300*5), 300, 5))
	b.Output(b.NodeTo("features", "MatMul", []string{y, last}))
	m := b.Model()
	d, err := gradient.Differentiate(m, gradient.Options{Output: "features", Weights: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := ort.NewLive(cuda, d, ort.LiveOptions{Model: m})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	solver, err := train.NewPlacedSolver(train.DefaultSolver("adam"), l.Place())
	if err != nil {
		t.Fatal(err)
	}
	out, pictures := features.NewMatrix(4, 5), [][]float32{drawnFloats(4, 4*60)}
	step := func() {
		t.Helper()
		if err := errors.Join(l.Forward(out, pictures, 4, true), l.Backward(out, false)); err != nil {
			t.Fatal(err)
		}
		solver.Step(l.Params(), 1e-3)
	}
	copies := func(do func()) (list []string) {
		t.Helper()
		path := os.Getenv("NOGPU_COPIES")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		do()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(data)), "\n")
	}
	step()                        // loads what the first step loads
	flat := fmt.Sprint(4 * 20480) // weights: 18,000 and 1,500 numbers, in whole rows
	loose := copies(step)
	if n := strings.Count(strings.Join(loose, "\n")+"\n", " "+flat+"\n"); n != 2 {
		t.Errorf("%d copies of all weights or gradients, expected one up and one down: %q", n, loose)
	}
	if err := l.Place().Hold(true); err != nil {
		t.Fatal(err)
	}
	var sum int
	for _, line := range copies(step) {
		var way string
		var bytes int
		if _, err := fmt.Sscan(line, &way, &bytes); err != nil {
			t.Fatal(err)
		}
		if sum += bytes; bytes > 4*4*60 {
			t.Errorf("a copy %s of %d bytes", way, bytes)
		}
	}
	if most := 4 * (4*60 + 2*4*5 + 2*10 + 2); sum > most {
		t.Errorf("a step copies %d bytes, expected at most %d", sum, most)
	}
	// Pictures that were sent ahead are not sent again.
	early := copies(func() {
		if err := l.Ahead(pictures, 4); err != nil {
			t.Fatal(err)
		}
	})
	images := " " + fmt.Sprint(4*4*60)
	if late := copies(step); len(early) != 1 || !strings.HasSuffix(early[0], images) ||
		slices.ContainsFunc(late, func(line string) bool { return strings.HasSuffix(line, images) }) {
		t.Errorf("ahead: copies %q, then %q", early, late)
	}
}

// Full memory is reported in the library's words, and a smaller run still works in the same session.
func TestFullNoGPU(t *testing.T) {
	for limit, want := range map[int64]string{0: "Failed to allocate memory for requested buffer of size ",
		32 << 20: "Available memory of "} {
		rt, _ := standIn(t, ort.GPU{Memory: limit})
		s, err := rt.NewSession(matMul(1024), ort.SessionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := rt.NewResident(matMul(1024), ort.SessionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int64{4, 40_000, 4} {
			q := ort.Float32s(make([]float32, n*1024), n, 1024)
			for what, err := range map[string]error{"run": s.Run([]ort.Tensor{q,
				ort.Float32s(make([]float32, 2048), 1024, 2)}, []ort.Tensor{{}}), "put": d.Put("q", q)} {
				full := n > 4
				if ort.OutOfMemory(err) != full || full &&
					(!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "onnxruntime_src")) ||
					!full && err != nil {
					t.Errorf("limit %d, %d rows, %s: found %v", limit, n, what, err)
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An unsuitable driver, no device, a wrong number: each gives one line in the library's words and advice, and auto
// computes on the CPU.
func TestBrokenNoGPU(t *testing.T) {
	library, want, device := os.Getenv("NOGPU_LIBRARY"), os.Getenv("WANT"), "cuda:0"
	if library == "" {
		t.Skip("TestNoGPU runs this in a process of its own")
	}
	if d := os.Getenv("DEVICE"); d != "" {
		device = d
	}
	_, err := ort.Load(ort.Config{Library: library, Device: device})
	if err == nil || err.Error() != "ort: device "+device+": "+want || ort.GPUHint(err, "") == "" {
		t.Errorf("found %v (%s), expected %s", err, ort.GPUHint(err, "no advice"), want)
	}
	if device != "cuda:0" {
		return
	}
	rt, err := ort.Load(ort.Config{Library: library, Device: "auto"})
	if err != nil {
		t.Fatal(err)
	}
	if rt.Device().CUDA || !strings.Contains(rt.Fallback, want) {
		t.Errorf("auto computes on %v: %s", rt.Device(), rt.Fallback)
	}
	if err := rt.Check(); err != nil {
		t.Error(err)
	}
}
