package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/datasets/packed"

	"winnow/datasets"
	"winnow/internal/testing/reference"
)

func prepare(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if err := run(args, &out, &errs); err != nil {
		t.Fatal(err, errs.String())
	}
	return out.String()
}

func writeZip(t *testing.T, path string, files map[string][]byte) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, data := range files {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		f.Write(data)
	}
	w.Close()
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func encoded(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestCIFAR makes sheets of images, converts them, and reads the result with winnow's reader.
func TestCIFAR(t *testing.T) {
	dir := t.TempDir()
	files := map[string][]byte{}
	labels, human := "row,label\n", "index,clean_label,aggre_label,worse_label,"+
		"random_label1,random_label2,random_label3\n"
	for _, k := range []int{0, 1, 2, 3, 4, 50} {
		img := image.NewNRGBA(image.Rect(0, 0, 1024, perSheet))
		for row := range perSheet {
			n := k*perSheet + row
			labels += fmt.Sprintf("%d,%d\n", n, n%10)
			for x := range 1024 {
				img.SetNRGBA(x, row, color.NRGBA{byte(n), byte(x), byte(x >> 8), 255})
			}
		}
		files[fmt.Sprintf("cifar10_batch_%d.png", k)] = encoded(t, img)
	}
	for i := range 5000 {
		human += fmt.Sprintf("%d,%d,%d,%d,%[2]d,%[2]d,%[2]d\n", i, i%10, i%10, (i+i%2)%10)
	}
	files["labels.csv"] = []byte(labels)
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	io.WriteString(w, human)
	w.Close()
	list := filepath.Join(dir, "n.csv.gz")
	if err := os.WriteFile(list, zipped.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	out := prepare(t, "cifar10n", "-images", writeZip(t, filepath.Join(dir, "sheets.zip"), files), "-labels", list,
		"-out", filepath.Join(dir, "o"))
	if !strings.Contains(out, "worse.csv") || !strings.Contains(out, "wrong labels in train: 50.00 %") {
		t.Errorf("found\n%s", out)
	}
	root := os.DirFS(filepath.Join(dir, "o"))
	d, err := packed.ReadCIFAR10(root)
	if err != nil || len(d.Samples) != 6000 || d.Samples[4999].Label != 9 || d.Samples[5001].Path != "test/00001.bmp" {
		t.Fatalf("found %d samples, %v", len(d.Samples), err)
	}
	images, err := packed.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	f, err := images.Open("train/01234.bmp")
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	// pixel (3, 2) is number 67 of its row in the sheet; a BMP starts with the bottom row, and each pixel with blue
	if at := data[54+(31-2)*96+3*3:]; at[2] != byte(1234%256) || at[1] != 67 || at[0] != 0 {
		t.Errorf("found the pixel %v, expected 210 67 0", at[:3])
	}
	worse, err := datasets.ReadFile(filepath.Join(dir, "o", "worse.csv"), datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s := worse.Samples[3]; worse.Classes[s.Label] != cifarClasses[4] || worse.Classes[s.True] != cifarClasses[3] {
		t.Errorf("found %+v", s)
	}
}

// TestOmniglot tests that each character is in one split, that the drawings are inverted, and that the result depends
// only on the seed.
func TestOmniglot(t *testing.T) {
	dir := t.TempDir()
	files := map[string][]byte{"set/readme.txt": nil}
	for c := range 10 {
		for k := range 3 {
			img := image.NewGray(image.Rect(0, 0, 4, 4))
			for i := range img.Pix {
				img.Pix[i] = 255
			}
			img.Pix[c] = 0
			files[fmt.Sprintf("set/Greek/character%02d/%d.png", c, k)] = encoded(t, img)
		}
	}
	a, b := writeZip(t, filepath.Join(dir, "a.zip"), files), writeZip(t, filepath.Join(dir, "b.zip"), files)
	out := filepath.Join(dir, "o")
	text := prepare(t, "omniglot", "-out", out, "-test", "3", "-validation", "2", a, b)
	for _, want := range []string{"train          15 images,    5 classes of 3 to 3",
		"validation      6 images,    2 classes", "test            9 images,    3 classes"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	z, err := zip.OpenReader(filepath.Join(out, "omniglot.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	f, err := z.Open("Greek/character07/1.png")
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if g := img.(*image.Gray); g.Pix[7] != 255 || g.Pix[6] != 0 {
		t.Errorf("found %v, expected white on black", g.Pix)
	}
	first, err := os.ReadFile(filepath.Join(out, "omniglot.csv"))
	if err != nil {
		t.Fatal(err)
	}
	prepare(t, "omniglot", "-out", out, "-test", "3", "-validation", "2", a)
	if again, err := os.ReadFile(filepath.Join(out, "omniglot.csv")); err != nil || !bytes.Equal(first, again) {
		t.Errorf("the same seed gave a different split (%v)", err)
	}
	files["set/Greek/character01/0.png"] = files["set/Greek/character02/0.png"]
	other := writeZip(t, filepath.Join(dir, "c.zip"), files)
	if err := run([]string{"omniglot", "-out", out, a, other}, io.Discard, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "Greek/character01/0.png differs") {
		t.Errorf("found %v, expected an error for different drawings with the same name", err)
	}
	if err := run([]string{"omniglot", "-out", out, "-test", "10", a}, io.Discard, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "expected some left for training") {
		t.Errorf("found %v", err)
	}
}

func TestCUB(t *testing.T) {
	dir := t.TempDir()
	files := map[string][]byte{}
	for _, n := range []int{1, 100, 101, 150, 151, 200} {
		files[fmt.Sprintf("images/%03d.Bird_%d/a.jpg", n, n)] = nil
	}
	in := writeZip(t, filepath.Join(dir, "cub.zip"), files)
	for protocol, want := range map[string]string{"prism": "train train validation validation test test",
		"half": "train train test test test test"} {
		out := filepath.Join(dir, protocol+".csv")
		prepare(t, "cub", "-out", out, "-protocol", protocol, in)
		d, err := datasets.ReadFile(out, datasets.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range d.Samples {
			got = append(got, s.Split)
		}
		if strings.Join(got, " ") != want || d.Classes[0] != "001.Bird_1" {
			t.Errorf("%s: found %v", protocol, got)
		}
	}
	files["images/201.Bird/a.jpg"] = nil
	if err := run([]string{"cub", "-out", filepath.Join(dir, "x.csv"), writeZip(t, in, files)}, io.Discard,
		io.Discard); err == nil || !strings.Contains(err.Error(), "1 to 200") {
		t.Errorf("found %v", err)
	}
}

// TestReal prepares the published files and compares the printed counts and shares with the known values.
func TestReal(t *testing.T) {
	dir := t.TempDir()
	out := prepare(t, "cifar10n", "-images", reference.Asset(t, "data/cifar10-png-5k1k.zip"), "-labels",
		reference.Asset(t, "data/cifar10n.csv.gz"), "-out", dir)
	out += prepare(t, "omniglot", "-out", dir, reference.Asset(t, "data/omniglot/images_background_small1.zip"),
		reference.Asset(t, "data/omniglot/images_background_small2.zip"))
	out += prepare(t, "cub", "-out", filepath.Join(dir, "cub.csv"), reference.Asset(t, "data/cub200-2010-224px.zip"))
	for _, want := range []string{
		"train        5000 images,   10 classes of 460 to 520", "wrong labels in train: 9.38 %",
		"wrong labels in train: 17.58 %", "wrong labels in train: 41.86 %",
		"train        2840 images,  142 classes of 20 to 20", "test         1200 images,   60 classes of 20 to 20",
		"train        2990 images,  100 classes of 20 to 38", "test         1552 images,   50 classes",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestMisuse(t *testing.T) {
	for _, args := range [][]string{{}, {"imagenet"}, {"cub"}, {"cub", "-out", "x", "-protocol", "y", "z"},
		{"omniglot"}, {"cifar10n", "-out", "x"}} {
		var errs bytes.Buffer
		if err := run(args, io.Discard, &errs); err == nil || !strings.Contains(errs.String(), "usage: prepare") {
			t.Errorf("%q: found %v, %q", args, err, errs.String())
		}
	}
}
