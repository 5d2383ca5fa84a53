package graph_test

import (
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/internal/testing/exports"
)

// TestVision: of vision transformers as exporters write them the network's own vector is found, each named feature is
// what plain loops computed, and a class token that is not there is refused.
func TestVision(t *testing.T) {
	const images, side = 3, 12
	for _, n := range exports.Transformers(t) {
		t.Run(n.Name, func(t *testing.T) {
			read, err := graph.Read(n.File)
			if err != nil {
				t.Fatal(err)
			}
			m := graph.Sized(read, "pixel_values", 3, side, side)
			found, err := graph.FeatureTensor(m)
			if err != nil || found.Tensor != n.Output {
				t.Fatalf("found %+v, %v, expected %s", found, err, n.Output)
			}
			in := ort.Float32s(numbers(7, images*3*side*side), images, 3, side, side)
			for _, name := range []string{"cls", "pooled", "mean"} {
				want, has := n.Vectors[name]
				cut, _, dim, err := graph.Vector(m, name)
				if !has {
					if err == nil {
						t.Errorf("%s was found", name)
					}
					continue
				}
				if err != nil || dim != len(want)/images {
					t.Errorf("%s: %d numbers, %v, expected %d", name, dim, err, len(want)/images)
					continue
				}
				if off := farthest(exec(t, cut, in)[0].F32, want); off > 2e-5 {
					t.Errorf("%s: off by %g", name, off)
				}
			}
		})
	}
}
