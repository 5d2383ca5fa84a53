package run

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/datasets/location"
	"winnow/features"
	"winnow/run/config"
	"winnow/run/embedding"
	"winnow/run/folder"
	"winnow/search"
)

// An opened run embeds files and images in memory alike, and searches in an index and in memory, but only among vectors
// of its own.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	photos, drawn := filepath.Join(dir, "photos"), []image.Image(nil)
	var paths []string
	for i := range 12 {
		img := image.NewGray(image.Rect(0, 0, 40, 32))
		for p := range img.Pix {
			if (p%40)/(2+i%3)%2 == 0 {
				img.SetGray(p%40, p/40, color.Gray{Y: uint8(100 + 10*i)})
			}
		}
		path := filepath.Join(photos, fmt.Sprintf("c%d", i%3), fmt.Sprintf("%d.png", i))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(path)
		if err == nil {
			err = png.Encode(f, img)
		}
		if err != nil || f.Close() != nil {
			t.Fatal(err)
		}
		paths, drawn = append(paths, path), append(drawn, img)
	}
	cfg := config.Default()
	cfg.Data.Manifest, cfg.Data.Model, cfg.Length = photos, "glyphnet", config.LastsSteps(2)
	cfg.Sampler.Classes, cfg.Sampler.Images, cfg.Head.Out = 3, 2, 4
	out := filepath.Join(dir, "run")
	if _, err := Train(t.Context(), cfg, Input{}, Options{Dir: out}); err != nil {
		t.Fatal(err)
	}
	run, err := Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	var rows [][]float32
	for i, path := range paths {
		read, err := run.EmbedFile(t.Context(), path)
		given, other := run.Embed(drawn[i])
		if err != nil || other != nil || !slices.Equal(read, given) {
			t.Fatalf("%s: %v, %v: %v, %v", path, err, other, read, given)
		}
		rows = append(rows, read)
	}
	set, err := features.FromRows(rows, make([]int, len(rows)))
	if err != nil {
		t.Fatal(err)
	}
	index := filepath.Join(dir, "index")
	if _, err := embedding.CreateIndex(t.Context(), embedding.Host{}, index, []location.Source{location.At(photos)},
		embedding.Options{Model: out, Batch: 4}); err != nil {
		t.Fatal(err)
	}
	open := func(dir string) *search.Gallery {
		g, err := search.OpenGallery(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { g.Close() })
		return g
	}
	g := open(index)
	held, err := run.Search(t.Context(), search.Held{Set: set}, rows[5], 2)
	hits, other := run.Search(t.Context(), g, rows[5], 2)
	if err != nil || other != nil || held[0].Row != 5 || len(hits) != 2 ||
		filepath.Base(g.Paths[hits[0].Row]) != "5.png" {
		t.Errorf("%v, %v: %v, %v", err, other, held, hits)
	}
	if _, err := run.Search(t.Context(), open(filepath.Join(out, folder.OwnFeatures)), rows[5], 2); err == nil ||
		!strings.Contains(err.Error(), "expected 4 of the run") {
		t.Errorf("features of the network were searched: %v", err)
	}
	if _, err := run.EmbedFile(t.Context(), filepath.Join(photos, "none.png")); err == nil {
		t.Error("a missing file was embedded")
	}
}
