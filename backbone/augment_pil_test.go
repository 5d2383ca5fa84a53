package backbone

import (
	"encoding/json"
	"hash/crc32"
	"math"
	"slices"
	"testing"
)

// viewCase describes a view made by torchvision and PIL (testdata/augment/make.py).
type viewCase struct {
	Kind   string
	Grey   bool
	Way    string
	Box    [4]int
	Flip   bool
	Resize int
	Exact  bool
	Pad    int
	X, Y   int
	Steps  [][2]any
	Angle  float64
	Zoom   float64
	Right  float64
	Down   float64
}

// casesOfPIL returns the cases and the RGB bytes of each.
func casesOfPIL(t testing.TB) (cases []viewCase, every [][3]any, want [][]byte) {
	t.Helper()
	var file struct {
		Every [][3]any
		Cases []viewCase
	}
	if err := json.Unmarshal(readFile(t, "testdata/augment/views.json"), &file); err != nil {
		t.Fatal(err)
	}
	pix, w, h := seenByPIL(t, "testdata/augment/views.png")
	const side = 32
	if w != side || h != side*len(file.Cases) || len(file.Cases) < 60 || len(file.Every) < 4 {
		t.Fatalf("%d cases, %d checksums, %d×%d pixels", len(file.Cases), len(file.Every), w, h)
	}
	return file.Cases, file.Every, slices.Collect(slices.Chunk(pix, 3*side*side))
}

// viewOf returns the plan of a case and its preprocessing.
func viewOf(t testing.TB, c viewCase) (Preprocessing, view) {
	t.Helper()
	const side, w, h = 32, 61, 47
	p := unchanged(side, side, "bilinear")
	p.Exact = true
	if c.Grey {
		p.Channels = "L"
	}
	v := Augmentation{}.planView(p, w, h, new(draws))
	switch c.Kind {
	case "resized":
		p.Interpolation = c.Way
		v.across = strip{from: c.Box[0], n: c.Box[2], out: side, total: side}
		v.down = strip{from: c.Box[1], n: c.Box[3], out: side, total: side}
		v.flip = c.Flip
	case "random":
		p.Resize, p.Exact = c.Resize, c.Exact
		rw, rh := p.targetSize(w, h)
		v.across, v.down = padAxis(w, rw, side, c.Pad), padAxis(h, rh, side, c.Pad)
		v.across.start, v.down.start = c.X, c.Y
	case "colour":
		for _, s := range c.Steps {
			k := uint8(slices.Index([]string{"brightness", "contrast", "saturation", "hue"}, s[0].(string)))
			v.colour.factor[k] = s[1].(float64)
			v.colour.order[v.colour.steps] = k
			v.colour.steps++
		}
	case "togrey":
		v.colour.grey = true
	case "warp":
		v.warp = warp{angle: c.Angle * math.Pi / 180, zoom: c.Zoom, right: c.Right, down: c.Down}
	default:
		t.Fatalf("case %+v", c)
	}
	return p, v
}

// againstPIL renders a case and compares the result with PIL's.
func againstPIL(t testing.TB, c viewCase, want []byte, spoil func(*view)) (mean float64, most int) {
	t.Helper()
	p, w := viewOf(t, c)
	spoil(&w)
	v, err := NewViewer(p, Augmentation{})
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float32, p.Size())
	v.renderView(dst, resizePicture(t), w)
	if !c.Grey {
		return difference(pixelsOf(dst, 32, 3), want)
	}
	grey := make([]byte, len(dst))
	for i := range grey {
		grey[i] = want[3*i]
	}
	return difference(pixelsOf(dst, 32, 1), grey)
}

// TestViewsAsPIL checks that crops, flips, colour changes and grey equal PIL's to the byte. PIL's affine transform
// truncates bilinear values to integers, winnow rounds: winnow is half a level brighter on average, at most one.
func TestViewsAsPIL(t *testing.T) {
	cases, _, want := casesOfPIL(t)
	var warped float64
	warps := 0
	for i, c := range cases {
		mean, most := againstPIL(t, c, want[i], func(*view) {})
		switch {
		case c.Kind == "warp":
			warped, warps = warped+mean, warps+1
			if most > 1 {
				t.Errorf("%+v: differs by %.3f on average, %d at most", c, mean, most)
			}
		case most != 0:
			t.Errorf("%+v: differs by %.3f on average, %d at most", c, mean, most)
		}
	}
	t.Logf("%d warps: mean difference %.3f", warps, warped/float64(warps))
}

// TestEveryColourAsPIL checks that a change of all 16,777,216 colours has PIL's checksum.
func TestEveryColourAsPIL(t *testing.T) {
	const n = 1 << 24
	_, every, _ := casesOfPIL(t)
	pix, out := make([]byte, 3*n), make([]byte, 3*n)
	for _, e := range every {
		for i := range n {
			pix[i], pix[n+i], pix[2*n+i] = byte(i>>16), byte(i>>8), byte(i)
		}
		k := uint8(slices.Index([]string{"brightness", "contrast", "saturation", "hue"}, e[0].(string)))
		c := colourChange{order: [4]uint8{k}, steps: 1}
		c.factor[k] = e[1].(float64)
		c.applyColour(pix, 3)
		for i := range n {
			out[3*i], out[3*i+1], out[3*i+2] = pix[i], pix[n+i], pix[2*n+i]
		}
		if sum := crc32.ChecksumIEEE(out); sum != uint32(e[2].(float64)) {
			t.Errorf("%v by %v: checksum %d, PIL's is %.0f", e[0], e[1], sum, e[2])
		}
	}
}
