package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/cluster"
	"winnow/datasets/location"
)

// part returns the folder of a part of an output.
func part(out string, i, of int) string { return cluster.Path(location.At(out), i, of).Path() }

// flip flips a bit of a file.
func flip(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	b[len(b)-2] ^= 4
	return os.WriteFile(path, b, 0o644)
}

// TestExtractDealt checks that three shards with unreadable images are joined to the same bytes as the store of a
// single run, also for several views in half precision, and that missing and damaged parts are reported and made again.
func TestExtractDealt(t *testing.T) {
	for _, flags := range [][]string{nil, {"--views", "center+flip+2*prism", "--dtype", "float16", "--seed", "7"}} {
		a := newAlbum(t, 13) // four batches of at most four images
		a.mustExtract(t, flags...)
		want := a.files(t)
		a.out = filepath.Join(a.dir, "dealt")
		shard := func(which string) (string, string) {
			t.Helper()
			code, out, errs := a.extract(t, t.Context(), append(flags[:len(flags):len(flags)], "--shard", which)...)
			if code != 0 {
				t.Fatalf("shard %s: exit code %d: %s%s", which, code, out, errs)
			}
			return out, errs
		}
		for i := 3; i > 0; i-- {
			shard(fmt.Sprintf("%d/3", i))
			if out, _ := shard(fmt.Sprintf("%d/3", i)); !strings.Contains(out, "nothing to do") {
				t.Errorf("shard %d again: %s", i, out)
			}
		}
		second := part(a.out, 2, 3)
		for name, spoil := range map[string]func() error{
			"missing": func() error { return os.RemoveAll(second) },
			"begun":   func() error { return os.Remove(filepath.Join(second, "part.json")) },
			"torn":    func() error { return flip(filepath.Join(second, "features.npy")) },
		} {
			if err := spoil(); err != nil {
				t.Fatal(err)
			}
			fails(t, 1, "1 of 3 parts are missing: 2 "+name, "join", a.out)
			shard("2/3")
		}
		mustCall(t, "join", a.out+".parts/")
		if diff := cmp.Diff(want, a.files(t)); diff != "" {
			t.Errorf("(-one go +joined):\n%s", diff)
		}
		if out, _ := mustCall(t, "join", a.out); !strings.Contains(out, "nothing to do") {
			t.Errorf("again: %s", out)
		}
	}
	a := newAlbum(t, 6)
	a.fails(t, 2, "expected I/N", "--shard", "3/2")
	a.fails(t, 2, "at most 2 shards", "--shard", "1/3")
	fails(t, 1, "store.parts", "join", a.out)
}
