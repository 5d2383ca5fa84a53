package graph_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
)

// TestRealRoundTrip checks that a real model is the same after writing and reading, and that reading copies no tensors.
func TestRealRoundTrip(t *testing.T) {
	for _, name := range realModels {
		t.Run(name, func(t *testing.T) {
			data, m := realModel(t, name)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			again, err := graph.Read(data)
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > uint64(len(data))/8 {
				t.Errorf("reading %d bytes allocated %d", len(data), used)
			}
			back, err := graph.Read(again.Marshal())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(m, back, everything); diff != "" {
				t.Error(diff[:min(len(diff), 2000)])
			}
		})
	}
}

// photo returns a batch of n noise images for networks with an input of 3×224×224.
func photo(n int) ort.Tensor {
	return ort.Float32s(numbers(11, n*3*224*224), int64(n), 3, 224, 224)
}

// beside returns the model with additional outputs.
func beside(m *graph.Model, tensors ...string) *graph.Model {
	b := graph.Extend(m)
	b.SetOutputs(tensors...)
	return b.Model()
}

// TestRealFeatures checks that a model cut at a tensor computes the same values as the whole model, to 1e-5, and that
// a cut with one changed weight is detected.
func TestRealFeatures(t *testing.T) {
	cuts := map[string][]string{
		"googlenet-bvlc":             {"features", "pool5/7x7_s1", "inception_4c/output"},
		"mobilenetv2-features":       {"features", "add_72"},
		"squeezenet1.1":              {"features", "fire6"},
		"resnet50v2-stage3-features": {"features", "stage3_plus2"},
	}
	for _, name := range realModels {
		t.Run(name, func(t *testing.T) {
			_, m := realModel(t, name)
			last := m.Graph.Outputs[len(m.Graph.Outputs)-1].Name
			whole := exec(t, beside(m, append(slices.Clone(cuts[name]), last)...), photo(2))
			for i, tensor := range cuts[name] {
				cut, err := graph.Cut(m, tensor)
				if err != nil {
					t.Fatal(err)
				}
				if got := exec(t, cut, photo(2))[0]; farthest(got.F32, whole[i].F32) > 1e-5 ||
					!slices.Equal(got.Shape, whole[i].Shape) {
					t.Errorf("%s: shape %v, off by %g", tensor, got.Shape, farthest(got.F32, whole[i].F32))
				}
				if i > 0 {
					continue
				}
				spoil(t, cut)
				if got := exec(t, cut, photo(2))[0]; farthest(got.F32, whole[i].F32) <= 1e-5 {
					t.Errorf("%s: a spoiled cut was not detected", tensor)
				}
			}
		})
	}
}

// spoil doubles the largest filter weights.
func spoil(t *testing.T, m *graph.Model) {
	t.Helper()
	largest := 0
	for i, w := range m.Graph.Initializers {
		if len(w.Raw()) > len(m.Graph.Initializers[largest].Raw()) {
			largest = i
		}
	}
	old := m.Graph.Initializers[largest]
	values, err := old.Float32s()
	if err != nil {
		t.Fatal(err)
	}
	for i := range values {
		values[i] *= 2
	}
	m.Graph.Initializers[largest] = graph.NewTensor(old.Name, values, old.Dims...)
}

// TestRealClassifier checks that the feature tensor of each whole network is found if only its logits are outputs, and
// that the vector equals the network's own features.
func TestRealClassifier(t *testing.T) {
	for _, c := range []struct {
		name, at string
		dim      int
	}{
		{"googlenet-bvlc", "features", 1024}, // input of its Gemm
		{"squeezenet1.1", "fire9", 512},      // input of the classifying 1×1 Conv
	} {
		t.Run(c.name, func(t *testing.T) {
			_, m := realModel(t, c.name)
			own := exec(t, beside(m, "features"), photo(2))[0]
			logits, err := graph.Cut(m, "logits")
			if err != nil {
				t.Fatal(err)
			}
			found, err := graph.FeatureTensor(logits)
			if err != nil || found.Tensor != c.at {
				t.Fatalf("found %q (%s), %v, expected %q", found.Tensor, found.Why, err, c.at)
			}
			cut, _, dim, err := graph.Vector(logits, found.Tensor)
			if err != nil || dim != c.dim {
				t.Fatalf("dim %d, %v, expected %d", dim, err, c.dim)
			}
			if got := exec(t, cut, photo(2))[0]; farthest(got.F32, own.F32) > 1e-5 {
				t.Errorf("off by %g", farthest(got.F32, own.F32))
			}
		})
	}
}

// TestRealShapes checks that the shape inferred for every tensor in every network is the shape at run time.
func TestRealShapes(t *testing.T) {
	for _, name := range realModels {
		t.Run(name, func(t *testing.T) {
			_, m := realModel(t, name)
			infos := graph.Infer(m)
			var tensors []string
			for _, n := range m.Graph.Nodes {
				tensors = append(tensors, n.Outputs...)
			}
			for i, got := range exec(t, beside(m, tensors...), photo(3)) {
				compareShape(t, infos[tensors[i]], tensors[i], got.Shape, map[string]int64{"N": 3}, true)
			}
		})
	}
}

// compareShape compares an inferred shape with the real one. With exact, no size may be unknown.
func compareShape(t *testing.T, v *graph.ValueInfo, name string, real []int64, free map[string]int64, exact bool) {
	t.Helper()
	if v == nil || v.Shape == nil {
		if exact {
			t.Errorf("%s: no shape inferred, expected %v", name, real)
		}
		return
	}
	if len(v.Shape) != len(real) {
		t.Errorf("%s: inferred %v, expected %v", name, v.Shape, real)
		return
	}
	for i, d := range v.Shape {
		size, named := free[d.Name]
		if d.Known() {
			size, named = d.Size, true
		}
		if named && size != real[i] || exact && !named {
			t.Errorf("%s: inferred %v, expected %v", name, v.Shape, real)
			return
		}
	}
}
