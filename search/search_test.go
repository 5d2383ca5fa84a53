package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/seen"
)

// drawn returns n random vectors; every seventh is equal to the vector three places before it.
func drawn(n, d int, seed uint64) blas32.General {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := features.NewMatrix(n, d)
	for i := range n {
		row := features.Row(x, i)
		for j := range row {
			row[j] = float32(rng.NormFloat64())
		}
		if i%7 == 6 {
			copy(row, features.Row(x, i-3))
		}
	}
	return x
}

func names(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("images/%05d.png", i)
	}
	return list
}

var somebody = Embedder{Model: "aa", Output: "embedding", Head: "bb", Preprocessing: "{}", Decoder: "exact 1",
	Source: "/runs/birds"}

// put appends the vectors of paths in batches. The number in a path is the row of its vector in x.
func put(t testing.TB, ext *Extension, x blas32.General, batch int, bad map[string]string) {
	t.Helper()
	for from := 0; from < len(ext.New); from += batch {
		n := min(batch, len(ext.New)-from)
		rows := features.NewMatrix(n, x.Cols)
		var lost []features.Bad
		for i, p := range ext.New[from : from+n] {
			var at int
			if _, err := fmt.Sscanf(p, "images/%d.png", &at); err != nil {
				t.Fatal(err)
			}
			if why := bad[p]; why != "" {
				lost = append(lost, features.Bad{Row: from + i, Path: p, Reason: why})
				continue
			}
			copy(features.Row(rows, i), features.Row(x, at))
		}
		if err := ext.Append(rows, lost); err != nil {
			t.Fatal(err)
		}
	}
	if err := ext.Flush(); err != nil {
		t.Fatal(err)
	}
}

func closed(t testing.TB, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

func build(t testing.TB, dir string, x blas32.General, paths []string, bad map[string]string) {
	t.Helper()
	ext, err := Create(dir, somebody, x.Cols, paths)
	if err != nil {
		t.Fatal(err)
	}
	put(t, ext, x, 32, bad)
	closed(t, ext)
}

func extend(t testing.TB, dir string, x blas32.General, batch int, paths []string, bad map[string]string) *Extension {
	t.Helper()
	ext, err := Extend(dir, somebody, x.Cols, paths)
	if err != nil {
		t.Fatal(err)
	}
	put(t, ext, x, batch, bad)
	closed(t, ext)
	return ext
}

func open(t testing.TB, dir string) *Index {
	t.Helper()
	ix, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, ix) })
	return ix
}

func content(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{vectorsFile, pathsFile, seenFile, indexFile} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(data)
	}
	return files
}

// slow implements the definition of the search: all cosines in float64, sorted.
func slow(x blas32.General, query []float32, k, own int, absent map[int]bool) (list []Hit) {
	for i := range x.Rows {
		var dot float64
		for j, v := range features.Row(x, i) {
			dot += float64(v) * float64(query[j])
		}
		if i != own && !absent[i] {
			list = append(list, Hit{i, dot})
		}
	}
	slices.SortStableFunc(list, func(a, b Hit) int {
		if math.Abs(a.Similarity-b.Similarity) < 1e-14 { // equal vectors
			return a.Row - b.Row
		}
		if a.Similarity > b.Similarity {
			return -1
		}
		return 1
	})
	return list[:min(k, len(list))]
}

func same(t *testing.T, what string, want, got []Hit) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// inPieces presents vectors in small blocks, so that ties cross block borders.
type inPieces struct {
	x     blas32.General
	calls int
}

func (p *inPieces) Len() int   { return p.x.Rows }
func (p *inPieces) Width() int { return p.x.Cols }
func (p *inPieces) Block(from, n int) (blas32.General, []bool, error) {
	p.calls++
	return blas32.General{Rows: n, Cols: p.x.Cols, Stride: p.x.Stride, Data: p.x.Data[from*p.x.Stride:]}, nil, nil
}

func TestNearestIsTheDefinition(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	build(t, dir, drawn(700, 19, 3), names(700), nil)
	ix := open(t, dir)
	x, _, err := ix.Block(0, 700)
	if err != nil {
		t.Fatal(err)
	}
	queries := drawn(300, 19, 3) // more than queriesAtOnce; the first queries are vectors of the index
	UnitRows(queries)
	own := make([]int, queries.Rows)
	for i := range own {
		own[i] = -1
		if i%2 == 0 {
			own[i] = i
		}
	}
	for _, k := range []int{1, 10, 1000} {
		got, err := Nearest(context.Background(), ix, features.Set{X: queries}, k, own)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < queries.Rows; i += 17 {
			same(t, fmt.Sprintf("k %d, query %d", k, i),
				slow(x, features.Row(queries, i), k, own[i], nil), got[i])
		}
	}
}

