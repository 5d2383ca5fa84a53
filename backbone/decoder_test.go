package backbone

import (
	"image"
	"strings"
	"testing"
)

// fast is p with the decoder that reduces.
func fast(p Preprocessing) Preprocessing {
	p.Decoder = FastDecoder
	return p
}

// A photograph is reduced as far as the views allow, never below the size that they are cut from.
func TestEnough(t *testing.T) {
	exact := fast(imageNet)
	exact.Exact = true
	whole := fast(imageNet)
	whole.Resize = 0
	for _, c := range []struct {
		name  string
		p     Preprocessing
		views []Augmentation
		w, h  int
		want  int
	}{
		{"exact decoder", imageNet, nil, 4096, 4096, 1},
		{"just too small", fast(imageNet), nil, 511, 900, 1},
		{"just enough", fast(imageNet), nil, 512, 900, 2},
		{"by four", fast(imageNet), nil, 1500, 1024, 4},
		{"by eight and no more", fast(imageNet), nil, 9000, 9000, 8},
		{"a square of a long picture", exact, nil, 5000, 600, 2},
		{"no resize", whole, nil, 4096, 4096, 1},
		{"random crops of a larger one", fast(imageNet), []Augmentation{{}, {Crop: "random", Resize: 300}}, 599,
			599, 1},
		{"random crops of a larger one", fast(imageNet), []Augmentation{{}, {Crop: "random", Resize: 300}}, 600,
			600, 2},
		{"resized crops show any scale", fast(imageNet), []Augmentation{{}, {Crop: "resized"}}, 4096, 4096, 1},
	} {
		if got := c.p.DecodeOptions(c.views...).findReduction(c.w, c.h); got != c.want {
			t.Errorf("%s: %d×%d reduced by %d, expected %d", c.name, c.w, c.h, got, c.want)
		}
	}
}

// The network's input from a reduced photograph is close to that from the whole one, but not the same.
func TestFastIsClose(t *testing.T) {
	data := photographJPEG(t, 1200, 800, 3)
	seen := func(p Preprocessing) ([]float32, image.Rectangle) {
		img, err := Decode(data, p.DecodeOptions())
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]float32, p.Size())
		if err := Preprocess(dst, img, p); err != nil {
			t.Fatal(err)
		}
		return dst, img.Bounds()
	}
	p := imageNet
	p.Scale, p.Mean, p.Std = 1, [3]float32{}, [3]float32{1, 1, 1}
	want, size := seen(p)
	if size.Dx() != 1200 {
		t.Errorf("the exact decoder gave %v", size)
	}
	got, size := seen(fast(p))
	if size.Dx() != 600 || size.Dy() != 400 {
		t.Errorf("reduced to %v, expected 600×400", size)
	}
	sum := 0.0
	for i := range got {
		sum += float64(max(got[i]-want[i], want[i]-got[i]))
	}
	if mean := sum / float64(len(got)); mean == 0 || mean > 2 {
		t.Errorf("differs by %.3f grey values on average", mean)
	}
	if _, err := Decode(data[:len(data)/2], fast(p).DecodeOptions()); err == nil ||
		!strings.Contains(err.Error(), "end") && !strings.Contains(err.Error(), "short") {
		t.Errorf("half a file: %v", err)
	}
}

func TestDecoderNames(t *testing.T) {
	for name, want := range map[string]string{"exact": "exact 2", "fast": "fast 1"} {
		d, err := ParseDecoder(name)
		p := imageNet
		p.Decoder = d
		if err != nil || p.DecoderVersion() != want || p.Validate() != nil {
			t.Errorf("%s: found %q, %v, %v", name, p.DecoderVersion(), err, p.Validate())
		}
		again, err := ParsePreprocessing(p.Key())
		if err != nil || again != p {
			t.Errorf("%s: found %+v, %v", name, again, err)
		}
	}
	if strings.Contains(imageNet.Key(), "decoder") {
		t.Error("texts of before there were decoders are other texts now")
	}
	if _, err := ParseDecoder("quick"); err == nil {
		t.Error("quick is a decoder")
	}
	p := imageNet
	p.Decoder = "exact"
	if p.Validate() == nil {
		t.Error("one preprocessing has two texts")
	}
}
