package features

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas/blas32"
)

func testPlan(n int) Plan {
	paths := make([]string, n)
	for i := range paths {
		paths[i] = fmt.Sprintf("birds/%03d.jpg", i)
	}
	return Plan{Key: Key{Model: "1f3a", Output: "pool5", Preprocessing: "p", Views: []string{"center"}},
		Paths: paths, Dim: 3, Batch: 4, Device: "cpu", Winnow: "test"}
}

// batchAt returns a deterministic batch; image 5 of every store is unreadable.
func batchAt(plan Plan, at int) (blas32.General, []Bad) {
	x := NewMatrix(min(plan.Batch, len(plan.Paths)-at), plan.countRowValues())
	var bad []Bad
	for i := range x.Rows {
		if at+i == 5 {
			bad = append(bad, Bad{Row: 5, Path: plan.Paths[5], Reason: "not an image"})
			continue
		}
		for j := range x.Cols {
			x.Data[i*x.Cols+j] = float32(at+i) + float32(j)/8
		}
	}
	return x, bad
}

func mustCreate(t *testing.T, dir string, plan Plan, overwrite bool) *Writer {
	t.Helper()
	w, err := Create(dir, plan, overwrite)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// appendTo appends batches until there are limit rows.
func appendTo(t *testing.T, w *Writer, plan Plan, limit int) {
	t.Helper()
	for w.Rows() < limit {
		if err := w.Append(batchAt(plan, w.Rows())); err != nil {
			t.Fatal(err)
		}
	}
}

func makeStore(t *testing.T, dir string, plan Plan) *Store {
	t.Helper()
	w := mustCreate(t, dir, plan, false)
	defer w.Close()
	appendTo(t, w, plan, len(plan.Paths))
	s, err := w.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(data)
	}
	return files
}

