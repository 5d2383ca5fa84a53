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

	"winnow/datasets/location"
	"winnow/run/extraction"
)

// Three shards, with unreadable images, make the store of one run, byte for byte, as do one and four found in the
// environment. Missing, begun, torn and foreign parts are reported.
func TestExtractShardsAndJoin(t *testing.T) {
	a := newAlbum(t, 13) // four batches of four at most
	a.mustExtract(t)
	want := a.files(t)
	a.out = filepath.Join(a.dir, "dealt")
	shard := func(which string, more ...string) (int, string, string) {
		t.Helper()
		return a.extract(t, t.Context(), append(more, "--shard", which)...)
	}
	for i := 1; i <= 3; i++ {
		which := fmt.Sprintf("%d/3", i)
		code, out, errs := shard(which)
		if code != 0 || !strings.Contains(out, "shard "+which+": when all are there: winnow join "+a.out+"\n") {
			t.Fatalf("shard %d: exit code %d: %s%s", i, code, out, errs)
		}
		if code, out, errs = shard(which); code != 0 || !strings.Contains(out, "nothing to do") {
			t.Errorf("shard %d again: exit code %d: %s%s", i, code, out, errs)
		}
	}
	if code, _, errs := shard("2/4"); code != 1 || !strings.Contains(errs,
		"holds parts of another job: one of 3 parts and one of 4") {
		t.Errorf("another count: exit code %d: %s", code, errs)
	}
	if code, _, errs := shard("2/3", "--crop", "15"); code != 1 ||
		!strings.Contains(errs, `holds parts of another job: setting "preprocessing"`) {
		t.Errorf("another setting: exit code %d: %s", code, errs)
	}
	// A part is not a store of the whole manifest.
	write(t, a.manifest+".train.csv", "path,label,split\nc0/000.jpg,0,train\nc1/011.jpg,1,train\n")
	code, _, errs := call(t.Context(), "train", "--manifest", a.manifest+".train.csv", "--features",
		part(a.out, 1, 3), "--out", filepath.Join(a.dir, "run"))
	if code != 1 || !strings.Contains(errs, "is shard 1/3, without 1 of the 2 train images") ||
		!strings.Contains(errs, "winnow join "+a.out+"\n") {
		t.Errorf("training on a shard: exit code %d: %s", code, errs)
	}

	second := part(a.out, 2, 3)
	for name, spoil := range map[string]struct {
		do   func() error
		want string
	}{
		"missing": {func() error { return os.RemoveAll(second) }, "1 of 3 parts cannot be joined: missing: 2"},
		"begun":   {func() error { return os.Remove(filepath.Join(second, "part.json")) }, "begun: 2"},
		"torn": {func() error { return os.Truncate(filepath.Join(second, "features.npy"), 100) },
			"torn: 2; " + second + " has a features.npy of 100 bytes"},
		"changed": {func() error { return flip(filepath.Join(second, "features.npy")) },
			"torn: 2; " + second + " has a features.npy that changed"},
		"no array": {func() error {
			return os.WriteFile(filepath.Join(second, "features.npy"), bytes.Repeat([]byte{'x'}, 128+4*7*4), 0o644)
		}, "torn: 2; " + second + " has a features.npy that changed"},
		"header": {func() error {
			return os.WriteFile(filepath.Join(second, "part.json"), []byte(`{"winnow_part": 1, `), 0o644)
		}, "torn: 2; " + second + " its header"},
	} {
		if err := spoil.do(); err != nil {
			t.Fatal(err)
		}
		code, _, errs := call(t.Context(), "join", a.out)
		if code != 1 || !strings.Contains(errs, spoil.want) || !strings.Contains(errs, "--shard 2/3") ||
			strings.Count(errs, "\n") != 2 {
			t.Errorf("%s: exit code %d: %s", name, code, errs)
		}
		if left, err := filepath.Glob(filepath.Join(a.out, "features.npy*")); err != nil || left != nil {
			t.Errorf("%s: left %v, %v", name, left, err)
		}
		if code, _, errs = shard("2/3"); code != 0 {
			t.Fatalf("%s, made again: exit code %d: %s", name, code, errs)
		}
	}
	code, out, errs := call(t.Context(), "join", a.out+".parts/", "--json")
	var got extraction.Joined
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v: %s", code, err, errs)
	}
	if want := (extraction.Joined{Store: location.At(a.out), Shards: 3, Rows: 13, Dim: 7, Device: "cpu",
		Bad: 2}); got != want {
		t.Errorf("found %+v, expected %+v", got, want)
	}
	if diff := cmp.Diff(want, a.files(t)); diff != "" {
		t.Errorf("(-one go +joined):\n%s", diff)
	}
	if code, out, _ := call(t.Context(), "join", a.out); code != 0 || !strings.Contains(out, "nothing to do") {
		t.Errorf("again: exit code %d: %s", code, out)
	}
	for of := 1; of <= 4; of += 3 {
		a.out = filepath.Join(a.dir, fmt.Sprint("slurm", of))
		for i := range of {
			t.Setenv("JOB_COMPLETION_INDEX", fmt.Sprint(i))
			if code, _, errs := shard(fmt.Sprintf("auto/%d", of)); code != 0 ||
				!strings.Contains(errs, fmt.Sprintf("winnow: shard %d/%d, by JOB_COMPLETION_INDEX\n", i+1, of)) {
				t.Fatalf("%d of %d: exit code %d: %s", i, of, code, errs)
			}
		}
		mustCall(t, "join", a.out)
		if diff := cmp.Diff(want, a.files(t)); diff != "" {
			t.Errorf("%d parts (-one go +joined):\n%s", of, diff)
		}
	}
}

