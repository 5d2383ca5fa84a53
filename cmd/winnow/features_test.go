package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	featurescmd "winnow/cmd/winnow/features"
)

// winnow runs a command in this process.
func winnow(t testing.TB, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = execute(t.Context(), append([]string{"winnow"}, args...), &out, &errs)
	return out.String(), errs.String(), code
}

// Three shards, with unreadable images in them, make the store of one go.
func TestExtractShardsAndJoin(t *testing.T) {
	a := newAlbum(t, 13) // four batches of four at most
	whole := a.out
	if _, errs, code := a.extract(t, t.Context()); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	want := a.files(t)
	var dirs []string
	for i := 1; i <= 3; i++ {
		a.out = filepath.Join(a.dir, fmt.Sprint("shard", i))
		dirs = append(dirs, a.out)
		out, errs, code := a.extract(t, t.Context(), "--shard", fmt.Sprintf("%d/3", i))
		if code != 0 || !strings.Contains(out, fmt.Sprintf("shard %d/3: winnow features join", i)) {
			t.Fatalf("shard %d: exit code %d: %s%s", i, code, out, errs)
		}
		if out, errs, code = a.extract(t, t.Context(), "--shard", fmt.Sprintf("%d/3", i)); code != 0 || !strings.Contains(out, "nothing to do") {
			t.Errorf("shard %d again: exit code %d: %s%s", i, code, out, errs)
		}
	}
	if _, errs, code := a.extract(t, t.Context()); code != 1 || !strings.Contains(errs, "--overwrite") {
		t.Errorf("the whole list into a shard's folder: exit code %d: %s", code, errs)
	}

	joined := filepath.Join(a.dir, "joined")
	_, errs, code := winnow(t, "features", "join", dirs[0], dirs[2], "--out", joined)
	if code != 1 || !strings.Contains(errs, "1 of 3 shards are missing: 2/3") || !strings.Contains(errs, "--shard 2/3") {
		t.Errorf("one missing: exit code %d: %s", code, errs)
	}
	out, errs, code := winnow(t, "features", "join", dirs[2], dirs[0], dirs[1], "--out", joined, "--json")
	var got featurescmd.JoinedStore
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v: %s", code, err, errs)
	}
	if want := (featurescmd.JoinedStore{Store: joined, Shards: 3, Rows: 13, Dim: 7, Device: "cpu", Bad: 2}); got != want {
		t.Errorf("found %+v, expected %+v", got, want)
	}
	a.out = joined
	if diff := cmp.Diff(want, a.files(t)); diff != "" {
		t.Errorf("(-one go +joined):\n%s", diff)
	}
	if out, _, code := winnow(t, "features", "join", dirs[0], dirs[1], dirs[2], "--out", joined); code != 0 || !strings.Contains(out, "nothing to do") {
		t.Errorf("again: exit code %d: %s", code, out)
	}
	if _, errs, code := winnow(t, "features", "join", dirs[0], whole, "--out", joined); code != 1 || !strings.Contains(errs, "expected a shard") {
		t.Errorf("a whole store: exit code %d: %s", code, errs)
	}
	// A shard alone is no store of the manifest.
	if err := os.WriteFile(a.manifest+".train.csv", []byte("path,label,split\nc0/000.jpg,0,train\nc1/011.jpg,1,train\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, errs, code = winnow(t, "train", "--manifest", a.manifest+".train.csv", "--features", dirs[0], "--out", filepath.Join(a.dir, "run"))
	if code != 1 || !strings.Contains(errs, "is shard 1/3, without 1 of the 2 train images") || !strings.Contains(errs, "winnow features join") {
		t.Errorf("training on a shard: exit code %d: %s", code, errs)
	}
}

// TestShardsOfViews: so do shards of several views in half precision, and what is missing, doubled or of another kind is
// told in one line.
func TestShardsOfViews(t *testing.T) {
	a := newAlbum(t, 13)
	flags := []string{"--views", "center+flip+2*prism", "--dtype", "float16", "--seed", "7"}
	if _, errs, code := a.extract(t, t.Context(), flags...); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	want := a.files(t)
	shard := func(name, which string, flags ...string) string {
		a.out = filepath.Join(a.dir, name)
		if _, errs, code := a.extract(t, t.Context(), slices.Concat(flags, []string{"--shard", which})...); code != 0 {
			t.Fatalf("%s: exit code %d: %s", name, code, errs)
		}
		return a.out
	}
	one, two := shard("one", "1/2", flags...), shard("two", "2/2", flags...)
	for name, c := range map[string]struct {
		dirs []string
		want string
	}{
		"missing":     {[]string{two}, "1 of 2 shards are missing: 1/2"},
		"doubled":     {[]string{one, two, one}, "both are shard 1/2"},
		"a copy":      {[]string{one, shard("again", "1/2", flags...), two}, "both are shard 1/2"},
		"other type":  {[]string{one, shard("long", "2/2", flags[:2]...)}, "cannot be put together: "},
		"other views": {[]string{one, shard("centre", "2/2", flags[2:4]...)}, "cannot be put together: "},
		"other draws": {[]string{one, shard("drawn", "2/2", slices.Concat(flags[:4], []string{"--seed", "8"})...)}, "cannot be put together: "},
		"other batch": {[]string{one, shard("batch", "2/2", slices.Concat(flags, []string{"--batch", "2"})...)}, "cannot be put together: batches of 4"},
	} {
		_, errs, code := winnow(t, append(append([]string{"features", "join"}, c.dirs...), "--out", filepath.Join(a.dir, "joined"))...)
		if code != 1 || !strings.Contains(errs, c.want) || strings.Count(errs, "winnow: features") != 1 {
			t.Errorf("%s: exit code %d: %s", name, code, errs)
		}
	}
	a.out = filepath.Join(a.dir, "joined")
	if _, errs, code := winnow(t, "features", "join", two, one, "--out", a.out); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	if diff := cmp.Diff(want, a.files(t)); diff != "" {
		t.Errorf("(-one go +joined):\n%s", diff)
	}
}

func TestShardMisuse(t *testing.T) {
	a := newAlbum(t, 6)
	for text, want := range map[string]string{"0/2": "expected i/n", "3/2": "expected i/n", "1": "expected i/n", "x/2": "expected i/n", "1/3": "at most 2 shards"} {
		if _, errs, code := a.extract(t, t.Context(), "--shard", text); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("--shard %s: exit code %d: %s", text, code, errs)
		}
	}
	if _, errs, code := winnow(t, "features", "join", "--out", a.out); code != 2 || !strings.Contains(errs, "a shard is missing") {
		t.Errorf("no shard: exit code %d: %s", code, errs)
	}
	if _, errs, code := winnow(t, "features", "join", a.dir); code != 2 || !strings.Contains(errs, "--out missing") {
		t.Errorf("no --out: exit code %d: %s", code, errs)
	}
}
