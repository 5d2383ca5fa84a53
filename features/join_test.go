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
)

// makeRun makes a store of a plan's images first to end-1.
func makeRun(t testing.TB, dir string, plan Plan, first, end int) {
	t.Helper()
	part := plan
	part.Paths = plan.Paths[first:end]
	w, err := Create(dir, part, false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for w.Rows() < len(part.Paths) {
		x, bad := batchAt(plan, first+w.Rows())
		x.Rows = min(x.Rows, len(part.Paths)-w.Rows())
		for i := range bad {
			bad[i].Row -= first
		}
		if err := w.Append(x, bad); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// border returns the first image of run i if a plan is divided into of runs of whole batches.
func border(plan Plan, i, of int) int {
	batches := (len(plan.Paths) + plan.Batch - 1) / plan.Batch
	return min(batches*i/of*plan.Batch, len(plan.Paths))
}

// runsOf makes all runs of a plan, each in its own folder.
func runsOf(t testing.TB, dir string, plan Plan, of int) []string {
	t.Helper()
	var dirs []string
	for i := range of {
		d := filepath.Join(dir, fmt.Sprint("run", i+1))
		makeRun(t, d, plan, border(plan, i, of), border(plan, i+1, of))
		dirs = append(dirs, d)
	}
	return dirs
}

// joinDirs joins the stores in the given folders.
func joinDirs(dirs []string, out string, overwrite bool, progress func(done, total int)) (*Store, error) {
	stores := make([]*Store, len(dirs))
	for i, dir := range dirs {
		var err error
		if stores[i], err = Open(dir); err != nil {
			return nil, err
		}
	}
	return Join(context.Background(), stores, out, overwrite, progress)
}

func TestJoinIsTheStoreMadeInOneGo(t *testing.T) {
	for _, size := range []struct{ n, of int }{{6, 1}, {6, 2}, {17, 2}, {17, 5}, {40, 3}, {41, 7}} {
		plan := testPlan(size.n)
		dir := t.TempDir()
		dirs := runsOf(t, dir, plan, size.of)
		out, whole := filepath.Join(dir, "joined"), filepath.Join(dir, "whole")
		last := [2]int{}
		s, err := joinDirs(dirs, out, false, func(done, total int) {
			if last = [2]int{done, total}; done > total {
				t.Errorf("%d of %d rows", done, total)
			}
		})
		if err != nil {
			t.Fatalf("%d in %d: %v", size.n, size.of, err)
		}
		if last != [2]int{size.n, size.n} {
			t.Errorf("%d in %d: progress ends at %v", size.n, size.of, last)
		}
		makeStore(t, whole, plan)
		if diff := cmp.Diff(folder(t, whole), folder(t, out)); diff != "" {
			t.Errorf("%d in %d (-one go +joined):\n%s", size.n, size.of, diff)
		}
		if err := s.Verify(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := joinDirs(dirs, out, false, nil); !errors.Is(err, ErrComplete) {
			t.Errorf("a second time: %v, expected that it is complete", err)
		}
	}
}

func TestJoinRefuses(t *testing.T) {
	plan := testPlan(20)
	with := func(change func(*Plan)) Plan {
		p := plan
		change(&p)
		return p
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, dirs []string) []string
		want   string
	}{
		"none": {func(t *testing.T, dirs []string) []string { return nil }, "found no store"},
		"no store": {func(t *testing.T, dirs []string) []string {
			return append(dirs, filepath.Join(dirs[0], "no"))
		}, "no feature store"},
		"other model": {func(t *testing.T, dirs []string) []string {
			makeRun(t, dirs[1]+"b", with(func(p *Plan) { p.Key.Model = "2" }), 4, 8)
			return []string{dirs[0], dirs[1] + "b", dirs[2]}
		}, "made with model 1f3a, expected 2"},
		"other views": {func(t *testing.T, dirs []string) []string {
			makeRun(t, dirs[1]+"b", with(func(p *Plan) { p.Key.Views = []string{"flip"} }), 4, 8)
			return []string{dirs[0], dirs[1] + "b", dirs[2]}
		}, "views"},
		"other batches": {func(t *testing.T, dirs []string) []string {
			makeRun(t, dirs[1]+"b", with(func(p *Plan) { p.Batch++ }), 5, 10)
			return []string{dirs[0], dirs[1] + "b", dirs[2]}
		}, "batches of"},
		"flipped": {func(t *testing.T, dirs []string) []string {
			name := filepath.Join(dirs[1], VectorsFile)
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			data[len(data)-3] ^= 1
			if err := os.WriteFile(name, data, 0o644); err != nil {
				t.Fatal(err)
			}
			return dirs
		}, "has changed since it was written"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			dirs := c.change(t, runsOf(t, dir, plan, 3))
			_, err := joinDirs(dirs, filepath.Join(dir, "out"), false, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, expected %q", err, c.want)
			}
			if _, err := Open(filepath.Join(dir, "out")); err == nil {
				t.Error("a store is there all the same")
			}
		})
	}
}

func TestJoinLeavesAnotherStore(t *testing.T) {
	plan, dir := testPlan(20), t.TempDir()
	dirs, out := runsOf(t, dir, plan, 3), filepath.Join(dir, "out")
	other := plan
	other.Key.Model = "2"
	makeStore(t, out, other)
	before := folder(t, out)
	var refused *KeyError
	if _, err := joinDirs(dirs, out, false, nil); !errors.As(err, &refused) {
		t.Errorf("error %v, expected a KeyError", err)
	}
	if diff := cmp.Diff(before, folder(t, out)); diff != "" {
		t.Error(diff)
	}
	if _, err := joinDirs(dirs, out, true, nil); err != nil {
		t.Errorf("--overwrite: %v", err)
	}
	begun := filepath.Join(dir, "begun")
	w := mustCreate(t, begun, plan, false)
	appendTo(t, w, plan, 8)
	if err := errors.Join(w.Flush(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := joinDirs(dirs, begun, false, nil); err != nil {
		t.Errorf("onto a begun store: %v", err)
	}
	makeStore(t, filepath.Join(dir, "whole"), plan)
	for _, made := range []string{out, begun} {
		if diff := cmp.Diff(folder(t, filepath.Join(dir, "whole")), folder(t, made)); diff != "" {
			t.Error(diff)
		}
	}
}
