package ort_test

import (
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
