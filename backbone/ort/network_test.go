package ort_test

import (
	"os"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone/ort"
	"winnow/features"
	"winnow/internal/testing/orttest"
	"winnow/internal/testing/reference"
)

// TestRealNetworks runs real models on a batch, on single images, and into a matrix with gaps. All must give the same
// vectors.
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
			pixels := parseVersion(1, 1, n*size, n*size)
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
						t.Fatalf("image %d, component %d: alone %v, in the batch %v", i, j, alone.Data[j],
							together.Data[i*together.Stride+j])
					}
				}
			}
		})
	}
}

// meanModel averages each plane of an image: a backbone small enough to compute by hand. A batch of -1 is free. The
// output is [n,3,1,1], or [n,3] if flat is set.
func meanModel(batch int64, flat bool, declared []int64) []byte {
	nodes := []node{{op: "GlobalAveragePool", in: []string{"image"}, out: []string{"pooled"}}}
	out := "pooled"
	if flat {
		nodes = append(nodes, node{op: "Flatten", in: []string{"pooled"}, out: []string{"flat"}})
		out = "flat"
	}
	return build(nodes, []value{{name: "image", typ: ort.Float, shape: []int64{batch, 3, 4, 2}}},
		[]value{{name: out, typ: ort.Float, shape: declared}})
}

// TestNetworkShapes runs models with free and fixed batch sizes, flat and pooled outputs, declared and open sizes. The
// numbers of images fill the batch or do not, and the matrices have gaps or do not.
func TestNetworkShapes(t *testing.T) {
	rt := orttest.Runtime(t)
	for name, model := range map[string][]byte{
		"free flat":     meanModel(-1, true, []int64{-1, 3}),
		"free pooled":   meanModel(-1, false, []int64{-1, 3, 1, 1}),
		"free open":     meanModel(-1, true, []int64{-1, -1}),
		"fixed1 pooled": meanModel(1, false, []int64{1, 3, 1, 1}),
		"fixed4 flat":   meanModel(4, true, []int64{4, 3}),
		"fixed4 open":   meanModel(4, true, []int64{-1, -1}),
	} {
		net, err := ort.NewNetwork(rt, model, "", ort.NetworkInput{Channels: 3, Height: 4, Width: 2})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if net.Dim() != 3 {
			t.Errorf("%s: dim: found %d, expected 3", name, net.Dim())
		}
		for _, n := range []int{1, 3, 4, 5, 9, 4, 4} {
			for _, gap := range []int{0, 2} {
				checkMeans(t, name, net, n, gap)
			}
		}
		if err := net.Close(); err != nil {
			t.Error(err)
		}
	}
}

func checkMeans(t *testing.T, name string, net *ort.Network, n, gap int) {
	t.Helper()
	pixels := parseVersion(uint64(n), n, 24, 24)
	dst := blas32.General{Rows: n, Cols: 3, Stride: 3 + gap, Data: make([]float32, n*(3+gap))}
	for i := range dst.Data {
		dst.Data[i] = 77
	}
	if err := net.Infer(dst, pixels, n); err != nil {
		t.Errorf("%s, %d images: %v", name, n, err)
		return
	}
	for i := range n {
		for c := range 3 + gap {
			want := float32(77)
			if c < 3 {
				want = 0
				for _, p := range pixels[i*24+c*8 : i*24+c*8+8] {
					want += p / 8
				}
			}
			if got := dst.Data[i*dst.Stride+c]; got-want > 1e-6 || want-got > 1e-6 {
				t.Errorf("%s, %d images, gap %d: image %d, component %d: found %v, expected %v", name, n, gap, i, c,
					got, want)
				return
			}
		}
	}
}
