package main

import (
	"archive/zip"
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/datasets/imageroot"
	"winnow/datasets/location"
)

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
