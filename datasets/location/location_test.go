package location_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/bucket"
	"winnow/datasets/location"
	"winnow/internal/testing/s3test"
)

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"a/b.csv":              "a b.csv a/c.jpg a/b.csv",
		"/a/b.csv":             "/a b.csv /a/c.jpg /a/b.csv",
		"file:///a/b%20c.csv":  "/a b c.csv /a/c.jpg /a/b c.csv",
		"file://localhost/a/b": "/a b /a/c.jpg /a/b",
		"s3://b/a//x.tar":      "s3://b/a x.tar s3://b/a/c.jpg s3://b/a/x.tar",
		"s3://b/a.zip?region=eu&profile=x": "s3://b?region=eu&profile=x a.zip s3://b/c.jpg?region=eu&profile=x " +
			"s3://b/a.zip?region=eu&profile=x",
		"gs://b": "gs://b b gs://b/c.jpg gs://b",
	} {
		parent := location.Parent(name)
		found := strings.Join([]string{parent, location.Base(name), location.Join(parent, "c.jpg"),
			location.Clean(name)}, " ")
		if found != want {
			t.Errorf("%s: found %q, expected %q", name, found, want)
		}
		if rel, err := location.Rel(parent, location.Join(parent, "x/y.jpg")); rel != "x/y.jpg" || err != nil {
			t.Errorf("%s: %q, %v", name, rel, err)
		}
	}
	if name, err := location.Absolute("s3://b/a"); name != "s3://b/a" || err != nil {
		t.Errorf("%q, %v", name, err)
	}
}

// TestOpen: a file is the same by path, by file:// address, and in a bucket.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("bytes"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := s3test.Serve(t, nil)
	location.Use(bucket.Open)
	s.PutFolder(t, "deep/", dir)
	ctx := t.Context()
	for _, at := range []string{dir, "file://" + dir, "s3://birds/deep", "s3://birds/deep?endpoint=" + s.URL} {
		name := location.Join(at, "a.txt")
		f, err := location.Open(ctx, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		some := make([]byte, 3)
		if _, err := f.ReadAt(some, 1); err != nil || string(some) != "yte" {
			t.Errorf("%s: %q, %v", name, some, err)
		}
		if data, err := io.ReadAll(f); err != nil || string(data) != "bytes" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
		f.Close()
		if info, err := location.Stat(ctx, at); err != nil || !info.IsDir() {
			t.Errorf("%s: %v, %v", at, info, err)
		}
		folder, err := location.Dir(ctx, at)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := fs.ReadFile(folder, "a.txt"); err != nil || string(data) != "bytes" {
			t.Errorf("%s: %q, %v", at, data, err)
		}
		if _, err := location.Open(ctx, at); err == nil ||
			!strings.Contains(err.Error(), "is a folder, expected a file") {
			t.Errorf("%s: %v", at, err)
		}
		if _, err := location.Open(ctx, location.Join(at, "none")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", at, err)
		}
	}
}
