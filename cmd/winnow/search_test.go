package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/internal/lookup"
	"winnow/run/embedding"
	"winnow/search"
)

func indexFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{"vectors.bin", "vectors.sums", "paths.txt", "seen.txt", "index.json"} {
		files[name] = readFile(t, dir, name)
	}
	return files
}

// What winnow search --json prints.
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

// nearestOf finds neighbours by the definition: all products, sorted, without the query itself.
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

// A picture that was replaced is embedded again: the index answers with what is there.
func TestIndexSeesReplaced(t *testing.T) {
	s := newStudio(t)
	index := filepath.Join(s.dir, "index")
	add := []string{"index", s.manifest, "--out", index, "--root", s.images, "--model", s.run}
	mustCall(t, add...)
	replaced := filepath.Join(s.images, "07.png")
	if err := os.WriteFile(replaced, []byte(readFile(t, s.images, "08.png")), 0o644); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(replaced, later, later); err != nil {
		t.Fatal(err)
	}
	text, stderr := mustCall(t, append(add, "--add")...)
	if !strings.Contains(stderr, "1 image changed since it was indexed: 07.png") || !strings.Contains(text, "1 added") {
		t.Errorf("%s%s", text, stderr)
	}
	ix, err := search.Open(index)
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	x, _, err := ix.Block(0, ix.Rows)
	if err != nil {
		t.Fatal(err)
	}
	one, other := slices.Index(ix.Paths, "07.png"), slices.Index(ix.Paths, "08.png")
	if one != ix.Rows-1 || other < 0 || !slices.Equal(features.Row(x, one), features.Row(x, other)) {
		t.Errorf("rows %d and %d of %d differ", one, other, ix.Rows)
	}
}

func TestIndexInStepsIsThatOfOne(t *testing.T) {
	s := newStudio(t)
	at := func(name string) string { return filepath.Join(s.dir, name) }
	some, more := at("some.csv"), at("more.csv")
	list := strings.SplitAfter(readFile(t, s.manifest), "\n")
	write(t, some, strings.Join(list[:12], ""))
	write(t, more, strings.Join(list[:50], ""))
	for _, dtype := range []string{"float32", "float16"} {
		whole, steps := at("whole-"+dtype), at("steps-"+dtype)
		by := []string{"--root", s.images, "--dtype", dtype, "--model", s.run}
		text, stderr := mustCall(t, append([]string{"index", s.manifest, "--out", whole}, by...)...)
		if !strings.Contains(text, "59 images × 6 values; 59 added, 0 there already") || !strings.Contains(stderr,
			"39.png: not an image") {
			t.Errorf("%s%s", text, stderr)
		}
		mustCall(t, append([]string{"index", some, "--out", steps}, by...)...)
		mustCall(t, "index", more, "--out", steps, "--root", s.images, "--add")
		text, _ = mustCall(t, "index", s.manifest, "--out", steps, "--root", s.images, "--add", "--model", s.run,
			"--json")
		var r embedding.Indexed
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		if r.Rows != 59 || r.Added != 11 || r.Skipped != 48 || len(r.LeftOut) != 1 || r.DType != dtype {
			t.Errorf("%+v", r)
		}
		before := indexFiles(t, whole)
		if diff := cmp.Diff(before, indexFiles(t, steps)); diff != "" {
			t.Errorf("%s (-one +steps):\n%.600s", dtype, diff)
		}
		// only the unreadable image is new
		_, stderr = mustCall(t, "index", s.manifest, "--out", whole, "--root", s.images, "--add")
		if diff := cmp.Diff(before, indexFiles(t, whole)); diff != "" || !strings.Contains(stderr, "39.png") {
			t.Errorf("%s (-before +after):\n%.600s", stderr, diff)
		}
	}
	// The vectors equal those of embed.
	mustCall(t, "embed", s.run, s.manifest, "--root", s.images, "--out", at("e.npy"))
	ix, err := search.Open(at("whole-float32"))
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	x, _, err := ix.Block(0, ix.Rows)
	if err != nil {
		t.Fatal(err)
	}
	if d := largestDifference(readNPY(t, at("e.npy")), x); !(d <= 1e-6) {
		t.Errorf("the index differs from embed by %v", d)
	}
}

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
		t.Errorf("copies do not tie by row: %+v", hit[:2])
	}
	text, _ := mustCall(t, "search", "--index", dir, "--k", "2", "--manifest", list, image)
	if lines := strings.Split(text, "\n"); len(lines) != 4 || lines[0] != filepath.ToSlash(image) ||
		!strings.HasPrefix(lines[1], "   1  1.0000  red, 4  07.png") {
		t.Errorf("%q", text)
	}
	// A feature store is searched directly, by the network that made it.
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

