package features

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas/blas32"
	"pgregory.net/rapid"
)

// makeShard makes one shard of a plan, with the rows of the whole list.
func makeShard(t testing.TB, dir string, plan Plan, index, of int) {
	t.Helper()
	shard, paths, err := ShardOf(plan.Paths, index, of, plan.Batch)
	if err != nil {
		t.Fatal(err)
	}
	part := plan
	part.Paths, part.Shard = paths, &shard
	w, err := Create(dir, part, false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for w.Rows() < len(paths) {
		x, bad := batchAt(plan, shard.First+w.Rows())
		x.Rows = min(x.Rows, len(paths)-w.Rows())
		for i := range bad {
			bad[i].Row -= shard.First
		}
		if err := w.Append(x, bad); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// shardsOf makes all shards, each in its own folder.
func shardsOf(t testing.TB, dir string, plan Plan, of int) []string {
	t.Helper()
	var dirs []string
	for i := 1; i <= of; i++ {
		d := filepath.Join(dir, fmt.Sprint("shard", i))
		makeShard(t, d, plan, i, of)
		dirs = append(dirs, d)
	}
	return dirs
}

func TestJoinIsTheStoreMadeInOneGo(t *testing.T) {
	for _, size := range []struct{ n, of int }{{6, 1}, {6, 2}, {17, 2}, {17, 5}, {40, 3}, {41, 7}} {
		plan := testPlan(size.n)
		dir := t.TempDir()
		dirs := shardsOf(t, dir, plan, size.of)
		slices.Reverse(dirs) // any order
		out, whole := filepath.Join(dir, "joined"), filepath.Join(dir, "whole")
		last := [2]int{}
		s, err := Join(dirs, out, false, func(done, total int) {
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
		if _, err := Join(dirs, out, false, nil); !errors.Is(err, ErrComplete) {
			t.Errorf("a second time: %v, expected that it is complete", err)
		}
	}
}

// For any sizes, shards are runs of whole batches that together are the list.
func TestShardsAreTheList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, batch := rapid.IntRange(1, 200).Draw(t, "n"), rapid.IntRange(1, 40).Draw(t, "batch")
		batches := (n + batch - 1) / batch
		of := rapid.IntRange(1, batches).Draw(t, "of")
		paths := testPlan(n).Paths
		var all []string
		least, most := n, 0
		for i := 1; i <= of; i++ {
			s, part, err := ShardOf(paths, i, of, batch)
			if err != nil {
				t.Fatal(err)
			}
			if s.First != len(all) || s.First%batch != 0 || s.Total != n || len(part) == 0 {
				t.Fatalf("shard %v of %d images in batches of %d: %+v with %d images behind %d", s, n, batch, s,
					len(part), len(all))
			}
			all = append(all, part...)
			size := (len(part) + batch - 1) / batch
			least, most = min(least, size), max(most, size)
		}
		if !slices.Equal(all, paths) || most-least > 1 {
			t.Fatalf("%d shards of %d images: %d images, %d to %d batches", of, n, len(all), least, most)
		}
		if _, _, err := ShardOf(paths, 1, batches+1, batch); err == nil {
			t.Fatal("more shards than batches: no error")
		}
	})
}

func TestJoinRefuses(t *testing.T) {
	plan := testPlan(20)
	with := func(change func(*Plan)) Plan {
		p := plan
		change(&p)
		return p
	}
	edit := func(t *testing.T, dir string, change func(*Info)) {
		t.Helper()
		name := filepath.Join(dir, storeFile)
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var info Info
		if err := json.Unmarshal(data, &info); err != nil {
			t.Fatal(err)
		}
		change(&info)
		if data, err = marshalLines(info); err == nil {
			err = os.WriteFile(name, data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, dirs []string) []string
		want   string
	}{
		"one missing": {func(t *testing.T, dirs []string) []string { return []string{dirs[2], dirs[0]} },
			"1 of 3 shards are missing: 2/3"},
		"two missing": {func(t *testing.T, dirs []string) []string { return dirs[1:2] },
			"2 of 3 shards are missing: 1/3, 3/3"},
		"one twice": {func(t *testing.T, dirs []string) []string { return append(dirs, dirs[1]) }, "both"},
		"none":      {func(t *testing.T, dirs []string) []string { return nil }, "no shard is given"},
		"its own name": {func(t *testing.T,
			dirs []string) []string {
			return append(dirs, filepath.Join(dirs[0], "no"))
		}, "no feature store"},
		"a whole store": {func(t *testing.T, dirs []string) []string {
			makeStore(t, filepath.Join(dirs[0], "whole"), plan)
			return append(dirs, filepath.Join(dirs[0], "whole"))
		}, "holds a whole image list, expected a shard"},
		"other model": {func(t *testing.T, dirs []string) []string {
			makeShard(t, dirs[1]+"b", with(func(p *Plan) { p.Key.Model = "2" }), 2, 3)
			return []string{dirs[0], dirs[1] + "b", dirs[2]}
		}, "made with model 1f3a, asked for 2"},
		"other views": {func(t *testing.T, dirs []string) []string {
			makeShard(t, dirs[1]+"b", with(func(p *Plan) { p.Key.Views = []string{"flip"} }), 2, 3)
			return []string{dirs[0], dirs[1] + "b", dirs[2]}
		}, "views"},
		"other list": {func(t *testing.T, dirs []string) []string {
			makeShard(t, dirs[1]+"b", with(func(p *Plan) { p.Paths = testPlan(21).Paths }), 2, 3)
			return []string{dirs[0], dirs[1] + "b", dirs[2]}
		}, "of the image list"},
		"other number": {func(t *testing.T, dirs []string) []string {
			makeShard(t, dirs[1]+"b", plan, 2, 4)
			return []string{dirs[0], dirs[1] + "b", dirs[2]}
		}, "shard 2/4"},
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
		"lied about its place": {func(t *testing.T, dirs []string) []string {
			edit(t, dirs[1], func(i *Info) { i.Shard.First += 4 })
			return dirs
		}, "begins at image"},
		"lied about the list": {func(t *testing.T, dirs []string) []string {
			for _, d := range dirs {
				edit(t, d, func(i *Info) { i.Shard.Images = "0000" })
			}
			return dirs
		}, "are not those of their image list"},
		"impossible": {func(t *testing.T, dirs []string) []string {
			edit(t, dirs[0], func(i *Info) { i.Shard.Of = 1 << 40 })
			return dirs
		}, "is impossible"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			dirs := c.change(t, shardsOf(t, dir, plan, 3))
			_, err := Join(dirs, filepath.Join(dir, "out"), false, nil)
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
	dirs, out := shardsOf(t, dir, plan, 3), filepath.Join(dir, "out")
	other := plan
	other.Key.Model = "2"
	makeStore(t, out, other)
	before := folder(t, out)
	var refused *KeyError
	if _, err := Join(dirs, out, false, nil); !errors.As(err, &refused) {
		t.Errorf("error %v, expected a KeyError", err)
	}
	if diff := cmp.Diff(before, folder(t, out)); diff != "" {
		t.Error(diff)
	}
	if _, err := Join(dirs, out, true, nil); err != nil {
		t.Errorf("--overwrite: %v", err)
	}
	if _, err := Join(dirs, dirs[0], true, nil); err == nil || !strings.Contains(err.Error(), "is shard 1/3 itself") {
		t.Errorf("onto a shard: %v", err)
	}
	begun := filepath.Join(dir, "begun")
	w := mustCreate(t, begun, plan, false)
	appendTo(t, w, plan, 8)
	if err := errors.Join(w.Flush(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Join(dirs, begun, false, nil); !errors.As(err, &refused) {
		t.Errorf("onto a begun store: error %v, expected a KeyError", err)
	}
	if _, err := Join(dirs, begun, true, nil); err != nil {
		t.Errorf("onto a begun store, --overwrite: %v", err)
	}
	makeStore(t, filepath.Join(dir, "whole"), plan)
	for _, made := range []string{out, begun} {
		if diff := cmp.Diff(folder(t, filepath.Join(dir, "whole")), folder(t, made)); diff != "" {
			t.Error(diff)
		}
	}
}

// A shard can be resumed only as itself.
func TestShardResumes(t *testing.T) {
	plan, dir := testPlan(20), t.TempDir()
	shard, paths, err := ShardOf(plan.Paths, 1, 1, plan.Batch)
	if err != nil {
		t.Fatal(err)
	}
	part := plan
	part.Paths, part.Shard = paths, &shard
	w := mustCreate(t, dir, part, false)
	appendTo(t, w, plan, 8)
	if err := errors.Join(w.Flush(), w.Close()); err != nil {
		t.Fatal(err)
	}
	var refused *KeyError
	if _, err := Create(dir, plan, false); !errors.As(err, &refused) {
		t.Errorf("going on with a shard as a whole list: %v, expected a KeyError", err)
	}
	w = mustCreate(t, dir, part, false)
	if w.Rows() != 8 {
		t.Errorf("%d rows, expected 8", w.Rows())
	}
	appendTo(t, w, plan, 20)
	if _, err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := Create(dir, plan, false); !errors.As(err, &refused) {
		t.Errorf("a finished shard as a whole list: %v, expected a KeyError", err)
	}
	if _, err := Create(dir, part, false); !errors.Is(err, ErrComplete) {
		t.Errorf("a finished shard: %v", err)
	}
}

// Rows are copied unchanged: float16, and several numbers of axes.
func TestCopyRowsOfAnyType(t *testing.T) {
	for _, shape := range [][]int{{2, 3}, {2, 5, 3}} {
		var got strings.Builder
		var like npyHeader
		want := ""
		for i, fill := range []string{"a", "b"} {
			dir := t.TempDir()
			size := 2
			for _, d := range shape {
				size *= d
			}
			rows := strings.Repeat(fill, size)
			want += rows
			data := string(encodeNPYHeader("<f2", shape...)) + rows
			if err := os.WriteFile(filepath.Join(dir, VectorsFile), []byte(data), 0o644); err != nil {
				t.Fatal(err)
			}
			sum, err := hashFile(t.Context(), filepath.Join(dir, VectorsFile))
			if err != nil {
				t.Fatal(err)
			}
			s := &Store{Dir: dir, Info: Info{Rows: 2, Dim: 3, Sum: sum}}
			if err := copyRows(&got, s, i == 0, &like, 4); err != nil {
				t.Fatal(err)
			}
		}
		want = string(encodeNPYHeader("<f2", append([]int{4}, shape[1:]...)...)) + want
		if got.String() != want {
			t.Errorf("shape %v: the bytes differ", shape)
		}
	}
}

func BenchmarkJoin(b *testing.B) {
	plan := testPlan(40000)
	plan.Dim, plan.Batch = 512, 500
	dir := b.TempDir()
	var dirs []string
	for i := 1; i <= 2; i++ {
		shard, paths, err := ShardOf(plan.Paths, i, 2, plan.Batch)
		if err != nil {
			b.Fatal(err)
		}
		part := plan
		part.Paths, part.Shard = paths, &shard
		dirs = append(dirs, filepath.Join(dir, fmt.Sprint(i)))
		w, err := Create(dirs[i-1], part, false)
		if err != nil {
			b.Fatal(err)
		}
		for w.Rows() < len(paths) {
			if err := w.Append(blas32.General(NewMatrix(plan.Batch, plan.Dim)), nil); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := w.Finish(b.Context()); err != nil {
			b.Fatal(err)
		}
		w.Close()
	}
	b.SetBytes(40000 * 512 * 4)
	for b.Loop() {
		if _, err := Join(dirs, filepath.Join(dir, "out"), true, nil); err != nil {
			b.Fatal(err)
		}
	}
}
