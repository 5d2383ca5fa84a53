package graph_test

import (
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/internal/testing/exports"
)

// TestVision checks that the feature tensor is found in vision transformers as exporters write them, and that its
// values equal those of plain loops.
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
			cut, _, dim, err := graph.Vector(m, found.Tensor)
			if err != nil || dim != len(n.Vectors["pooled"])/images {
				t.Fatalf("%d numbers, %v, expected %d", dim, err, len(n.Vectors["pooled"])/images)
			}
			if off := farthest(exec(t, cut, in)[0].F32, n.Vectors["pooled"]); off > 2e-5 {
				t.Errorf("off by %g", off)
			}
		})
	}
}
