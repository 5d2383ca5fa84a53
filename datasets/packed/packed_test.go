package packed

import (
	"errors"
	"io/fs"
	"testing"

	"golang.org/x/image/bmp"
)

// drawn returns a folder of images whose pixels are a function of image number, channel and position.
func drawn(folder string, w, h, channels, count int) Images {
	return Images{Folder: folder, Width: w, Height: h, Channels: channels, Count: count, Pixels: func(i int) []byte {
		p := make([]byte, w*h*channels)
		for k := range p {
			p[k] = byte(31*i + 7*k + k/w)
		}
		return p
	}}
}

// TestPixels decodes files of several widths (rows are padded to 4 bytes) and compares every pixel.
func TestPixels(t *testing.T) {
	for _, channels := range []int{1, 3} {
		for w := 1; w <= 5; w++ {
			m := drawn("train", w, 3, channels, 12)
			f, err := FS(m).Open(m.Path(11))
			if err != nil {
				t.Fatal(err)
			}
			img, err := bmp.Decode(f)
			if err != nil {
				t.Fatal(err)
			}
			if b := img.Bounds(); b.Dx() != w || b.Dy() != 3 {
				t.Fatalf("found %v, expected %d×3", b, w)
			}
			p := m.Pixels(11)
			for y := range 3 {
				for x := range w {
					r, g, b, _ := img.At(x, y).RGBA()
					at := func(c int) byte { return p[min(c, channels-1)*w*3+y*w+x] }
					if byte(r>>8) != at(0) || byte(g>>8) != at(1) || byte(b>>8) != at(2) {
						t.Errorf("%d channels, width %d: pixel (%d, %d) is %v, expected %d %d %d", channels, w, x, y,
							img.At(x, y), at(0), at(1), at(2))
					}
				}
			}
		}
	}
}

func TestNames(t *testing.T) {
	tree := FS(drawn("test", 3, 2, 1, 4), drawn("train", 2, 2, 3, 3))
	for _, name := range []string{"test/00004.bmp", "test/3.bmp", "test/000003.bmp", "test/+0003.bmp", "test/-0001.bmp",
		"test/00003.png", "other/00000.bmp", "test/00000.bmp/x", "test/sub/00000.bmp"} {
		if _, err := tree.Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: found %v, expected that there is no such file", name, err)
		}
	}
}
