package search

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// openGallery returns an index of three images: two on different axes, and one between these axes.
func openGallery(t *testing.T) *Gallery {
	t.Helper()
	dir := t.TempDir()
	x, err := Create(dir, Embedder{}, 2, []string{"right", "up", "between"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(x.Append(blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: []float32{2, 0, 0, 3, 1, 1}},
		nil), x.Flush(), x.Close()); err != nil {
		t.Fatal(err)
	}
	g, err := OpenGallery(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// Queries keeps the order of the arguments and embeds consecutive images together.
func TestQueries(t *testing.T) {
	g := openGallery(t)
	vectors := filepath.Join(t.TempDir(), "v.NPY")
	put := func(values ...float32) {
		var file strings.Builder
		if err := features.WriteNPY(&file,
			blas32.General{Rows: len(values) / 2, Cols: 2, Stride: 2, Data: values}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(vectors, []byte(file.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(0, 5, 3, 4)
	var asked [][]string
	embed := func(images []string) (list []Query, bad []features.Bad, err error) {
		asked = append(asked, images)
		for _, name := range images {
			if name == "broken.png" {
				bad = append(bad, features.Bad{Path: name})
				continue
			}
			q, ok := NewQuery(name, []float32{7, 0})
			if !ok {
				t.Error("NewQuery rejects a non-zero vector")
			}
			list = append(list, q)
		}
		return list, bad, nil
	}
	got, left, err := g.Queries([]string{"a.png", "broken.png", "up", "b.png", vectors}, embed)
	if err != nil || len(left) != 1 || left[0].Path != "broken.png" {
		t.Fatalf("left out %v, %v", left, err)
	}
	want := []Query{{"a.png", []float32{1, 0}, -1}, {"up", []float32{0, 1}, 1}, {"b.png", []float32{1, 0}, -1},
		{vectors + "[0]", []float32{0, 1}, -1}, {vectors + "[1]", []float32{0.6, 0.8}, -1}}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-7)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]string{{"a.png", "broken.png"}, {"b.png"}}, asked); diff != "" {
		t.Errorf("embedded together (-want +got):\n%s", diff)
	}
	hits, err := g.Nearest(t.Context(), got[1:3], 1)
	if err != nil || len(hits) != 2 || g.Paths[hits[0][0].Row] != "between" || g.Paths[hits[1][0].Row] != "right" ||
		math.Abs(hits[0][0].Similarity-math.Sqrt(0.5)) > 1e-6 {
		t.Errorf("found %v, %v", hits, err)
	}
	for want, values := range map[string][]float32{"row 1 is all zeros": {1, 1, 0, 0},
		"expected a finite number": {1, float32(math.NaN())}} {
		put(values...)
		if _, _, err := g.Queries([]string{vectors}, embed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, expected …%s…", values, err, want)
		}
	}
}

func TestOpenGalleryRefuses(t *testing.T) {
	if _, err := OpenGallery(t.TempDir()); err == nil {
		t.Error("no error for an empty folder")
	}
	dir := t.TempDir()
	x, err := Create(dir, Embedder{}, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenGallery(dir); err == nil || !strings.Contains(err.Error(), "the index contains no images") {
		t.Errorf("empty index: %v", err)
	}
}
