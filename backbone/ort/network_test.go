package ort_test

import (
	"os"
	"testing"

	"winnow/backbone/ort"
	"winnow/features"
	"winnow/internal/orttest"
	"winnow/internal/reference"
)

// TestRealNetworks runs the models that lie beside the repository: as a batch, one by one and into a matrix
// with gaps must give the same vectors.
func TestRealNetworks(t *testing.T) {
	rt := orttest.Runtime(t)
	for _, c := range []struct {
		file string
		dim  int
	}{
		{"models/mobilenetv2-features.onnx", 1280},
		{"models/resnet50v2-stage3-features.onnx", 1024},
		{"models/googlenet-bvlc.onnx", 1024},
		{"models/squeezenet1.1.onnx", 512},
	} {
		t.Run(c.file, func(t *testing.T) {
			model, err := os.ReadFile(reference.Asset(t, c.file))
			if err != nil {
				t.Fatal(err)
			}
			net, err := ort.NewNetwork(rt, model, "", ort.NetworkInput{Channels: 3, Height: 224, Width: 224})
			if err != nil {
				t.Fatal(err)
			}
			defer net.Close()
			if net.Dim() != c.dim {
				t.Fatalf("dim: found %d, expected %d", net.Dim(), c.dim)
			}
			const n, size = 3, 3 * 224 * 224
			pixels := values(1, 1, n*size, n*size)
			together, alone := features.NewMatrix(n, c.dim), features.NewMatrix(1, c.dim)
			if err := net.Infer(together, pixels, n); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if err := net.Infer(alone, pixels[i*size:(i+1)*size], 1); err != nil {
					t.Fatal(err)
				}
				for j := range c.dim {
					if d := alone.Data[j] - together.Data[i*together.Stride+j]; d > 1e-4 || d < -1e-4 {
						t.Fatalf("image %d, component %d: alone %v, in the batch %v", i, j, alone.Data[j], together.Data[i*together.Stride+j])
					}
				}
			}
		})
	}
}