// The result does not depend on the blocks: equal vectors tie across block borders and are sorted by row.
func TestNearestAcrossBlocks(t *testing.T) {
	const rows = 3*blockRows + 11
	x := features.NewMatrix(rows, 2)
	for i := range rows {
		angle := float64(i%1000) / 500
		features.Row(x, i)[0], features.Row(x, i)[1] = float32(math.Cos(angle)), float32(math.Sin(angle))
	}
	UnitRows(x)
	v := &inPieces{x: x}
	query := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{1, 0}}
	got, err := Nearest(context.Background(), v, features.Set{X: query}, 250, nil)
	if err != nil || v.calls != 4 {
		t.Fatalf("%v after %d blocks", err, v.calls)
	}
	for i, hit := range got[0] {
		want := i * 1000
		if i >= 197 {
			want = (i-197)*1000 + 1
		}
		if hit.Row != want {
			t.Fatalf("rank %d is row %d, expected %d", i, hit.Row, want)
		}
	}
}

func TestStoredLeavesOutWhatHasNoDirection(t *testing.T) {
	dir := t.TempDir()
	x := drawn(40, 5, 9)
	clear(features.Row(x, 4))
	clear(features.Row(x, 11))
	w, err := features.Create(dir, features.Plan{Key: features.Key{Model: "m"}, Paths: names(40), Dim: 5, Batch: 40},
		false)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(x, []features.Bad{{Row: 4, Path: names(40)[4], Reason: "not an image"}}); err != nil {
		t.Fatal(err)
	}
	store, err := w.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	closed(t, w)
	query := drawn(1, 5, 2)
	UnitRows(query)
	got, err := Nearest(context.Background(), Stored{store}, features.Set{X: query}, 100, nil)
	if err != nil {
		t.Fatal(err)
	}
	UnitRows(x)
	same(t, "store", slow(x, query.Data, 100, -1, map[int]bool{4: true, 11: true}), got[0])
	if len(got[0]) != 38 {
		t.Errorf("%d neighbours, expected 38", len(got[0]))
	}
}

func TestIncrementalIsFromScratch(t *testing.T) {
	x, paths := drawn(900, 8, 5), names(900)
	clear(features.Row(x, 500)) // a row of zeros
	bad := map[string]string{paths[3]: "not an image", paths[899]: "gone"}
	whole, steps := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "steps")
	build(t, whole, x, paths, bad)
	build(t, steps, x, paths[:1], bad)
	extend(t, steps, x, 7, paths[:400], bad)
	ext := extend(t, steps, x, 64, slices.Concat(paths[:10], paths[300:], paths[300:]), bad)
	if diff := cmp.Diff(content(t, whole), content(t, steps)); diff != "" {
		t.Errorf("(-whole +steps):\n%.400s", diff)
	}
	if ext.Added() != 498 || ext.Total() != 897 || len(ext.Bad()) != 3 || ext.Skipped != 1210-501 {
		t.Errorf("added %d of %d, %d bad, %d skipped", ext.Added(), ext.Total(), len(ext.Bad()), ext.Skipped)
	}
	before := content(t, whole)
	ext = extend(t, whole, x, 64, paths, bad) // only the unreadable images
	if diff := cmp.Diff(before, content(t, whole)); diff != "" || len(ext.New) != 3 || ext.Added() != 0 {
		t.Errorf("%d new, %d added (-before +after):\n%.400s", len(ext.New), ext.Added(), diff)
	}
}

// After Remove, an index equals the index of the other images, byte for byte, and removed images can be added again.
func TestRemove(t *testing.T) {
	x, all := drawn(70, 9, 3), names(70)
	dir := filepath.Join(t.TempDir(), "index")
	build(t, dir, x, all, nil)
	gone := []string{all[0], all[33], all[34], all[69], "images/none.png"}
	kept := slices.DeleteFunc(slices.Clone(all), func(p string) bool { return slices.Contains(gone, p) })
	if err := os.Mkdir(dir+".new", 0o755); err != nil { // left by an interrupted call
		t.Fatal(err)
	}
	if err := Remove(dir, gone); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(t.TempDir(), "index")
	build(t, want, x, kept, nil)
	if diff := cmp.Diff(content(t, want), content(t, dir)); diff != "" {
		t.Errorf("(-index of the others +after Remove):\n%s", diff)
	}
	if ext := extend(t, dir, x, 8, all, nil); ext.Total() != 70 || ext.Skipped != 66 {
		t.Errorf("%d rows, %d skipped", ext.Total(), ext.Skipped)
	}
	left, err := filepath.Glob(dir + ".*")
	if err != nil || len(left) > 0 {
		t.Errorf("remaining files %v, %v", left, err)
	}
}

