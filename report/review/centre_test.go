package review

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"winnow/features"
	"winnow/search"
)

// TestCentre checks the search by several images: the query is the mean of their unit vectors, ignores images without a
// vector, and does not return the images themselves.
func TestCentre(t *testing.T) {
	dir, paths := filepath.Join(t.TempDir(), "index"), []string{}
	vectors := [][]float32{{1, 0, 0}, {0, 1, 0}, {3, 3, 0}, {1, 1, 1}, {-1, 0, 0}, {0, 0, 1}, {0, 0, 0}}
	x := features.NewMatrix(len(vectors), 3)
	for i, v := range vectors {
		paths = append(paths, fmt.Sprintf("%d.png", i))
		copy(features.Row(x, i), v)
	}
	index, err := search.Create(dir, search.Embedder{Model: "aa", Output: "embedding", Preprocessing: "{}",
		Decoder: "exact 1", Source: "made"}, 3, paths)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(index.Append(x, nil), index.Flush(), index.Close()); err != nil {
		t.Fatal(err)
	}
	in, err := search.OpenGallery(dir)
	if err != nil {
		t.Fatal(err)
	}
	f := &vectorFinder{in: in}
	defer f.Close()
	find := func(n int, paths ...string) (said string) {
		found, err := f.Similar(t.Context(), paths, n)
		if err != nil {
			t.Fatal(err)
		}
		for _, hit := range found {
			said += fmt.Sprintf("%s %.3f;", strings.TrimSuffix(hit.Path, ".png"), hit.Similarity)
		}
		return said
	}
	half, third, s := math.Sqrt(0.5), math.Sqrt(2./3), math.Sqrt(1./3)
	length := math.Sqrt(2*(1+half+s)*(1+half+s) + s*s) // length of the sum of the first four unit vectors
	for _, c := range []struct {
		n     int
		paths string
		want  string
	}{
		{2, "0", fmt.Sprintf("2 %.3f;3 0.577;", half)},
		{2, "0 1", fmt.Sprintf("2 1.000;3 %.3f;", third)},
		{1, "0 1", "2 1.000;"},
		{9, "0 1 2 3", fmt.Sprintf("5 %.3f;4 %.3f;", s/length, -(1+half+s)/length)},
		{2, "0 6", fmt.Sprintf("2 %.3f;3 0.577;", half)}, // image 6 has a zero vector
		{2, "0 gone", fmt.Sprintf("2 %.3f;3 0.577;", half)},
	} {
		var names []string
		for _, name := range strings.Fields(c.paths) {
			names = append(names, name+".png")
		}
		if got := find(c.n, names...); got != c.want {
			t.Errorf("%s: %s, expected %s", c.paths, got, c.want)
		}
	}
	for paths, want := range map[string]string{"6.png": "no vector", "gone.png": "no vector",
		"6.png gone.png": "no vector", "0.png 4.png": "cancel out"} {
		_, err := f.Similar(t.Context(), strings.Fields(paths), 2)
		if err == nil || !strings.Contains(err.Error(), want) ||
			want == "no vector" && !errors.Is(err, ErrNoVector) {
			t.Errorf("%s: %v", paths, err)
		}
	}
}
