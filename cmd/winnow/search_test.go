package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/internal/lookup"
	"winnow/search"
)

// The output of "winnow search --json".
type (
	searchResult struct {
		Rows    int
		Queries []searchQuery
		LeftOut []lookup.LeftOut `json:"left_out"`
	}
	searchQuery struct {
		Query, Label string
		Nearest      []searchHit
	}
	searchHit struct {
		Rank, Row   int
		Path, Label string
		Similarity  float64
	}
)

func searched(t *testing.T, args ...string) searchResult {
	t.Helper()
	return mustJSON[searchResult](t, append([]string{"search", "--json"}, args...)...)
}

// nearestOf finds neighbours by brute force: it sorts all dot products and leaves out the query itself.
func nearestOf(x blas32.General, paths []string, query []float32, k, own int) (list []searchHit) {
	for i := range x.Rows {
		dot := 0.0
		for j, v := range features.Row(x, i) {
			dot += float64(v) * float64(query[j])
		}
		if i != own {
			list = append(list, searchHit{Row: i, Path: paths[i], Similarity: dot})
		}
	}
	slices.SortStableFunc(list, func(a, b searchHit) int {
		switch {
		case a.Similarity > b.Similarity:
			return -1
		case a.Similarity < b.Similarity:
			return 1
		}
		return 0
	})
	list = list[:min(k, len(list))]
	for i := range list {
		list[i].Rank = i + 1
	}
	return list
}

var nearly = cmpopts.EquateApprox(0, 1e-6)