// If a process dies between any two writes, the rows counted in index.json stay intact, and a later call can continue.
func TestDeathAnywhere(t *testing.T) {
	x, paths := drawn(60, 4, 6), names(60)
	dir := filepath.Join(t.TempDir(), "index")
	build(t, dir, x, paths[:20], nil)
	counted := content(t, dir)
	ext, err := Extend(dir, somebody, 4, paths)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Extend(dir, somebody, 4, paths); err == nil ||
		!strings.Contains(err.Error(), "another winnow (process ") {
		t.Errorf("second writer: %v", err)
	}
	rows := blas32.General{Rows: 40, Cols: 4, Stride: 4, Data: x.Data[20*4:]}
	if err := ext.Append(rows, nil); err != nil { // written, but not in index.json
		t.Fatal(err)
	}
	closed(t, ext)
	after := content(t, dir)
	for cutVectors := len(counted[vectorsFile]); cutVectors <= len(after[vectorsFile]); cutVectors += 37 {
		for cutPaths := len(counted[pathsFile]); cutPaths <= len(after[pathsFile]); cutPaths += 61 {
			for name, size := range map[string]int{vectorsFile: cutVectors, pathsFile: cutPaths} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(after[name][:size]), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			ix := open(t, dir)
			if ix.Rows != 20 || ix.Verify() != nil {
				t.Fatalf("%d rows: %v", ix.Rows, ix.Verify())
			}
		}
	}
	short := filepath.Join(t.TempDir(), "short") // fewer rows in the file than in index.json
	if err := os.CopyFS(short, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]int{dir: 60, short: 23} {
		wanted := filepath.Join(t.TempDir(), "wanted")
		build(t, wanted, x, paths[:n], nil)
		extend(t, name, x, 32, paths[:n], nil)
		if diff := cmp.Diff(content(t, wanted), content(t, name)); diff != "" {
			t.Errorf("%d rows (-from scratch +after):\n%.400s", n, diff)
		}
	}
}

