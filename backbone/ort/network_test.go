package ort_test

import (
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone/ort"
	"winnow/features"
	"winnow/internal/testing/orttest"
	"winnow/internal/testing/reference"
)

// TestRealNetworks runs the models next to the repository as a batch, one by one, and into a matrix with gaps;
// all must give the same vectors.
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

// meanModel averages each plane of an image: a backbone small enough to compute by hand. Batch -1 is free;
// the output is [n,3,1,1], or flat [n,3].
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

// TestNetworkShapes runs models with free and fixed batches, flat and pooled outputs, declared and open
// sizes, over numbers of images that fill the batch and that do not, into matrices with and without gaps.
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

func TestNetworkErrors(t *testing.T) {
	rt := orttest.Runtime(t)
	good := ort.NetworkInput{Channels: 3, Height: 4, Width: 2}
	identity := []node{{op: "Identity", in: []string{"image"}, out: []string{"y"}}}
	for _, c := range []struct {
		name   string
		model  []byte
		output string
		in     ort.NetworkInput
		want   string
	}{
		{"channels", meanModel(-1, true, []int64{-1, 3}), "", ort.NetworkInput{Channels: 1, Height: 4, Width: 2},
			`input "image" float32 [?,3,4,2], expected float32 [?,1,4,2]`},
		{"size", meanModel(2, true, []int64{-1, 3}), "", ort.NetworkInput{Channels: 3, Height: 224, Width: 224},
			`input "image" float32 [2,3,4,2], expected float32 [?,3,224,224]`},
		{"input name", meanModel(-1, true, []int64{-1, 3}), "",
			ort.NetworkInput{Name: "data", Channels: 3, Height: 4, Width: 2},
			`found the input "image", expected "data"`},
		{"output name", meanModel(-1, true, []int64{-1, 3}), "fc7", good,
			`found no output "fc7", expected one of ["flat"]`},
		{"not a vector", build(identity, []value{{name: "image", typ: ort.Float, shape: []int64{-1, 3, 4, 2}}},
			[]value{{name: "y", typ: ort.Float, shape: []int64{-1, 3, 4, 2}}}), "", good,
			`output "y" is [?,3,4,2], expected one vector an image: [n,D] or [n,D,1,1]`},
		{"wrong type", build(identity, []value{{name: "image", typ: ort.Double, shape: []int64{-1, 3, 4, 2}}},
			[]value{{name: "y", typ: ort.Double, shape: []int64{-1, 3}}}), "", good,
			`input "image" float64 [?,3,4,2], expected float32`},
		{"two inputs", mixedModel(), "", good,
			`found the inputs ["x" "wide" "ids" "factor"], expected one image input`},
	} {
		_, err := ort.NewNetwork(rt, c.model, c.output, c.in)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found error %v, expected one with %q", c.name, err, c.want)
		}
	}
	net, err := ort.NewNetwork(rt, meanModel(-1, true, []int64{-1, 3}), "flat", good)
	if err != nil {
		t.Fatal(err)
	}
	defer net.Close()
	if err := net.Infer(features.NewMatrix(2, 3), make([]float32, 24), 2); err == nil ||
		!strings.Contains(err.Error(), "found 2 images in 24 floats into 2×3, expected 24 floats an image into 2×3") {
		t.Errorf("short pixels: found error %v", err)
	}
	if err := net.Infer(features.NewMatrix(1, 4), make([]float32, 24), 1); err == nil {
		t.Error("a matrix of the wrong width was taken")
	}
}