func TestSearch(t *testing.T) {
	s := newStudio(t)
	dir, npy := filepath.Join(s.dir, "index"), filepath.Join(s.dir, "e.npy")
	write(t, filepath.Join(s.images, "copy.png"), readFile(t, s.images, "07.png")) // ties with 07.png
	list := filepath.Join(s.dir, "all.csv")
	write(t, list, readFile(t, s.manifest)+"copy.png,twin,test\n")
	mustCall(t, "index", list, "--root", s.images, "--model", s.run, "--out", dir)
	mustCall(t, "embed", s.run, list, "--root", s.images, "--out", npy)
	x := readNPY(t, npy)
	var paths []string
	for _, id := range table(t, s.dir, "e.ids.csv")[1:] {
		paths = append(paths, id[1])
	}
	own := slices.Index(paths, "07.png")
	check := func(what string, q searchQuery, query []float32, own int) {
		t.Helper()
		want := nearestOf(x, paths, query, 9, own)
		got := slices.Clone(q.Nearest)
		for i := range got {
			got[i].Label = ""
		}
		if diff := cmp.Diff(want, got, nearly); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	vector := features.Row(x, own)
	r := searched(t, "--index", dir, "--k", "9", "--manifest", list, "07.png")
	check("path", r.Queries[0], vector, own)
	if hit := r.Queries[0].Nearest[0]; r.Rows != 60 || hit.Path != "copy.png" || hit.Label != "twin" ||
		r.Queries[0].Label == "" {
		t.Errorf("%+v", r)
	}
	image, bad := filepath.Join(s.images, "07.png"), filepath.Join(s.images, "39.png")
	r = searched(t, "--index", dir, "--k", "9", bad, image, npy, "copy.png")
	if len(r.Queries) != 1+60+1 || len(r.LeftOut) != 1 || r.LeftOut[0].Path != filepath.ToSlash(bad) {
		t.Fatalf("%d queries, left out %+v", len(r.Queries), r.LeftOut)
	}
	check("image", r.Queries[0], vector, -1)
	for i, q := range r.Queries[1:61] {
		if q.Query != fmt.Sprintf("%s[%d]", npy, i) {
			t.Errorf("query %q", q.Query)
		}
		check(q.Query, q, features.Row(x, i), -1)
	}
	check("copy", r.Queries[61], vector, slices.Index(paths, "copy.png"))
	if hit := r.Queries[0].Nearest; hit[0].Path != "07.png" || hit[1].Path != "copy.png" ||
		hit[0].Similarity != hit[1].Similarity {
		t.Errorf("duplicates are not in the order of their rows: %+v", hit[:2])
	}
	text, _ := mustCall(t, "search", "--index", dir, "--k", "2", "--manifest", list, image)
	if lines := strings.Split(text, "\n"); len(lines) != 4 || lines[0] != filepath.ToSlash(image) ||
		!strings.HasPrefix(lines[1], "   1  1.0000  red, 4  07.png") {
		t.Errorf("%q", text)
	}
	// A feature store can be searched directly, with the network that made it.
	stored := readNPY(t, filepath.Join(s.store, "features.npy"))
	search.UnitRows(stored)
	store, err := features.Open(s.store)
	if err != nil {
		t.Fatal(err)
	}
	row, _ := store.Lookup([]string{"07.png"})
	r = searched(t, "--index", s.store, "--k", "5", image, "07.png")
	want := nearestOf(stored, store.Paths, features.Row(stored, row[0]), 5, -1)
	if diff := cmp.Diff(want, r.Queries[0].Nearest, cmpopts.EquateApprox(0, 1e-5)); diff != "" {
		t.Errorf("store (-want +got):\n%s", diff)
	}
	if got := r.Queries[1].Nearest; got[0].Path == "07.png" || got[0].Path != want[1].Path {
		t.Errorf("%+v", got)
	}
}

// TestFlippedBits checks that the commands detect a flipped bit in any file of an index, a store or a run.
func TestFlippedBits(t *testing.T) {
	s := newStudio(t)
	index, x, out := filepath.Join(s.dir, "index"), filepath.Join(s.dir, "x"), filepath.Join(s.dir, "out")
	mustCall(t, "index", s.manifest, "--root", s.images, "--model", s.run, "--out", index)
	searched := []string{"search", "--index", x, "07.png", "-k", "99"}
	exported := []string{"export", x, "--features", s.store, "--npy", out + ".npy"}
	reported := []string{"report", x, "--features", s.store, "--out", out + ".html"}
	screened := filepath.Join(s.dir, "screened")
	mustCall(t, "train", "--manifest", s.manifest, "--root", s.images, "--features", s.store, "--out", screened,
		"--dim", "6", "--batch", "4x4", "--epochs", "3")
	for _, c := range []struct {
		folder, files string
		calls         [][]string
	}{
		{index, "vectors.bin paths.txt seen.txt index.json", [][]string{searched}},
		{s.store, "features.npy features.sums paths.txt store.json seen.json", [][]string{searched}},
		{s.store, "features.npy paths.txt store.json", [][]string{{"map", s.run, "--features", x, "--out", out + ".csv",
			"--iterations", "250"}, {"eval", s.run, "--features", x}}},
		{s.run, "config.yaml run.json head.winnow", [][]string{exported, reported}},
		{s.run, "result.json metrics.jsonl diagnostics.jsonl", [][]string{reported}},
		{screened, "checkpoint.winnow screened.csv config.yaml run.json",
			[][]string{{"train", "--out", x, "--resume"}}},
	} {
		for i, file := range strings.Fields(c.files) {
			if err := errors.Join(os.RemoveAll(x), os.CopyFS(x, os.DirFS(c.folder))); err != nil {
				t.Fatal(err)
			}
			data := []byte(readFile(t, x, file))
			at := len(data) * (20 - i) / 21 // a position outside of the paths in config.yaml, which may change
			data[at] ^= 1 << (i + 1)
			write(t, filepath.Join(x, file), string(data))
			for _, args := range c.calls {
				if code, _, stderr := call(t.Context(), args...); code != 1 ||
					!strings.Contains(stderr, filepath.Join(x, "")) {
					t.Errorf(
						"%s, byte %d of %d: winnow %s: exit code %d: %s",
						file,
						at,
						len(data),
						args[0],
						code,
						stderr,
					)
				}
			}
		}
	}
}

// TestSearchTellsOfGoneImages checks that a search of an index or a store reports missing and replaced images.
func TestSearchTellsOfGoneImages(t *testing.T) {
	s := newStudio(t)
	index, store := filepath.Join(s.dir, "index"), filepath.Join(s.dir, "made")
	mustCall(t, "index", s.manifest, "--root", s.images, "--model", s.run, "--out", index)
	mustCall(t, "extract", "--manifest", s.manifest, "--root", s.images, "--model", "glyphnet", "--out", store)
	for _, dir := range []string{index, store} {
		if _, stderr := mustCall(t, "search", "--index", dir, "07.png", "-k", "99"); strings.Contains(stderr, "since") {
			t.Errorf("%s: nothing changed: %s", dir, stderr)
		}
	}
	if err := os.Remove(filepath.Join(s.images, "03.png")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.images, "04.png"), "another picture")
	for _, dir := range []string{index, store} {
		text, stderr := mustCall(t, "search", "--index", dir, "07.png", "-k", "99")
		if !strings.Contains(stderr, "2 images have changed or are missing since the") ||
			!strings.Contains(text, "(gone)") ||
			!strings.Contains(text, "(changed)") {
			t.Errorf("%s: %s%s", dir, text, stderr)
		}
		if _, stderr := mustCall(t, "search", "--index", dir, "03.png", "-k", "1"); !strings.Contains(stderr,
			"03.png") {
			t.Errorf("%s: a missing query: %s", dir, stderr)
		}
	}
	for _, again := range [][]string{
		{"audit", "--features", store, "--labels", s.manifest, "--scorer", "fitted"},
		{"extract", "--manifest", s.manifest, "--root", s.images, "--model", "glyphnet", "--out", store},
	} {
		if _, stderr := mustCall(t, again...); !strings.Contains(stderr, "since the features were made") {
			t.Errorf("%s: %s", again[0], stderr)
		}
	}
}