func restore(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestStoreRoundTrip(t *testing.T) {
	plan := testPlan(10)
	s := makeStore(t, filepath.Join(t.TempDir(), "deep", "store"), plan)
	all, err := s.Read(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < 10; at += 4 {
		x, _ := batchAt(plan, at)
		if !cmp.Equal(x.Data, all.Data[at*3:at*3+len(x.Data)]) {
			t.Errorf("rows from %d on differ", at)
		}
	}
	rows, missing := s.Lookup([]string{"birds/007.jpg", "none.jpg", "birds/000.jpg"})
	if !cmp.Equal(rows, []int{7, -1, 0}) || !cmp.Equal(missing, []string{"none.jpg"}) {
		t.Errorf("Lookup: %v, missing %v", rows, missing)
	}
	some, err := s.Read(t.Context(), []int{7, 8, 9, 2, 2})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range []int{7, 8, 9, 2, 2} {
		if !cmp.Equal(Row(some, i), Row(all, r)) {
			t.Errorf("Read: row %d", r)
		}
	}
	if _, err := s.Read(t.Context(), []int{10}); err == nil {
		t.Error("row 10 of 10 was read")
	}
	if !cmp.Equal(s.BadRows(), map[int]string{5: "not an image"}) {
		t.Errorf("bad %v", s.Bad)
	}
	if err := s.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	if names := folder(t, s.Dir); len(names) != 5 { // four files and the lock
		t.Errorf("files left: %d", len(names))
	}
}

func TestLookupOfAPathTwice(t *testing.T) {
	plan := testPlan(3)
	plan.Paths[2] = plan.Paths[0]
	s := makeStore(t, t.TempDir(), plan)
	if rows, _ := s.Lookup(plan.Paths); !cmp.Equal(rows, []int{0, 1, 0}) {
		t.Errorf("rows %v, expected the first of equal paths", rows)
	}
}

// TestDeathAtEveryMoment copies the folder after every step of a run, restarts from each copy, and expects the bytes of
// an uninterrupted run.
func TestDeathAtEveryMoment(t *testing.T) {
	plan := testPlan(10)
	want := folder(t, makeStore(t, t.TempDir(), plan).Dir)
	dir := t.TempDir()
	var pictures []map[string]string
	take := func() { pictures = append(pictures, folder(t, dir)) }
	w := mustCreate(t, dir, plan, false)
	for w.Rows() < 10 {
		appendTo(t, w, plan, w.Rows()+1)
		take() // rows written but not recorded
		torn := folder(t, dir)
		torn[partFile] = torn[partFile][:len(torn[partFile])-5]
		if w.synced == w.rows-w.rows%4 {
			pictures = append(pictures, torn) // half a row is missing on disk
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		take()
	}
	s, err := w.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	full := pictures[len(pictures)-1]
	renamed := map[string]string{progressFile: full[progressFile], VectorsFile: full[partFile]}
	pictures = append(pictures, renamed)
	withPaths := map[string]string{pathsFile: want[pathsFile], progressFile: full[progressFile],
		VectorsFile: full[partFile]}
	pictures = append(pictures, withPaths)
	for i, picture := range pictures {
		dir := restore(t, picture)
		w := mustCreate(t, dir, plan, false)
		appendTo(t, w, plan, 10)
		if _, err := w.Finish(t.Context()); err != nil {
			t.Fatalf("picture %d: %v", i, err)
		}
		w.Close()
		if diff := cmp.Diff(want, folder(t, dir)); diff != "" {
			t.Errorf("picture %d (-want +got):\n%s", i, diff)
		}
	}
	// Finish was interrupted between writing store.json and removing progress.json.
	last := folder(t, s.Dir)
	last[progressFile] = full[progressFile]
	dir = restore(t, last)
	if _, err := Create(dir, plan, false); !errors.Is(err, ErrComplete) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, folder(t, dir)); diff != "" {
		t.Errorf("complete (-want +got):\n%s", diff)
	}
}

func TestAnotherKeyIsRefused(t *testing.T) {
	plan := testPlan(10)
	for name, change := range map[string]struct {
		change func(*Plan)
		want   string
		begun  bool // the error occurs only for an unfinished store
	}{
		"model":   {func(p *Plan) { p.Key.Model = "9c02" }, "made with model 1f3a, expected 9c02", false},
		"output":  {func(p *Plan) { p.Key.Output = "logits" }, `made with tensor pool5, expected logits`, false},
		"prep":    {func(p *Plan) { p.Key.Preprocessing = "q" }, "made with preprocessing p, expected q", false},
		"views":   {func(p *Plan) { p.Key.Views = []string{"a", "b"} }, "made with views [center]", false},
		"images":  {func(p *Plan) { p.Paths = p.Paths[:9] }, "made with image list", false},
		"batch":   {func(p *Plan) { p.Batch = 5 }, "made in batches of 4, expected 5", true},
		"device":  {func(p *Plan) { p.Device = "cuda:0" }, "made on device cpu, expected cuda:0", true},
		"outsize": {func(p *Plan) { p.Dim = 7 }, "10×3 values, expected 10×7", true},
	} {
		other := plan
		change.change(&other)
		begun := t.TempDir()
		w := mustCreate(t, begun, plan, false)
		appendTo(t, w, plan, 8)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		dirs := []string{begun}
		if !change.begun {
			dirs = append(dirs, makeStore(t, t.TempDir(), plan).Dir)
		}
		for _, dir := range dirs {
			before := folder(t, dir)
			_, err := Create(dir, other, false)
			var key *KeyError
			if !errors.As(err, &key) || !strings.Contains(key.Error(), change.want) {
				t.Errorf("%s: %v, want %q", name, err, change.want)
			}
			if diff := cmp.Diff(before, folder(t, dir)); diff != "" {
				t.Errorf("%s: the refused store has changed:\n%s", name, diff)
			}
			w := mustCreate(t, dir, other, true)
			appendTo(t, w, other, len(other.Paths))
			s, err := w.Finish(t.Context())
			if err != nil {
				t.Fatalf("%s: overwriting: %v", name, err)
			}
			w.Close()
			if s.Key.Differs(w.plan.Key) != "" {
				t.Errorf("%s: overwritten store has key %v", name, s.Key)
			}
		}
	}
}

// TestEmptyBeginningBindsNobody checks that a run stopped before saving its first batch does not restrict the next run.
func TestEmptyBeginningBindsNobody(t *testing.T) {
	dir := t.TempDir()
	mustCreate(t, dir, testPlan(10), false).Close()
	other := testPlan(10)
	other.Key.Model = "9c02"
	mustCreate(t, dir, other, false).Close()
}

// TestOverwriteKeepsTheOldStore checks that the old store stays until the new store is complete.
func TestOverwriteKeepsTheOldStore(t *testing.T) {
	plan := testPlan(10)
	old := makeStore(t, t.TempDir(), plan)
	other := plan
	other.Key.Model = "9c02"
	w := mustCreate(t, old.Dir, other, true)
	appendTo(t, w, other, 8)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	s, err := Open(old.Dir)
	if err != nil || s.Key.Model != "1f3a" || s.Verify(t.Context()) != nil {
		t.Fatalf("old store: %v", err)
	}
	if _, err := Create(old.Dir, plan, false); !errors.Is(err, ErrComplete) {
		t.Errorf("old store asked for again: %v", err)
	}
	w = mustCreate(t, old.Dir, other, true)
	if w.Rows() != 8 {
		t.Errorf("goes on at row %d, expected 8", w.Rows())
	}
	appendTo(t, w, other, 10)
	if s, err = w.Finish(t.Context()); err != nil || s.Key.Model != "9c02" {
		t.Errorf("new store: %v", err)
	}
	w.Close()
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	w := mustCreate(t, dir, testPlan(10), false)
	if _, err := Create(dir, testPlan(10), false); err == nil ||
		!strings.Contains(err.Error(), "another winnow (process ") {
		t.Errorf("second writer: %v", err)
	}
	w.Close()
	mustCreate(t, dir, testPlan(10), false).Close()
}

// unsealed returns a store's files with store.json without its seal, as earlier versions wrote it, to check its fields.
func unsealed(t *testing.T, files map[string]string) map[string]string {
	t.Helper()
	body, _, found := strings.Cut(files[storeFile], ",\n  \"checksum\"")
	if !found {
		t.Fatalf("no checksum in %s", files[storeFile])
	}
	files[storeFile] = body + "\n}\n"
	return files
}

func TestOpenRefuses(t *testing.T) {
	plan := testPlan(10)
	files := unsealed(t, folder(t, makeStore(t, t.TempDir(), plan).Dir))
	for name, c := range map[string]struct {
		spoil func(map[string]string)
		want  string
	}{
		"nothing":    {func(f map[string]string) { clear(f) }, "no feature store"},
		"no vectors": {func(f map[string]string) { delete(f, VectorsFile) }, "no such file"},
		"short vectors": {func(f map[string]string) { f[VectorsFile] = f[VectorsFile][:200] },
			"bytes of data for shape"},
		"no paths":    {func(f map[string]string) { delete(f, pathsFile) }, "no such file"},
		"other paths": {func(f map[string]string) { f[pathsFile] += "more.jpg\n" }, "paths.txt: sha256"},
		"version": {func(f map[string]string) {
			f[storeFile] = strings.Replace(f[storeFile], `"version": 1`, `"version": 2`, 1)
		}, "store version 2, expected 1"},
		"half json": {func(f map[string]string) { f[storeFile] = f[storeFile][:50] }, "is empty or cut short"},
		"rows": {func(f map[string]string) {
			f[storeFile] = strings.Replace(f[storeFile], `"rows": 10`, `"rows": 11`, 1)
		}, "10 paths, expected 11"},
		"dim": {func(f map[string]string) {
			f[storeFile] = strings.Replace(f[storeFile], `"dim": 3`, `"dim": 2`, 1)
		}, "expected <f4 of [10 2]"},
		"bad row": {func(f map[string]string) {
			f[storeFile] = strings.Replace(f[storeFile], `"row": 5`, `"row": 10`, 1)
		}, "bad row 10"},
	} {
		spoilt := map[string]string{}
		for k, v := range files {
			spoilt[k] = v
		}
		c.spoil(spoilt)
		_, err := Open(restore(t, spoilt))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	flipped := map[string]string{}
	for k, v := range files {
		flipped[k] = v
	}
	b := []byte(flipped[VectorsFile])
	b[len(b)-3] ^= 1
	flipped[VectorsFile] = string(b)
	s, err := Open(restore(t, flipped))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(t.Context()); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("flipped bit: %v", err)
	}
}

func TestSpoiltProgressIsRefused(t *testing.T) {
	plan := testPlan(10)
	dir := t.TempDir()
	w := mustCreate(t, dir, plan, false)
	appendTo(t, w, plan, 8)
	w.Flush()
	w.Close()
	files := folder(t, dir)
	for name, spoil := range map[string]func(map[string]string){
		"cut": func(f map[string]string) { f[progressFile] = f[progressFile][:40] },
		"odd rows": func(f map[string]string) {
			f[progressFile] = strings.Replace(f[progressFile], `"rows": 8`, `"rows": 7`, 1)
		},
		"too many": func(f map[string]string) {
			f[progressFile] = strings.Replace(f[progressFile], `"rows": 8`, `"rows": 12`, 1)
		},
		"short part": func(f map[string]string) { f[partFile] = f[partFile][:len(f[partFile])-1] },
		"other part": func(f map[string]string) { f[partFile] = "x" + f[partFile][1:] },
		"no part":    func(f map[string]string) { delete(f, partFile) },
	} {
		spoilt := map[string]string{}
		for k, v := range files {
			spoilt[k] = v
		}
		spoil(spoilt)
		if _, err := Create(restore(t, spoilt), plan, false); err == nil {
			t.Errorf("%s: accepted", name)
		}
		w := mustCreate(t, restore(t, spoilt), plan, true)
		if w.Rows() != 0 {
			t.Errorf("%s: overwriting goes on at row %d", name, w.Rows())
		}
		w.Close()
	}
}

// Reading stops between rows when its context is cancelled.
func TestReadInterrupted(t *testing.T) {
	s := makeStore(t, filepath.Join(t.TempDir(), "store"), testPlan(10))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, read := range map[string]func(context.Context, []int) (blas32.General, error){"Read": s.Read,
		"ReadViews": s.ReadViews, "averaged": s.Averaged().Read} {
		if _, err := read(ctx, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
