package tuning

import (
	"math/rand/v2"
	"slices"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/ort"
	"winnow/internal/testing/orttest"
)

// The gradients of winnow's operators and of ONNX operators agree. If a weight of one network differs, the comparison
// reports it.
func TestAgree(t *testing.T) {
	rt := orttest.Runtime(t)
	open := func(kernels gradient.Kernels) *ort.Live {
		b, rng := graph.NewBuilder("net", 17), rand.New(rand.NewPCG(1, 2))
		weight := func(name string, dims ...int64) string {
			n := int64(1)
			for _, d := range dims {
				n *= d
			}
			data := make([]float32, n)
			for i := range data {
				data[i] = float32(rng.NormFloat64())
			}
			return b.Constant(graph.NewTensor(name, data, dims...))
		}
		y := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Fixed(12), graph.Fixed(12)})
		y = b.Node("Relu", []string{b.Node("Conv", []string{y, weight("a", 16, 3, 1, 1)})})
		y = b.Node("Conv", []string{y, weight("b", 16, 16, 3, 3)}, graph.Ints("pads", 1, 1, 1, 1))
		b.Output(b.NodeTo("features", "Flatten", []string{b.Node("GlobalAveragePool", []string{y})}))
		d, err := gradient.Differentiate(b.Model(), gradient.Options{Output: "features", Weights: []string{"a", "b"},
			Kernels: kernels})
		if err != nil {
			t.Fatal(err)
		}
		l, err := ort.NewLive(rt, d, ort.LiveOptions{Model: b.Model()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
		return l
	}
	own, plain := open(rt.Kernels()), open(gradient.NoKernels)
	found, err := compareNetworks(own, plain, 3)
	if err != nil || !(found.off < 1e-4) || slices.Min(found.seconds[:]) <= 0 {
		t.Errorf("found %+v, %v", found, err)
	}
	plain.Params()[1].Data[5] += 3 // the gradient of a depends on it
	if found, err := compareNetworks(own, plain, 3); err != nil || !(found.off > mayDiffer) || found.weight != "a" {
		t.Errorf("with another weight: found %+v, %v", found, err)
	}
}
