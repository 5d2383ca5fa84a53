package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/internal/testing/orttest"
)

// writeDigits writes MNIST's four files, uncompressed, with n images of 28×28 in each split; the class is the index
// mod 3.
func writeDigits(t *testing.T, dir string, n int) {
	t.Helper()
	for _, part := range []string{"train", "t10k"} {
		images := binary.BigEndian.AppendUint32([]byte{0, 0, 8, 3}, uint32(n))
		images = binary.BigEndian.AppendUint32(images, 28)
		images = binary.BigEndian.AppendUint32(images, 28)
		labels := binary.BigEndian.AppendUint32([]byte{0, 0, 8, 1}, uint32(n))
		for i := range n {
			labels = append(labels, byte(i%3))
			for k := range 784 {
				images = append(images, byte(80*(i%3)+(k*i)%20))
			}
		}
		for name, data := range map[string][]byte{part + "-images-idx3-ubyte": images, part +
			"-labels-idx1-ubyte": labels} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestPreset imports the files of a published dataset and extracts its images with the same root.
func TestPreset(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("WINNOW_MODELS", filepath.Join(dir, "models.json"))
	writeDigits(t, dir, 30)
	manifest := filepath.Join(dir, "digits.csv")
	var out, errs bytes.Buffer
	winnow := func(args ...string) int {
		out.Reset()
		errs.Reset()
		return execute(context.Background(), append([]string{"winnow"}, args...), &out, &errs)
	}
	if code := winnow("data", "import", "--preset", "mnist", "--root", dir, "--validation", "0.2", "--out",
		manifest); code != 0 {
		t.Fatal(errs.String())
	}
	holds(t, out.String(), "train           24 images       3 classes of 8 to 8 images",
		"validation       6 images       3 classes of 2 to 2", "test            30 images       3 classes")
	d, err := datasets.ReadFile(manifest, datasets.ReadOptions{})
	if err != nil || len(d.Samples) != 60 || d.Samples[0].Path != "train/00000.bmp" ||
		d.Samples[30].Split != datasets.Test {
		t.Fatalf("found %+v, %v", d, err)
	}
	// --strict fails, as the splits share pictures
	if code := winnow("data", "check", manifest, "--strict"); code != 1 || !strings.Contains(out.String(),
		"unreadable: 0\n") {
		t.Errorf("check: code %d, %s%s", code, out.String(), errs.String())
	}
	noisy := filepath.Join(dir, "noisy.csv")
	if code := winnow("data", "corrupt", manifest, "--noise-rate", "0.5", "--out", noisy); code != 0 ||
		!strings.Contains(out.String(), "train: ") {
		t.Errorf("corrupt: code %d, %s%s", code, out.String(), errs.String())
	}
	if code := winnow("models", "new", "digits", "--arch", "lenet"); code != 0 {
		t.Fatal(errs.String())
	}
	store := filepath.Join(dir, "store")
	if code := winnow("--ort-lib", orttest.Runtime(t).Library(), "extract", "--manifest", noisy, "--root", dir,
		"--model", "digits", "--out", store, "--strict"); code != 0 || !strings.Contains(out.String(),
		"60 images × 500 values of digits") {
		t.Errorf("extract: code %d, %s%s", code, out.String(), errs.String())
	}
}

func TestPresetWrong(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--preset mnist", 2, "--preset needs --root"},
		{"--preset minst --root " + dir, 2,
			`"minst" is unknown (did you mean "mnist"?): known are caltech256, cars196, cars98n, cifar10, `},
		{"--preset mnist --root " + dir, 1, "found no train-images-idx3-ubyte.gz"},
		{"--preset cifar10 --root " + dir, 1, "found neither data_batch_1.bin nor test_batch.bin"},
		{"--preset mnist --root " + dir + "/none", 1, "no such file"},
		{"--preset mnist --root " + dir + " --validation 1", 2, "--validation: found 1, expected a share from " +
			"0 to below 1"},
		{"--preset mnist --root " + dir + " --split train=1", 2, "--split does not go with --preset"},
		{"--preset mnist x --root " + dir, 2, `found the argument "x"`},
		{"--root " + dir + " " + dir, 1, "no image found"},
	} {
		var out, errs bytes.Buffer
		code := execute(context.Background(), append(strings.Fields("winnow data import --out "+
			filepath.Join(dir, "m.csv")), strings.Fields(c.args)...), &out, &errs)
		if code != c.code || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: code %d, %q, expected %d and %q", c.args, code, errs.String(), c.code, c.want)
		}
	}
}

// TestZip imports a zip file of class folders and reads images from it.
func TestZip(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "birds.ZIP")
	var data, picture bytes.Buffer
	img := image.NewGray(image.Rect(0, 0, 2, 2))
	img.SetGray(1, 1, color.Gray{200})
	if err := png.Encode(&picture, img); err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(&data)
	for _, name := range []string{"jay/1.png", "jay/2.png", "wren/1.png", "wren/notes.txt"} {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		f.Write(picture.Bytes())
	}
	w.Close()
	if err := os.WriteFile(file, data.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(dir, "birds.csv")
	var out, errs bytes.Buffer
	if code := execute(context.Background(), []string{"winnow", "data", "import", file, "--out", manifest}, &out,
		&errs); code != 0 || !strings.Contains(out.String(), "3 images       2 classes") {
		t.Fatalf("code %d, %s%s", code, out.String(), errs.String())
	}
	out.Reset()
	if code := execute(context.Background(), []string{"winnow", "data", "check", manifest, "--root", file}, &out,
		&errs); code != 0 || !strings.Contains(out.String(), "unreadable: 0\n") {
		t.Errorf("code %d, %s%s", code, out.String(), errs.String())
	}
	cut := filepath.Join(dir, "cut.zip")
	if err := os.WriteFile(cut, data.Bytes()[:100], 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{cut: "cut.zip: zip: not a valid zip file",
		manifest: "is a file, expected the folder the manifest's paths are relative to, or a .zip file of it"} {
		if _, err := imageroot.Open(t.Context(), location.At(path)); err == nil || !strings.Contains(err.Error(),
			want) {
			t.Errorf("%s: found %v, expected %q", path, err, want)
		}
	}
}

// TestOverlay checks that a folder's plain files stay visible beside the images in its packed files.
func TestOverlay(t *testing.T) {
	dir := t.TempDir()
	writeDigits(t, dir, 3)
	if err := os.WriteFile(filepath.Join(dir, "own.txt"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := imageroot.Open(t.Context(), location.At(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"own.txt", "train/00002.bmp", "test/00000.bmp"} {
		if _, err := fs.ReadFile(root, name); err != nil {
			t.Error(err)
		}
	}
	if _, err := fs.ReadFile(root, "train/00003.bmp"); err == nil {
		t.Error("found an image that is not there")
	}
	if err := os.WriteFile(filepath.Join(dir, "train-images-idx3-ubyte"), []byte{0, 0, 8, 3, 0}, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := imageroot.Open(t.Context(), location.At(dir)); err == nil || !strings.Contains(err.Error(),
		"cut short") {
		t.Errorf("found %v, expected that a damaged file is told", err)
	}
}