// A flipped bit in any file of an index, a store or a run is found by the commands that read it.
func TestFlippedBits(t *testing.T) {
	s := newStudio(t)
	index, x, out := filepath.Join(s.dir, "index"), filepath.Join(s.dir, "x"), filepath.Join(s.dir, "out")
	mustCall(t, "index", s.manifest, "--root", s.images, "--model", s.run, "--out", index)
	searched := []string{"search", "--index", x, "07.png", "-k", "99"}
	exported := []string{"export", x, "--features", s.store, "--npy", out + ".npy"}
	reported := []string{"report", x, "--features", s.store, "--no-map", "--out", out + ".html"}
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
			at := len(data) * (20 - i) / 21 // not among the paths of config.yaml, which may change
			data[at] ^= 1 << (i + 1)
			write(t, filepath.Join(x, file), string(data))
			for _, args := range c.calls {
				if code, _, stderr := call(t.Context(), args...); code != 1 ||
					!strings.Contains(stderr, filepath.Join(x, "")) {
					t.Errorf("%s, byte %d of %d: winnow %s: exit code %d: %s", file, at, len(data), args[0], code, stderr)
				}
			}
		}
	}
}

// A search says which images are gone or were replaced since they were indexed, in an index as in a feature store.
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
		if !strings.Contains(stderr, "1 image changed and 1 is gone since the") || !strings.Contains(text, "(gone)") ||
			!strings.Contains(text, "(changed)") {
			t.Errorf("%s: %s%s", dir, text, stderr)
		}
		if _, stderr := mustCall(t, "search", "--index", dir, "03.png", "-k", "1"); !strings.Contains(stderr,
			"03.png") {
			t.Errorf("%s: a query that is gone: %s", dir, stderr)
		}
	}
	for _, again := range [][]string{
		{"audit", "--features", store, "--labels", s.manifest, "--scorer", "fitted"},
		{"extract", "--manifest", s.manifest, "--root", s.images, "--model", "glyphnet", "--out", store},
	} {
		if _, stderr := mustCall(t, again...); !strings.Contains(stderr, "1 image changed") ||
			!strings.Contains(stderr, "is gone since the features were made") {
			t.Errorf("%s: %s", again[0], stderr)
		}
	}
}

func TestIndexAndSearchRefuse(t *testing.T) {
	s := newStudio(t)
	dir, other, none := filepath.Join(s.dir, "index"), filepath.Join(s.dir, "other"), filepath.Join(s.dir, "none")
	mustCall(t, "index", s.manifest, "--root", s.images, "--model", s.run, "--out", dir)
	mustCall(t, "train", "--manifest", s.manifest, "--root", s.images, "--features", s.store, "--out", other, "--dim",
		"6", "--batch", "4x4", "--epochs", "1", "--seed", "9", "--screen", "none")
	image := filepath.Join(s.images, "00.png")
	before := indexFiles(t, dir)
	wide, zero := filepath.Join(s.dir, "wide.npy"), filepath.Join(s.dir, "zero.npy")
	write(t, wide, string(features.NPYHeader(1, 3))+strings.Repeat("\x00\x00\x80\x3f", 3))
	write(t, zero, string(features.NPYHeader(1, 6))+strings.Repeat("\x00", 24))
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "--model is missing", []string{"index", s.images, "--out", none}},
		{2, "found no images", []string{"index", "--out", none, "--model", s.run}},
		{2, "--out missing", []string{"index", s.images, "--model", s.run}},
		{2, `--dtype: found "int8"`, []string{"index", s.images, "--model", s.run, "--out", none, "--dtype", "int8"}},
		{2, "keeps the type it was made with", []string{"index", s.images, "--out", dir, "--add", "--dtype",
			"float16"}},
		{1, "there is an index already\nwinnow: --add adds", []string{"index", s.images, "--model", s.run, "--out",
			dir}},
		{1, "no index: no index.json in it", []string{"index", s.images, "--out", none, "--add"}},
		{1, "made with head ", []string{"index", s.images, "--model", other, "--out", dir, "--add"}},
		{1, "made with head ", []string{"search", "--index", dir, "--model", other, image}},
		{2, "found no query", []string{"search", "--index", dir}},
		{2, "--index missing", []string{"search", image}},
		{2, "--k: found 0", []string{"search", "--index", dir, "--k", "0", image}},
		{1, "expected a folder that winnow index or winnow extract wrote", []string{"search", "--index", none, image}},
		{1, "no such file", []string{"search", "--index", dir, filepath.Join(none, "x.png")}},
		{1, "vectors of 3 values, expected 6", []string{"search", "--index", dir, wide}},
		{1, "row 0 is all zeros", []string{"search", "--index", dir, zero}},
	} {
		fails(t, c.code, c.want, c.args...)
	}
	if diff := cmp.Diff(before, indexFiles(t, dir)); diff != "" {
		t.Errorf("a refused command changed the index:\n%.400s", diff)
	}
	// An index of an older decoder is searched, with a note; nothing can be added to it.
	old := filepath.Join(s.dir, "old")
	if err := os.CopyFS(old, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(old, "index.json"), strings.Replace(unsealed(t, before["index.json"]),
		`"decoder": "exact `, `"decoder": "exact 0.`, 1))
	if _, stderr := mustCall(t, "search", "--index", old, image); !strings.Contains(stderr,
		"another version of the decoder") {
		t.Error(stderr)
	}
	fails(t, 1, `made with decoder "exact 0.`, "index", image, "--out", old, "--add")
	// What made the index is found where it was; if it moved, --model names it.
	moved := filepath.Join(s.dir, "moved")
	if err := os.Rename(s.run, moved); err != nil {
		t.Fatal(err)
	}
	fails(t, 1, "name it with --model", "search", "--index", dir, image)
	mustCall(t, "search", "--index", dir, "--model", moved, image)
}