// An index is unfinished until Finish, also after it is extended or loses images. Files reports changed images.
func TestUnfinishedAndFiles(t *testing.T) {
	work := t.TempDir()
	if err := os.Mkdir(filepath.Join(work, "images"), 0o755); err != nil {
		t.Fatal(err)
	}
	x, all, dir := drawn(6, 4, 6), names(6), filepath.Join(work, "index")
	for _, p := range all {
		if err := os.WriteFile(filepath.Join(work, p), []byte(p), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ext, err := Create(dir, somebody, 4, all)
	if err != nil {
		t.Fatal(err)
	}
	ext.Base = func(path string) location.Source {
		if path == all[5] {
			return location.Source{} // a file on a server
		}
		return location.At(work)
	}
	put(t, ext, x, 2, nil)
	closed(t, ext)
	if !Unfinished(dir) {
		t.Error("the index is marked as finished")
	}
	for _, p := range []string{all[1], all[2], all[5]} {
		if err := os.WriteFile(filepath.Join(work, p), []byte("another image"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(work, all[3])); err != nil {
		t.Fatal(err)
	}
	want := []seen.State{seen.Same, seen.Changed, seen.Changed, seen.Gone, seen.Same, seen.Same}
	states := func(dir string) (list []seen.State) {
		files, err := open(t, dir).Files()
		if err != nil {
			t.Fatal(err)
		}
		for row := range files.lines {
			list = append(list, files.State(row))
		}
		return list
	}
	if diff := cmp.Diff(want, states(dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := Remove(dir, all[:1]); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want[1:], states(dir)); diff != "" {
		t.Errorf("after Remove (-want +got):\n%s", diff)
	}
	ext, err = Extend(dir, somebody, 4, all[1:])
	if err != nil {
		t.Fatal(err)
	}
	if err := ext.Finish(); err != nil {
		t.Fatal(err)
	}
	closed(t, ext)
	if Unfinished(dir) {
		t.Error("not finished")
	}
	moved := filepath.Join(t.TempDir(), "elsewhere", "index") // the images stay
	if err := errors.Join(os.Mkdir(filepath.Dir(moved), 0o755), os.Rename(dir, moved)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want[1:], states(moved)); diff != "" {
		t.Errorf("moved (-want +got):\n%s", diff)
	}
}

func TestExtendRefuses(t *testing.T) {
	x, dir := drawn(10, 4, 6), filepath.Join(t.TempDir(), "index")
	build(t, dir, x, names(10), nil)
	if _, err := Create(dir, somebody, 4, names(10)); !errors.Is(err, ErrExists) {
		t.Errorf("Create in the folder of an index: %v", err)
	}
	change := func(f func(*Embedder)) Embedder {
		e := somebody
		f(&e)
		return e
	}
	var other *OtherEmbedder
	if _, err := Extend(dir, change(func(e *Embedder) { e.Head = "" }), 4, names(12)); !errors.As(err, &other) {
		t.Errorf("found %v", err)
	}
	if _, err := Extend(dir, somebody, 5, names(12)); err == nil ||
		!strings.Contains(err.Error(), "made of 4 values a row, asked for 5") {
		t.Error(err)
	}
	if _, err := Extend(dir, somebody, 4, []string{"a", ""}); err == nil ||
		!strings.Contains(err.Error(), "empty path") {
		t.Error(err)
	}
	moved := change(func(e *Embedder) { e.Source = "/elsewhere" })
	ext, err := Extend(dir, moved, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, ext)
}

// Damage is detected when an index is opened, or at the latest before it is extended.
func TestDamage(t *testing.T) {
	base := filepath.Join(t.TempDir(), "index")
	build(t, base, drawn(10, 4, 6), names(10), nil)
	files := content(t, base)
	body, _, _ := strings.Cut(files[indexFile], ",\n  \"checksum\"")
	sealed, unsealed := files[indexFile], body+"\n}\n" // without a checksum, only the fields are checked
	files[indexFile] = unsealed
	flip := func(text string, at int) string {
		b := []byte(text)
		b[at] ^= 1
		return string(b)
	}
	for what, c := range map[string]struct{ file, text, want string }{
		"path changed":   {pathsFile, flip(files[pathsFile], 9), "paths.txt: checksum"},
		"vectors cut":    {vectorsFile, files[vectorsFile][:50], "50 bytes, expected at least 160"},
		"vector changed": {vectorsFile, flip(files[vectorsFile], 77), "vectors.bin: checksum"},
		"other version": {indexFile, strings.Replace(files[indexFile], `"version": 4`, `"version": 1`, 1),
			"version 1, expected 4; make the index again"},
		"seen changed": {seenFile, flip(files[seenFile], 3), "seen.txt: checksum"},
		"number changed": {indexFile, strings.Replace(sealed, `"rows": 10`, `"rows": 11`, 1),
			"its checksum does not fit"},
		"negative rows": {indexFile, strings.Replace(files[indexFile], `"rows": 10`, `"rows": -1`, 1),
			"impossible sizes"},
	} {
		dir := filepath.Join(t.TempDir(), "damaged")
		if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Extend(dir, somebody, 4, names(12))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected …%s…", what, err, c.want)
		}
		if after, _ := os.ReadFile(filepath.Join(dir, c.file)); !bytes.Equal(after, []byte(c.text)) {
			t.Errorf("%s: %s was changed", what, c.file)
		}
	}
}

func FuzzOpen(f *testing.F) {
	base := filepath.Join(f.TempDir(), "index")
	build(f, base, drawn(3, 2, 6), names(3), nil)
	files := content(f, base)
	f.Add([]byte(files[indexFile]))
	f.Add([]byte(
		`{"version":2,"rows":1099511627776,"dim":1048576,"dtype":"float32","paths_bytes":9223372036854775807,"seen_bytes":9223372036854775807}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		for name, data := range map[string][]byte{indexFile: text, pathsFile: []byte(files[pathsFile]),
			seenFile: []byte(files[seenFile]), vectorsFile: []byte(files[vectorsFile])} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if ix, err := Open(dir); err == nil {
			if _, err := ix.Files(); err == nil && ix.Rows > 0 {
				_, _, _ = ix.Block(0, ix.Rows) // a wrong checksum is an error, not a crash
			}
			closed(t, ix)
		}
	})
}

func BenchmarkNearest(b *testing.B) {
	for _, rows := range []int{60_000, 1_000_000} {
		x := features.NewMatrix(rows, 512)
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range x.Data {
			x.Data[i] = rng.Float32() - 0.5
		}
		UnitRows(x)
		for _, n := range []int{1, 64} {
			queries := features.Set{X: x}.Rows([]int{5, 77, 4000}).X
			if n > 3 {
				var at []int
				for i := range n {
					at = append(at, i*rows/n)
				}
				queries = features.Set{X: x}.Rows(at).X
			} else {
				queries.Rows = n
			}
			b.Run(fmt.Sprintf("%dx512/%dqueries", rows, n), func(b *testing.B) {
				for b.Loop() {
					all := features.Set{X: queries}
					if _, err := Nearest(context.Background(), &inPieces{x: x}, all, 10, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
