package gradient_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/ort"
)

// networkLimit limits the relative error of winnow's float32 gradients, compared with torch's float64 gradients.
// Relu and max pooling choose between values. In these inputs the values differ by more than six rounding errors
// (except three pairs of 4.6 million in googlenet-bvlc), so both libraries choose the same. A single different choice
// would cause a relative error of 10⁻³ to 10⁻², as in torch's own float32.
const networkLimit = 1e-4

// networks returns the names of the files with torch's results.
func networks(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 8 {
		t.Fatalf("found %d files of torch's results, %v, expected at least 8", len(files), err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".json")
	}
	return files
}

// gradients runs a network forward and backward with ONNX Runtime in float32. It returns the output, the gradients of
// the weights in the order of the file, and the new statistics by name. kernels enables winnow's own operators.
func (r *torchRun) gradients(t testing.TB, kernels bool) (y []float32, grads [][]float32, state map[string][]float32) {
	t.Helper()
	m := r.model(t)
	o := gradient.Options{Output: r.Output, BatchNorm: gradient.BatchNorm{Train: r.Train}, Kernels: forCPU(kernels)}
	for _, w := range r.Weights {
		o.Weights = append(o.Weights, w.name)
	}
	d, err := gradient.Differentiate(m, o)
	if err != nil {
		t.Fatal(err)
	}
	run := newMachine(t, d, graph.Float32)
	n := r.Input[0]
	tensors := map[string]ort.Tensor{
		d.GradOutput: ort.Float32s(formula(fmt.Sprint(r.Seed, " gradient"), n*r.Classes, 0, 1), n, r.Classes),
	}
	for _, in := range d.Forward.Graph.Inputs {
		if w := m.Graph.Initializer(in.Name); w != nil {
			x, err := w.Float32s()
			if err != nil {
				t.Fatal(err)
			}
			tensors[in.Name] = ort.Float32s(x, w.Dims...)
			continue
		}
		size := n * r.Input[1] * r.Input[2] * r.Input[3]
		tensors[in.Name] = ort.Float32s(formula(fmt.Sprint(r.Seed, " input"), size, 0, r.Spread), r.Input...)
	}
	feed(t, run.fwd, tensors)
	feed(t, run.bwd, tensors)
	for _, g := range d.Grads {
		grads = append(grads, tensors[g].F32)
	}
	state = map[string][]float32{}
	for _, s := range d.State {
		state[s.Name] = tensors[s.Next].F32
	}
	return tensors[d.Output].F32, grads, state
}

// feed runs a session on named tensors and adds its outputs to them.
func feed(t testing.TB, s *ort.Session, tensors map[string]ort.Tensor) {
	t.Helper()
	var in []ort.Tensor
	for _, info := range s.Inputs() {
		x, ok := tensors[info.Name]
		if !ok {
			t.Fatalf("found no tensor %q, which a model needs", info.Name)
		}
		in = append(in, x)
	}
	out := make([]ort.Tensor, len(s.Outputs()))
	if err := s.Run(in, out); err != nil {
		t.Fatal(err)
	}
	for i, info := range s.Outputs() {
		tensors[info.Name] = out[i]
	}
}

// TestNetworks checks that the gradients of whole networks, exported by torch, equal those of torch's autograd.
func TestNetworks(t *testing.T) { testNetworks(t, false) }

// TestNetworkKernels is TestNetworks with winnow's own operators.
func TestNetworkKernels(t *testing.T) { testNetworks(t, true) }

func testNetworks(t *testing.T, kernels bool) {
	for _, name := range networks(t) {
		t.Run(name, func(t *testing.T) {
			r := readRun(t, name)
			y, grads, state := r.gradients(t, kernels)
			if got := r.Value.off(y); !(got < networkLimit) {
				t.Fatalf("the output is off by %.3g", got)
			}
			var worst float64
			for i, w := range r.Weights {
				got := w.off(grads[i])
				worst = max(worst, got)
				if !(got < networkLimit) {
					t.Errorf("the gradient of %q is off by %.3g of its norm", w.name, got)
				}
			}
			if len(state) != len(r.State) {
				t.Errorf("found %d statistics, expected %d", len(state), len(r.State))
			}
			for _, s := range r.State {
				if got := s.off(state[s.name]); !(got < networkLimit) {
					t.Errorf("the statistic %q is off by %.3g of its norm", s.name, got)
				}
			}
			t.Logf("%d gradients, the worst off by %.2g (torch's own float32: %.2g)", len(grads), worst, r.Torch32)
		})
	}
}

// TestNetworkShapes checks that inference determines every size of every tensor in every network, except the batch
// size and its multiples.
func TestNetworkShapes(t *testing.T) {
	for _, name := range networks(t) {
		t.Run(name, func(t *testing.T) {
			m := readRun(t, name).model(t)
			facts := graph.Infer(m)
			for _, n := range m.Graph.Nodes {
				v := facts[n.Outputs[0]]
				if v == nil || v.Type == 0 || v.Shape == nil || slices.ContainsFunc(v.Shape,
					func(d graph.Dim) bool { return !d.Known() && !strings.HasSuffix(d.Name, "N") }) {
					t.Errorf("%s %q: inferred %v", n.Op, n.Name, v)
				}
			}
		})
	}
}

// TestSpoiledNetwork checks that the test detects a gradient that is wrong by 1 %, in one element, or in its
// arrangement.
func TestSpoiledNetwork(t *testing.T) {
	r := readRun(t, "vit")
	_, grads, _ := r.gradients(t, false)
	for i, w := range r.Weights {
		g := grads[i]
		if got := w.off(g); !(got < networkLimit) {
			t.Fatalf("%s: off by %g before it was spoiled", w.name, got)
		}
		spoil := map[string]func(x []float32){
			"1 % larger": func(x []float32) {
				for j := range x {
					x[j] *= 1.01
				}
			},
			"one element":  func(x []float32) { x[len(x)/3] += float32(0.01 * w.norm) },
			"turned round": slices.Reverse[[]float32],
		}
		for what, f := range spoil {
			x := slices.Clone(g)
			f(x)
			if got := w.off(x); got < 10*networkLimit {
				t.Errorf("%s: %s: off by only %g", w.name, what, got)
			}
		}
	}
}
