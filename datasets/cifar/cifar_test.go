package cifar

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/image/bmp"

	"winnow/datasets"
)

// records makes images whose pixels are a function of their number and position.
func records(labels ...[]byte) []byte {
	var out []byte
	for i, l := range labels {
		out = append(out, l...)
		for k := range pixels {
			out = append(out, byte(i+k/7))
		}
	}
	return out
}

func small() fstest.MapFS {
	return fstest.MapFS{
		"data_batch_1.bin": {Data: records([]byte{3}, []byte{9})},
		"data_batch_2.bin": {Data: records([]byte{0})},
		"test_batch.bin":   {Data: records([]byte{1})},
		"batches.meta.txt": {Data: []byte("airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n")},
	}
}

func TestTen(t *testing.T) {
	d, err := Read10(small())
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
	images, err := Images(small())
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(images, d.Paths()...); err != nil {
		t.Error(err)
	}
	f, err := images.Open("train/00001.bmp")
	if err != nil {
		t.Fatal(err)
	}
	img, err := bmp.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	for y := range side {
		for x := range side {
			r, g, b, _ := img.At(x, y).RGBA()
			at := func(plane int) byte { return byte(1 + (plane*side*side+y*side+x)/7) }
			if byte(r>>8) != at(0) || byte(g>>8) != at(1) || byte(b>>8) != at(2) {
				t.Fatalf("pixel (%d, %d) is %d %d %d, expected %d %d %d", x, y, r>>8, g>>8, b>>8, at(0), at(1), at(2))
			}
		}
	}
}

func TestHundred(t *testing.T) {
	m := fstest.MapFS{"train.bin": {Data: records([]byte{19, 99}, []byte{3, 0})}}
	d, err := Read100(m)
	if err != nil {
		t.Fatal(err)
	}
	if s := d.Samples[0]; len(d.Samples) != 2 || d.Classes[s.Label] != "99" || s.Extra[0] != "19" ||
		d.Columns[0] != "coarse" {
		t.Errorf("found %+v", d)
	}
	if !Here(m) {
		t.Error("not recognised")
	}
	if _, err := Images(m); err != nil {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		change func(fstest.MapFS)
		want   string
	}{
		{func(m fstest.MapFS) { clear(m) },
			"cifar: found neither data_batch_1.bin nor test_batch.bin, the files of CIFAR-10's binary version"},
		{func(m fstest.MapFS) { delete(m, "data_batch_1.bin") },
			"cifar: found data_batch_2.bin without data_batch_1.bin: the images could not be numbered"},
		{func(m fstest.MapFS) { m["data_batch_1.bin"].Data = m["data_batch_1.bin"].Data[:5000] },
			"cifar: data_batch_1.bin: found 5000 bytes, expected records of 3073"},
		{func(m fstest.MapFS) { m["test_batch.bin"].Data = nil }, "cifar: test_batch.bin: found 0 bytes"},
		{func(m fstest.MapFS) { m["test_batch.bin"].Data = records([]byte{10}) },
			"cifar: test: image 0 has the label 10, expected 0 to 9"},
	} {
		m := small()
		c.change(m)
		if _, err := Read10(m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("found %v, expected %q", err, c.want)
		}
	}
	if Here(fstest.MapFS{"train.bin": {Data: make([]byte, 100)}}) {
		t.Error("another train.bin was taken for CIFAR-100")
	}
	without := small()
	delete(without, "batches.meta.txt")
	if d, err := Read10(without); err != nil || d.Classes[9] != "9" {
		t.Errorf("found %v, %v", d, err)
	}
}

// FuzzRead: a dataset that can be read has an image for every sample, and a label with a name.
func FuzzRead(f *testing.F) {
	f.Add(records([]byte{3}, []byte{9}), []byte("a\nb\n"))
	f.Add(records([]byte{3})[:100], []byte{})
	f.Add(records([]byte{77, 12}), []byte(strings.Repeat("x\n", 100)))
	f.Fuzz(func(t *testing.T, data, names []byte) {
		m := fstest.MapFS{"data_batch_1.bin": {Data: data}, "batches.meta.txt": {Data: names},
			"test.bin": {Data: data}, "fine_label_names.txt": {Data: names}}
		for _, read := range []func(fs.FS) (*datasets.Dataset, error){Read10, Read100} {
			d, err := read(m)
			if err != nil {
				continue
			}
			for _, s := range d.Samples {
				if s.Label < 0 || s.Label >= len(d.Classes) || d.Classes[s.Label] == "" {
					t.Fatalf("found %+v of %d classes", s, len(d.Classes))
				}
			}
		}
	})
}
