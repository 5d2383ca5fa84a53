package packed

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/image/bmp"

	"winnow/datasets"
)

// records returns records with these labels; the pixels are a function of image number and position.
func records(labels ...[]byte) []byte {
	var out []byte
	for i, l := range labels {
		out = append(out, l...)
		for k := range cifarPixels {
			out = append(out, byte(i+k/7))
		}
	}
	return out
}

func smallCIFAR() fstest.MapFS {
	return fstest.MapFS{
		"data_batch_1.bin": {Data: records([]byte{3}, []byte{9})},
		"data_batch_2.bin": {Data: records([]byte{0})},
		"test_batch.bin":   {Data: records([]byte{1})},
		"batches.meta.txt": {Data: []byte("airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n")},
	}
}

func TestCIFAR10(t *testing.T) {
	d, err := ReadCIFAR10(smallCIFAR())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range d.Samples {
		got = append(got, fmt.Sprint(s.Path, " ", d.Classes[s.Label], " ", s.True == datasets.Unlabelled, " ", s.Split))
	}
	if text := strings.Join(got, "\n"); text != "train/00000.bmp cat true train\n"+
		"train/00001.bmp truck true train\ntrain/00002.bmp airplane true train\ntest/00000.bmp automobile true test" {
		t.Errorf("found\n%s", text)
	}
	images, err := Open(smallCIFAR())
	if err != nil {
		t.Fatal(err)
	}
	f, err := images.Open("train/00001.bmp")
	if err != nil {
		t.Fatal(err)
	}
	img, err := bmp.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	for y := range cifarSide {
		for x := range cifarSide {
			r, g, b, _ := img.At(x, y).RGBA()
			at := func(plane int) byte { return byte(1 + (plane*cifarSide*cifarSide+y*cifarSide+x)/7) }
			if byte(r>>8) != at(0) || byte(g>>8) != at(1) || byte(b>>8) != at(2) {
				t.Fatalf("pixel (%d, %d) is %d %d %d, expected %d %d %d", x, y, r>>8, g>>8, b>>8, at(0), at(1), at(2))
			}
		}
	}
}

func TestCIFAR100(t *testing.T) {
	m := fstest.MapFS{"train.bin": {Data: records([]byte{19, 99}, []byte{3, 0})}}
	d, err := ReadCIFAR100(m)
	if err != nil {
		t.Fatal(err)
	}
	if s := d.Samples[0]; len(d.Samples) != 2 || d.Classes[s.Label] != "99" {
		t.Errorf("found %+v", d)
	}
	if images, err := Open(m); err != nil || images == nil {
		t.Errorf("not recognised: %v", err)
	}
}

func TestCIFARErrors(t *testing.T) {
	for _, spoil := range []func(fstest.MapFS){
		func(m fstest.MapFS) { clear(m) },
		func(m fstest.MapFS) { m["data_batch_1.bin"].Data = m["data_batch_1.bin"].Data[:5000] },
		func(m fstest.MapFS) { m["test_batch.bin"].Data = records([]byte{10}) },
	} {
		m := smallCIFAR()
		spoil(m)
		if d, err := ReadCIFAR10(m); err == nil {
			t.Errorf("read %+v", d)
		}
	}
	if images, _ := Open(fstest.MapFS{"train.bin": {Data: make([]byte, 100)}}); images != nil {
		t.Error("another train.bin was taken for CIFAR-100")
	}
}
