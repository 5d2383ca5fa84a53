package backbone_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/disintegration/imaging"
	"github.com/google/go-cmp/cmp"

	"winnow/backbone"
)

// scene returns a coloured photograph of w×h pixels.
func scene(w, h, seed int) *image.NRGBA {
	return imaging.Clone(backbone.Photograph(w, h, uint64(seed)))
}

// changed returns an image with every colour mapped by to.
func changed(img *image.NRGBA, to func(c color.NRGBA) color.NRGBA) *image.NRGBA {
	out := image.NewNRGBA(img.Rect)
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			out.SetNRGBA(x, y, to(img.NRGBAAt(x, y)))
		}
	}
	return out
}

func TestProblems(t *testing.T) {
	files, want := fstest.MapFS{}, map[string]backbone.Problem{}
	add := func(name string, img image.Image, p backbone.Problem) {
		var file bytes.Buffer
		if len(want)%2 == 0 {
			name += ".jpg"
			if err := jpeg.Encode(&file, img, &jpeg.Options{Quality: 90}); err != nil {
				t.Fatal(err)
			}
		} else if name += ".png"; png.Encode(&file, img) != nil {
			t.Fatal(name)
		}
		files[name], want[name] = &fstest.MapFile{Data: file.Bytes()}, p
	}
	for i := range 40 {
		add(fmt.Sprintf("%02d", i), scene(150+3*i, 200-i, i), "")
	}
	level := func(scale, shift float64) func(color.NRGBA) color.NRGBA {
		part := func(v uint8) uint8 { return uint8(scale*float64(v) + shift) }
		return func(c color.NRGBA) color.NRGBA {
			return color.NRGBA{R: part(c.R), G: part(c.G), B: part(c.B), A: 255}
		}
	}
	for i := range 2 { // as JPEG and as PNG
		n := fmt.Sprint(i)
		add("dark"+n, changed(scene(200, 180, i), level(0.2, 0)), backbone.Dark)
		add("bright"+n, changed(scene(200, 180, i), level(0.04, 245)), backbone.Bright)
		add("blurred"+n, imaging.Blur(scene(200, 180, i), 2), backbone.Blurred)
		add("small"+n, scene(40, 40, i), backbone.OddSize)
		add("narrow"+n, scene(320, 90, i), backbone.OddAspect)
		add("grey"+n, changed(scene(200, 180, i), func(c color.NRGBA) color.NRGBA {
			return color.NRGBA{R: c.G, G: c.G, B: c.G, A: 255}
		}), backbone.Greyscale)
		add("plain"+n, changed(scene(200, 180, i), func(color.NRGBA) color.NRGBA {
			return color.NRGBA{R: 180, G: 90, B: 30, A: 255}
		}), backbone.LowInformation)
	}
	files["broken.jpg"] = &fstest.MapFile{Data: []byte("\xff\xd8\xff no more")}
	want["broken.jpg"] = ""
	var paths []string
	for name := range want {
		paths = append(paths, name)
	}
	looks, err := backbone.Looks(t.Context(), files, paths, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range looks {
		if again := backbone.ParseLook(l.String()); again.String() != l.String() {
			t.Errorf("%s: %q was read as %q", paths[i], l, again)
		}
	}
	for i, found := range backbone.FindProblems(looks) {
		want := want[paths[i]]
		at := slices.IndexFunc(found, func(f backbone.Found) bool { return f.Problem == want })
		switch {
		case want == "" && len(found) > 0, want != "" && at < 0:
			t.Errorf("%s: found %v, expected %q: %v", paths[i], found, want, looks[i])
		case at >= 0 && found[at].Why == "":
			t.Errorf("%s: %s without a reason", paths[i], want)
		}
	}
}

// A problem that many images have is normal for the set.
func TestProblemsOfAll(t *testing.T) {
	usual := backbone.Look{W: 28, H: 28, Lightest: 60, Entropy: 2, Sharpness: 1}
	looks := make([]backbone.Look, 100)
	for i := range looks {
		looks[i] = usual
	}
	if found := backbone.FindProblems(looks); len(slices.Concat(found...)) > 0 {
		t.Errorf("found %v in equal images, expected no problem", found)
	}
	looks[7] = backbone.Look{} // was not read
	looks[9].W, looks[9].H = 280, 280
	want := make([][]backbone.Found, len(looks))
	want[9] = []backbone.Found{{backbone.OddSize, "280×280 pixels, where the median is about 28×28"}}
	if diff := cmp.Diff(want, backbone.FindProblems(looks)); diff != "" {
		t.Error(diff)
	}
	if n := len(backbone.FindProblems(looks[7:8])[0]); n > 0 {
		t.Errorf("%d problems of an image that was not read", n)
	}
}
