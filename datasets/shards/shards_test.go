package shards

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"winnow/datasets/location"
	"winnow/internal/regular"
	"winnow/internal/testing/tarfile"
)

// tarOf writes a tar file with alternating names and contents.
func tarOf(t *testing.T, path string, files ...string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
		os.WriteFile(path, tarfile.Of(t, files...), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestExpand(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a-08.tar", "a-09.tar", "a-10.tar", "b/x.tar", "c/x.tar", "odd{1}.tar"} {
		tarOf(t, filepath.Join(dir, name), "1.jpg", "x")
	}
	for pattern, want := range map[string]string{
		"a-*.tar":        "a-08.tar a-09.tar a-10.tar",
		"a-[01][89].tar": "a-08.tar a-09.tar",
		"?/*.tar":        "b/x.tar c/x.tar",
		"z*.tar":         "no file matches this pattern",
		"a-{08..10}.tar": "expected a pattern with *",
		"{c,b}/x.tar":    "expected a pattern with *",
	} {
		files, err := expandPattern(t.Context(), location.At(filepath.Join(dir, pattern)))
		found := strings.Trim(fmt.Sprint(files), "[]")
		if err != nil {
			found = err.Error()
		}
		if found = strings.ReplaceAll(found, dir+"/", ""); !strings.Contains(found, want) {
			t.Errorf("%s: found %q, expected %q", pattern, found, want)
		}
	}
	for name, want := range map[string]bool{filepath.Join(dir, "odd{1}.tar"): false, "plain.tar": false,
		"a{b}.tar": false, "a{b,c}.tar": true} {
		if IsPattern(location.At(name)) != want {
			t.Errorf("%s: a pattern: %v, expected %v", name, !want, want)
		}
	}
	for pattern, want := range map[string]string{"a.tar": ".", "x/a.tar": "x", "/a.tar": "/",
		"x/*.tar": "x", "*/*.tar": ".", "x/y/../?.tar": "x"} {
		if found := Folder(location.At(pattern)); found.Path() != want {
			t.Errorf("%s begins in %s, expected %s", pattern, found, want)
		}
	}
}

// A path may continue inside a tar file; changes of that file are noticed.
func TestTree(t *testing.T) {
	dir := t.TempDir()
	shard := filepath.Join(dir, "deep", "a.tar")
	tarOf(t, shard, "1.jpg", "one", "c/2.jpg", "two")
	if err := os.WriteFile(filepath.Join(dir, "plain.jpg"), []byte("plain"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		fsys := FS(regular.Dir(dir))
		for path, want := range map[string]string{"deep/a.tar/1.jpg": "one", "deep/a.tar/c/2.jpg": "two",
			"plain.jpg": "plain"} {
			data, err := fs.ReadFile(fsys, path)
			if err != nil || string(data) != want {
				t.Errorf("%s: %q, %v", path, data, err)
			}
			if info, err := fs.Stat(fsys, path); err != nil || info.Size() != int64(len(want)) ||
				!info.Mode().IsRegular() {
				t.Errorf("%s: %v, %v", path, info, err)
			}
		}
		for _, path := range []string{"deep/a.tar/c", "deep/a.tar/3.jpg", "deep/b.tar/1.jpg", "plain.jpg/1.jpg",
			"deep/a.tar/../../plain.jpg", "nowhere/a.jpg"} {
			if data, err := fs.ReadFile(fsys, path); err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %q, %v", path, data, err)
			}
		}
		if info, err := fs.Stat(fsys, "deep/a.tar"); err != nil || info.IsDir() {
			t.Errorf("the shard itself: %v, %v", info, err)
		}
		if _, err := fs.ReadFile(fsys, "deep/a.tar/3.jpg"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("what is not there: %v", err)
		}
	}
	fsys := FS(regular.Dir(dir))
	if _, err := fs.ReadFile(fsys, "deep/a.tar/1.jpg"); err != nil {
		t.Fatal(err)
	}
	tarOf(t, shard, "0.jpg", "zero", "1.jpg", "new")
	if err := os.Chtimes(shard, time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if data, err := fs.ReadFile(fsys, "deep/a.tar/1.jpg"); err != nil || string(data) != "new" {
		t.Errorf("after a change: %q, %v", data, err)
	}
}

func TestSplit(t *testing.T) {
	known := func(word string) bool { return word == "train" || word == "val" }
	for name, want := range map[string]string{"train-00000-of-00004.parquet": "train", "x/imagenet_VAL_01.tar": "val",
		"val/0000.tar": "val", "val/train.tar": "train", "trained.tar": "", "a/b.tar": ""} {
		if found := Split(name, known); found != want {
			t.Errorf("%s: %q, expected %q", name, found, want)
		}
	}
}
