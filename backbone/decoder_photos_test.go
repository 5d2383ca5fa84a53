package backbone_test

import (
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"winnow/backbone"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/internal/testing/orttest"
	"winnow/internal/testing/reference"
)

// largePhotographs are the JPEG files in the source of two modules that this one needs, whose shorter side is
// long enough for the fast decoder: cameras' pictures that metadata readers are tried on, and the dog of a
// detector's example.
func largePhotographs(t *testing.T, least int) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, module := range []string{"github.com/bep/imagemeta", "gorgonia.org/gorgonia"} {
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil || len(strings.TrimSpace(string(dir))) == 0 {
			t.Skipf("SKIPPED: the source of %s is not at hand: %v", module, err)
		}
		err = filepath.WalkDir(strings.TrimSpace(string(dir)), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".jpg") || strings.Contains(path, "mascot") {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if img, err := backbone.Decode(data, backbone.DecodeOptions{}); err == nil &&
				min(img.Bounds().Dx(), img.Bounds().Dy()) >= least {
				files[filepath.Base(path)] = data
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// This measures the cost of the fast decoder on real photographs: how far the network's pixels and features are from
// those of the exact one. The help of --decoder quotes the numbers that it logs.
func TestFastOnPhotographs(t *testing.T) {
	files := largePhotographs(t, 512)
	if len(files) < 8 {
		t.Fatalf("found %d photographs, expected at least 8", len(files))
	}
	p := backbone.Preprocessing{Resize: 256, Crop: 224, Interpolation: "bilinear", Channels: "RGB", Scale: 1. / 255,
		Mean: [3]float32{0.485, 0.456, 0.406}, Std: [3]float32{0.229, 0.224, 0.225}}
	model, err := os.ReadFile(reference.Asset(t, "models/mobilenetv2-features.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	net, err := ort.NewNetwork(orttest.Runtime(t), model, "features",
		ort.NetworkInput{Channels: 3, Height: 224, Width: 224})
	if err != nil {
		t.Fatal(err)
	}
	defer net.Close()
	var pixels, worst, cosines float64
	least := 1.0
	for name, data := range files {
		exact, exactFeatures := seenBy(t, net, data, p, "")
		fast, fastFeatures := seenBy(t, net, data, p, backbone.FastDecoder)
		sum := 0.0
		for i, v := range exact {
			sum += math.Abs(float64(v-fast[i])) * float64(p.Std[i/(224*224)]) * 255
		}
		mean, cosine := sum/float64(len(exact)), cosineOf(exactFeatures, fastFeatures)
		if mean == 0 {
			t.Errorf("%s: the fast decoder changes nothing", name)
		}
		t.Logf("%s: pixels differ by %.3f of 255 on average, cosine of the features %.5f", name, mean, cosine)
		pixels, worst = pixels+mean, max(worst, mean)
		cosines, least = cosines+cosine, min(least, cosine)
	}
	n := float64(len(files))
	t.Logf("%d photographs: pixels differ by %.2f of 255 on average, %.2f in the worst; cosine %.4f on average, "+
		"%.4f at least", len(files), pixels/n, worst, cosines/n, least)
	if pixels/n > 1.5 || cosines/n < 0.98 {
		t.Errorf("pixels differ by %.2f on average, the cosine is %.4f", pixels/n, cosines/n)
	}
}

// seenBy is what the network is shown of a file read by a decoder, and what it makes of it.
func seenBy(t *testing.T, net backbone.Network, data []byte, p backbone.Preprocessing, decoder string) (pixels,
	vector []float32) {
	t.Helper()
	p.Decoder = decoder
	img, err := backbone.Decode(data, p.DecodeOptions())
	if err != nil {
		t.Fatal(err)
	}
	pixels = make([]float32, p.Size())
	if err := backbone.Preprocess(pixels, img, p); err != nil {
		t.Fatal(err)
	}
	x := features.NewMatrix(1, net.Dim())
	if err := net.Infer(x, pixels, 1); err != nil {
		t.Fatal(err)
	}
	return pixels, x.Data
}

func cosineOf(a, b []float32) float64 {
	var ab, aa, bb float64
	for i, v := range a {
		ab, aa, bb = ab+float64(v)*float64(b[i]), aa+float64(v)*float64(v), bb+float64(b[i])*float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}
