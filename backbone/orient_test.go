package backbone

import (
	"bytes"
	"fmt"
	"image"
	"testing"
)

// TestOrientationAsPIL checks all eight orientations in PNG, and one each in JPEG and WebP.
func TestOrientationAsPIL(t *testing.T) {
	files := map[string]string{"exif-jpg.jpg": "exif-jpg-turned.png", "exif-webp.webp": "exif-webp-turned.png"}
	for o := 1; o <= 8; o++ {
		files[fmt.Sprintf("exif-%d.png", o)] = fmt.Sprintf("exif-%d-turned.png", o)
	}
	for name, reference := range files {
		data := readFile(t, "testdata/pil/"+name)
		want, w, h := seenByPIL(t, "testdata/pil/"+reference)
		img, err := Decode(data, DecodeOptions{EXIF: true})
		if err != nil {
			t.Fatal(err)
		}
		if b := img.Bounds(); b.Dx() != w || b.Dy() != h {
			t.Errorf("%s: size %v, expected %d×%d", name, b, w, h)
			continue
		}
		if mean, most := difference(rgbOf(img), want); most > 3 || most > 0 && name != "exif-jpg.jpg" {
			t.Errorf("%s: differs by %.3f on average, %d at most", name, mean, most)
		}
		asStored, err := Decode(data, DecodeOptions{})
		if err != nil || asStored.Bounds() != image.Rect(0, 0, 13, 8) {
			t.Errorf("%s: rotated although EXIF is off: %v", name, err)
		}
	}
}

// TestOrientByDefinition checks the place of each stored pixel against the table of the EXIF standard.
func TestOrientByDefinition(t *testing.T) {
	img, err := Decode(readFile(t, "testdata/pil/jpeg-420.jpg"), DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const w, h = 37, 29
	stored := rgbOf(img)
	from := map[int]func(x, y int) (int, int){
		1: func(x, y int) (int, int) { return x, y },
		2: func(x, y int) (int, int) { return w - 1 - x, y },
		3: func(x, y int) (int, int) { return w - 1 - x, h - 1 - y },
		4: func(x, y int) (int, int) { return x, h - 1 - y },
		5: func(x, y int) (int, int) { return y, x },
		6: func(x, y int) (int, int) { return y, h - 1 - x },
		7: func(x, y int) (int, int) { return w - 1 - y, h - 1 - x },
		8: func(x, y int) (int, int) { return w - 1 - y, x },
	}
	for o, at := range from {
		turned := orientPicture(img, o)
		b := turned.Bounds()
		if (b.Dx() == h) != (o >= 5) {
			t.Errorf("orientation %d: size %v", o, b)
			continue
		}
		got := rgbOf(turned)
		for i := range b.Dx() * b.Dy() {
			x, y := at(i%b.Dx(), i/b.Dx())
			if !bytes.Equal(got[3*i:3*i+3], stored[3*(w*y+x):][:3]) {
				t.Errorf("orientation %d: pixel %d, %d", o, i%b.Dx(), i/b.Dx())
				break
			}
		}
	}
}

// TestBrokenEXIF checks that an image with a damaged EXIF block is decoded as stored.
func TestBrokenEXIF(t *testing.T) {
	data := readFile(t, "testdata/pil/exif-jpg.jpg")
	at := bytes.Index(data, []byte("Exif\x00\x00"))
	for i := range 26 { // the header and one entry
		spoilt := bytes.Clone(data)
		spoilt[at+6+i] ^= 0xff
		if _, err := Decode(spoilt, DecodeOptions{EXIF: true}); err != nil {
			t.Errorf("byte %d: %v", i, err)
		}
	}
}