// flip changes a bit of a file.
func flip(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	b[len(b)-2] ^= 4
	return os.WriteFile(path, b, 0o644)
}

// TestShardsOfViews joins shards of several views in half precision; parts of different settings are not joined.
func TestShardsOfViews(t *testing.T) {
	a := newAlbum(t, 13)
	flags := []string{"--views", "center+flip+2*prism", "--dtype", "float16", "--seed", "7"}
	a.mustExtract(t, flags...)
	want := a.files(t)
	shard := func(name, which string, flags ...string) {
		a.out = filepath.Join(a.dir, name)
		a.mustExtract(t, slices.Concat(flags, []string{"--shard", which})...)
	}
	shard("joined", "2/2", flags...)
	shard("joined", "1/2", flags...)
	one, two := part(a.out, 1, 2), part(a.out, 2, 2)
	for name, flags := range map[string][]string{
		"dtype": flags[:2], "views": flags[2:4], `"views"`: slices.Concat(flags[:4],
			[]string{"--seed", "8"}), "batch": slices.Concat(flags, []string{"--batch", "2"}),
	} {
		other := "other " + strings.Trim(name, `"`) + fmt.Sprint(len(name))
		shard(other, "2/2", flags...)
		if err := os.CopyFS(part(a.out, 1, 2), os.DirFS(one)); err != nil {
			t.Fatal(err)
		}
		code, _, errs := call(t.Context(), "join", a.out)
		if code != 1 || !strings.Contains(errs, "cannot be joined: setting") || !strings.Contains(errs, name) {
			t.Errorf("%s: exit code %d: %s", name, code, errs)
		}
	}
	a.out = filepath.Join(a.dir, "joined")
	mustCall(t, "join", a.out)
	if diff := cmp.Diff(want, a.files(t)); diff != "" {
		t.Errorf("(-one go +joined):\n%s", diff)
	}
	if err := os.CopyFS(filepath.Join(filepath.Dir(two), "3-of-4"), os.DirFS(two)); err != nil {
		t.Fatal(err)
	}
	fails(t, 1, "one of 2 parts and one of 4", "join", a.out)
}

func TestShardMisuse(t *testing.T) {
	a := newAlbum(t, 6)
	for text, want := range map[string]string{"0/2": "expected I/N", "3/2": "expected I/N", "1": "expected I/N",
		"x/2": "expected I/N", "1/3": "at most 2 shards", "auto": "is this a task of an array?"} {
		a.fails(t, 2, want, "--shard", text)
	}
	fails(t, 2, "expected the --out", "join")
	fails(t, 1, "store.parts", "join", a.out)
}
