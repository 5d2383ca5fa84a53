package graph_test

import (
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/internal/testing/vits"
)

// TestVision: in every form in which vision transformers are exported, the network's own vector is found, each named
// feature is what plain loops compute, and a class token that is not there is refused.
func TestVision(t *testing.T) {
	const images = 3
	for _, kind := range vits.Kinds() {
		for i, form := range vits.Forms(kind) {
			t.Run(form.String(), func(t *testing.T) {
				n := vits.New(form, uint64(i+1))
				m := graph.Sized(n.Model, "pixel_values", 3, vits.Side, vits.Side)
				found, err := graph.FeatureTensor(m)
				if err != nil || found.Tensor != form.Output() {
					t.Fatalf("found %+v, %v, expected %s", found, err, form.Output())
				}
				pixels := numbers(uint64(i+7), images*3*vits.Side*vits.Side)
				in := ort.Float32s(pixels, images, 3, vits.Side, vits.Side)
				want := map[string][]float32{}
				for im := range images {
					image := make([]float64, 3*vits.Side*vits.Side)
					for p := range image {
						image[p] = float64(pixels[im*len(image)+p])
					}
					tokens, vector := n.Eval(image)
					for name, v := range map[string][]float64{"cls": tokens[0], "pooled": vector,
						"mean": mean(tokens[len(tokens)-vits.Patches:])} {
						for _, x := range v {
							want[name] = append(want[name], float32(x))
						}
					}
				}
				for name, values := range want {
					cut, _, dim, err := graph.Vector(m, name)
					if kind == vits.SigLIP2 && name == "cls" {
						if err == nil {
							t.Error("a class token was found")
						}
						continue
					}
					if err != nil || dim != len(values)/images {
						t.Errorf("%s: %d numbers, %v, expected %d", name, dim, err, len(values)/images)
						continue
					}
					if off := farthest(exec(t, cut, in)[0].F32, values); off > 2e-5 {
						t.Errorf("%s: off by %g", name, off)
					}
				}
			})
		}
	}
}

func mean(rows [][]float64) []float64 {
	sum := make([]float64, len(rows[0]))
	for _, row := range rows {
		for i, v := range row {
			sum[i] += v / float64(len(rows))
		}
	}
	return sum
}
