package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/features"
	"winnow/internal/testing/orttest"
	"winnow/internal/testing/s3test"
	"winnow/internal/testing/tarfile"
)

// TestObjectStore reads manifest and images from a bucket: files, a .zip file and shards. The feature store must equal
// the store made from local files, and other commands must also read the bucket. If the server refuses requests, a
// command must print one line and record no image as unreadable. No command may write to the bucket.
func TestObjectStore(t *testing.T) {
	a := newAlbum(t, 13)
	a.mustExtract(t)
	s := s3test.Serve(t, nil)
	s.PutFolder(t, "photos/", a.root)
	list, err := os.ReadFile(a.manifest)
	if err != nil {
		t.Fatal(err)
	}
	s.Put(t, "list.csv", list)
	var zipped bytes.Buffer
	to := zip.NewWriter(&zipped)
	if err := to.AddFS(os.DirFS(a.root)); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	s.Put(t, "photos.zip", zipped.Bytes())

	store := func(dir string) string {
		t.Helper()
		found, err := features.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s %+v", found.Sum, found.Key)
	}
	want := store(a.out)
	for _, root := range []string{"s3://birds/photos", "s3://birds/photos.zip", "s3://birds/photos/?endpoint=" + s.URL,
		"file://" + a.root} {
		there := a
		there.manifest, there.root, there.out = "s3://birds/list.csv", root, filepath.Join(t.TempDir(), "store")
		code, out, errs := there.extract(t, t.Context())
		if code != 0 {
			t.Fatalf("%s: %s%s", root, out, errs)
		}
		if found := store(there.out); found != want {
			t.Errorf("%s: a store of %s, expected %s", root, found, want)
		}
		there.out = a.out // the store of the local images is reused
		if code, out, errs := there.extract(t, t.Context()); code != 0 || !strings.Contains(out,
			"the store was complete: nothing to do") {
			t.Errorf("%s: %s%s", root, out, errs)
		}
	}

	// Shards given by a pattern, by wildcards, and by a manifest of their paths.
	shards := t.TempDir()
	for i := range 3 {
		var files []string
		for k := range 4 {
			image := fmt.Sprintf("c%d/%03d.jpg", k%2, 6+k)
			data, err := os.ReadFile(filepath.Join(a.root, image))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, fmt.Sprintf("%d%d.jpg", i, k), string(data), fmt.Sprintf("%d%d.cls", i, k),
				fmt.Sprint(k%2))
		}
		if err := os.WriteFile(filepath.Join(shards, fmt.Sprintf("s-%d.tar", i)), tarfile.Of(t, files...),
			0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.PutFolder(t, "tars/", shards)
	here := a
	here.manifest, here.root, here.out = filepath.Join(shards, "s-*.tar"), shards, filepath.Join(t.TempDir(),
		"store")
	here.mustExtract(t)
	for _, pattern := range []string{"s3://birds/tars/s-[0-2].tar", "s3://birds/tars/s-*.tar", "s3://birds/tars"} {
		there := here
		there.manifest, there.root, there.out = pattern, "s3://birds/tars", filepath.Join(t.TempDir(), "store")
		there.mustExtract(t)
		if found, want := store(there.out), store(here.out); found != want {
			t.Errorf("%s: a store of %s, expected %s", pattern, found, want)
		}
	}

	// Other commands.
	t.Chdir(t.TempDir())
	library := orttest.Runtime(t).Library()
	for _, c := range []struct{ line, want string }{
		{"data check s3://birds/list.csv --root s3://birds/photos", "unreadable"},
		{"data import s3://birds/tars/s-*.tar --out tars.csv", "train"},
		{"embed s3://birds/photos/c0/000.jpg s3://birds/photos.zip --model glyphnet --out e.npy", ""},
		{"audit --manifest s3://birds/list.csv --features " + a.out + " --scorer knn --out suspects.csv", ""},
	} {
		args := append([]string{"--ort-lib", library}, strings.Fields(c.line)...)
		if code, out, errs := call(t.Context(), args...); code != 0 || !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: exit code %d: %s%s", c.line, code, out, errs)
		}
	}
	fails(t, 2, "--out: found s3://birds/store, expected a path on this machine", "extract", "--manifest",
		"s3://birds/list.csv", "--model", a.model, "--out", "s3://birds/store")

	// Failures of the server.
	refusing := func(times int) s3test.Spoil {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, "/c") {
				return false
			}
			if times--; times >= 0 {
				return false
			}
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<Error><Code>ExpiredCredentials</Code></Error>")
			return true
		}
	}
	there := a
	there.manifest, there.root, there.out = "s3://birds/list.csv", "s3://birds/photos", filepath.Join(t.TempDir(),
		"store")
	for _, times := range []int{0, 7} {
		s.Set(refusing(times))
		code, _, errs := there.extract(t, t.Context(), "--workers", "1")
		if code != 1 || strings.Count(errs, "s3://birds/photos/c") != 1 {
			t.Errorf("refused after %d images: exit code %d: %s", times, code, errs)
		}
	}
	s.Set(nil)
	if code, out, errs := there.extract(t, t.Context()); code != 0 || store(there.out) != want {
		t.Errorf("after the refusal: %s%s", out, errs)
	}
	for address, want := range map[string]string{
		"s3://birds/none.csv":           "s3://birds/none.csv: file does not exist",
		"s3://nowhere/list.csv":         "NoSuchBucket",
		"s3://birds/tars/s-{0..3}.tar":  "expected a pattern with *",
		"s3://birds/list.csv?color=red": `found the option "color"`,
	} {
		if code, _, errs := call(t.Context(), "data", "check", address); code != 1 || !strings.Contains(errs, want) ||
			strings.Count(strings.TrimSpace(errs), "\n") > 0 {
			t.Errorf("%s: exit code %d: %s", address, code, errs)
		}
	}
}
