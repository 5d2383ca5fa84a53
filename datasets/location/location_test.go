package location_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/datasets/bucket"
	"winnow/datasets/location"
	"winnow/internal/testing/s3test"
)

func TestParse(t *testing.T) {
	for name, want := range map[string]string{
		"s3://b": "s3 b   ", "s3://b/": "s3 b   ", "gs://b/a/c.csv": "gs b a/c.csv  ", "s3://b//a/../c/": "s3 b c  ",
		"s3://b/k?region=eu-west-1": "s3 b k eu-west-1 ", "s3://b/a-0?.tar": "s3 b a-0?.tar  ",
		"s3://b/a-0?.tar?anonymous=true": "s3 b a-0?.tar  true",
		"s3:///k":                        "s3:///k: found no bucket", "s3://id:key@b/k": "expected a bare name",
		"s3://b/k?colour=red": `found the option "colour", expected one of anonymous`,
		"http://b/k":          "found the scheme http, expected a path, file://, s3:// or gs://",
	} {
		s, err := location.Parse(name)
		found := strings.Join([]string{s.Scheme(), s.Bucket(), s.Key(), s.Option(location.Region),
			s.Option(location.Anonymous)}, " ")
		if err != nil {
			found = err.Error()
			if _, opened := location.At(name).Open(t.Context()); opened == nil || opened.Error() != found {
				t.Errorf("%s: %v, expected %s", name, opened, found)
			}
		}
		if found != want && (err == nil || !strings.Contains(found, want)) {
			t.Errorf("%s: %q, expected %q", name, found, want)
		}
	}
}

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
		s := location.At(name)
		parent := s.Parent()
		found := strings.Join([]string{parent.String(), s.Base(), parent.Join("c.jpg").String(), s.Clean().String()},
			" ")
		if found != want {
			t.Errorf("%s: found %q, expected %q", name, found, want)
		}
		if rel, err := parent.Rel(parent.Join("x/y.jpg")); rel != "x/y.jpg" || err != nil {
			t.Errorf("%s: %q, %v", name, rel, err)
		}
	}
	if s, err := location.At("s3://b/a").Absolute(); s.String() != "s3://b/a" || err != nil {
		t.Errorf("%q, %v", s, err)
	}
}

// TestOpen checks that a file is the same by path, by file:// address, and in a bucket.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("bytes"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := s3test.Serve(t, nil)
	location.Use(bucket.Open)
	s.PutFolder(t, "deep/", dir)
	ctx := t.Context()
	for _, given := range []string{dir, "file://" + dir, "s3://birds/deep", "s3://birds/deep?endpoint=" + s.URL} {
		at := location.At(given)
		name := at.Join("a.txt")
		f, err := name.Open(ctx)
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
		if info, err := at.Stat(ctx); err != nil || !info.IsDir() {
			t.Errorf("%s: %v, %v", at, info, err)
		}
		folder, err := at.Dir(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := fs.ReadFile(folder, "a.txt"); err != nil || string(data) != "bytes" {
			t.Errorf("%s: %q, %v", at, data, err)
		}
		if _, err := at.Open(ctx); err == nil ||
			!strings.Contains(err.Error(), "is a folder, expected a file") {
			t.Errorf("%s: %v", at, err)
		}
		if _, err := at.Join("none").Open(ctx); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", at, err)
		}
	}
}
