package report

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"winnow/datasets/location"
)

// A host without progress functions works.
func TestThumbnailsUnwatched(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "a.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, image.NewGray(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	p, err := OpenPictures(t.Context(), location.At(dir), "report")
	if err != nil {
		t.Fatal(err)
	}
	if list, err := p.readThumbnails(t.Context(), Host{}, []string{"a.png", "missing.png"}, 8); err != nil ||
		list[0] == nil || list[1] != nil {
		t.Errorf("%v, %v", list, err)
	}
}
