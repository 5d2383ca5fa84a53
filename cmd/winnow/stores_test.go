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

	"github.com/google/go-cmp/cmp"

	"winnow/features"
	"winnow/internal/testing/orttest"
	"winnow/internal/testing/s3test"
	"winnow/internal/testing/tarfile"
)

// TestObjectStore: manifest and images in a bucket, as files, in a .zip file and in shards, make the same store as
// those of this machine, to the byte and under the same key; other commands look at them there, too. Without the
// server a command says so in a line and keeps no image for unreadable, and nothing is written there.
func TestObjectStore(t *testing.T) {
	a := newAlbum(t, 13)
	if out, errs, code := a.extract(t, t.Context()); code != 0 {
		t.Fatalf("%s%s", out, errs)
	}
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
		out, errs, code := there.extract(t, t.Context())
		if code != 0 {
			t.Fatalf("%s: %s%s", root, out, errs)
		}
		if found := store(there.out); found != want {
			t.Errorf("%s: a store of %s, expected %s", root, found, want)
		}
		there.out = a.out // what was made of this machine's images serves
		if out, errs, code := there.extract(t, t.Context()); code != 0 || !strings.Contains(out,
			"it was complete: nothing to do") {
			t.Errorf("%s: %s%s", root, out, errs)
		}
	}

	// shards, by a pattern, by wildcards, and by a manifest of their paths
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
	here.manifest, here.root, here.out = filepath.Join(shards, "s-{0..2}.tar"), shards, filepath.Join(t.TempDir(),
		"store")
	if out, errs, code := here.extract(t, t.Context()); code != 0 {
		t.Fatalf("%s%s", out, errs)
	}
	for _, pattern := range []string{"s3://birds/tars/s-{0..2}.tar", "s3://birds/tars/s-*.tar", "s3://birds/tars"} {
		there := here
		there.manifest, there.root, there.out = pattern, "s3://birds/tars", filepath.Join(t.TempDir(), "store")
		if out, errs, code := there.extract(t, t.Context()); code != 0 {
			t.Fatalf("%s: %s%s", pattern, out, errs)
		}
		if found, want := store(there.out), store(here.out); found != want {
			t.Errorf("%s: a store of %s, expected %s", pattern, found, want)
		}
	}

	// other commands
	t.Chdir(t.TempDir())
	library := orttest.Runtime(t).Library()
	for _, c := range []struct{ line, want string }{
		{"data check s3://birds/list.csv --root s3://birds/photos", "unreadable"},
		{"data import s3://birds/tars/s-{0..2}.tar --out tars.csv", "train"},
		{"embed s3://birds/photos/c0/000.jpg s3://birds/photos.zip --model glyphnet --out e.npy", ""},
		{"audit --manifest s3://birds/list.csv --features " + a.out + " --scorer knn --out suspects.csv", ""},
	} {
		args := append([]string{"--ort-lib", library}, strings.Fields(c.line)...)
		if out, errs, code := winnow(t, args...); code != 0 || !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: exit code %d: %s%s", c.line, code, out, errs)
		}
	}
	if _, errs, code := winnow(t, "extract", "--manifest", "s3://birds/list.csv", "--model", a.model, "--out",
		"s3://birds/store"); code != 2 || !strings.Contains(errs, "--out: found s3://birds/store, expected a path on "+
		"this machine") {
		t.Errorf("an --out in a bucket: exit code %d: %s", code, errs)
	}

	// what goes wrong
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
		_, errs, code := there.extract(t, t.Context(), "--workers", "1")
		if code != 1 || !strings.Contains(errs, "access denied (ExpiredCredentials)") ||
			strings.Count(errs, "access denied") != 1 {
			t.Errorf("refused after %d images: exit code %d: %s", times, code, errs)
		}
	}
	s.Set(nil)
	if out, errs, code := there.extract(t, t.Context()); code != 0 || store(there.out) != want {
		t.Errorf("after the refusal: %s%s", out, errs)
	}
	for address, want := range map[string]string{
		"s3://birds/none.csv":           "file does not exist",
		"s3://nowhere/list.csv":         "found no such bucket at",
		"s3://birds/tars/s-{0..3}.tar":  "1 of 4 files are not there, the first s3://birds/tars/s-3.tar",
		"s3://birds/list.csv?color=red": `found the option "color"`,
	} {
		if _, errs, code := winnow(t, "data", "check", address); code != 1 || !strings.Contains(errs, want) ||
			strings.Count(strings.TrimSpace(errs), "\n") > 0 {
			t.Errorf("%s: exit code %d: %s", address, code, errs)
		}
	}
}

// TestPartsInObjectStore: machines that share nothing but a bucket put their parts there, and the join makes the
// store of one machine of them, there and here, to the byte. A part of which the last file is not there is not there:
// the same command puts it, and computes nothing again.
func TestPartsInObjectStore(t *testing.T) {
	a := newAlbum(t, 23)
	if _, errs, code := a.extract(t, t.Context()); code != 0 {
		t.Fatal(errs)
	}
	want := a.files(t)
	s := s3test.Serve(t, nil)
	s.PutFolder(t, "photos/", a.root)
	s.Put(t, "list.csv", []byte(readFile(t, a.manifest)))
	here := a.out
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch)
	server := "?endpoint=" + s.URL // of this test, while others may have been asked before
	a.manifest, a.root, a.out = "s3://birds/list.csv"+server, "s3://birds/photos"+server, "s3://birds/runs/features"+
		server
	part := func(shard string, code int, told string, more ...string) {
		t.Helper()
		if out, errs, got := a.extract(t, t.Context(), append(more, "--shard", shard)...); got != code ||
			!strings.Contains(out+errs, told) {
			t.Errorf("shard %s: exit code %d: %s%s, expected %d and %q", shard, got, out, errs, code, told)
		}
	}
	winnow := func(code int, told string, args ...string) {
		t.Helper()
		if got, out, errs := call(t.Context(), args...); got != code || !strings.Contains(out+errs, told) {
			t.Errorf("%q: exit code %d: %s%s, expected %d and %q", args, got, out, errs, code, told)
		}
	}
	puts := func(in string) (list []string) {
		for _, request := range s.Asked() {
			if strings.HasPrefix(request, "PUT "+in) {
				list = append(list, strings.TrimPrefix(request, "PUT "+in))
			}
		}
		return list
	}
	left := func(count int) {
		t.Helper()
		if list, err := os.ReadDir(scratch); err != nil || len(list) != count {
			t.Errorf("%d temporary files are left, %v, expected %d: %v", len(list), err, count, list)
		}
	}

	part("1/3", 0, "s3://birds/runs/features.parts/1-of-3"+server)
	if list := puts("runs/features.parts/1-of-3/"); len(list) != 4 || list[3] != "part.json" {
		t.Errorf("put %q, expected part.json last", list)
	}
	left(0)
	part("3/3", 0, "")
	stopped := func(w http.ResponseWriter, r *http.Request) bool { // as if the machine had stopped before the last file
		if r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, "part.json") {
			return false
		}
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "<Error><Code>AccessDenied</Code></Error>")
		return true
	}
	s.Set(stopped)
	part("2/3", 1, "part.json: access denied (AccessDenied) with those of AWS_ACCESS_KEY_ID: expected credentials "+
		"that may write to the bucket")
	left(1)
	s.Set(nil)
	winnow(1, "2 of 3 parts of winnow extract are there", "cluster", "status", a.out)
	winnow(1, "  2  begun", "cluster", "status", a.out)
	winnow(1, "1 of 3 parts cannot be joined: begun: 2", "join", a.out)
	// no image is asked for
	s.Set(func(_ http.ResponseWriter, r *http.Request) bool { return strings.Contains(r.URL.Path, "photos/c") })
	part("2/3", 0, "")
	left(0)
	s.Set(nil)
	part("2/3", 0, "nothing to do")
	if list := puts(""); list != nil {
		t.Errorf("of a part that was there %q were put", list)
	}
	part("2/3", 1, "holds parts of another job", "--batch", "2")
	s.Put(t, "runs/features.parts/2-of-3/features.npy", []byte("cut"))
	winnow(1, "  2  torn  has a features.npy of 3 bytes", "cluster", "status", a.out)
	part("2/3", 0, "")
	s.Set(stopped)
	part("2/3", 1, "access denied", "--overwrite") // what was there is not whole any more, though all its files are
	s.Set(nil)
	winnow(1, "  2  begun", "cluster", "status", a.out)
	part("2/3", 0, "", "--overwrite")
	winnow(0, "3 of 3 parts", "cluster", "status", "--verify", "s3://birds/runs/features.parts/"+server)

	s.Set(nil)
	winnow(0, "23 images × 7 values from 3 shards", "join", a.out)
	if list := puts("runs/features/"); len(list) != 3 || list[2] != "store.json" {
		t.Errorf("put %q, expected store.json last", list)
	}
	winnow(0, "it was complete: nothing to do", "join", a.out)
	winnow(0, "joined", "cluster", "status", a.out)
	winnow(0, "23 images", "join", a.out, "--out", here+"-joined")
	winnow(2, "expected some in an object store", "join", joinable(t), "--out", here+"-other")
	left(0)
	files := s.Files(t, "runs/features/")
	for name, data := range want {
		if files[name] != data {
			t.Errorf("%s in the bucket differs", name)
		}
	}
	a.out = here + "-joined"
	if diff := cmp.Diff(want, a.files(t)); diff != "" {
		t.Errorf("joined here (-one +parts):\n%s", diff)
	}
	a.out = "s3://birds/runs/other"
	if _, errs, code := a.extract(t, t.Context()); code != 2 || !strings.Contains(errs,
		"with --shard (1/1: all in one part)") {
		t.Errorf("without --shard: exit code %d: %s", code, errs)
	}
}

// joinable returns an output on this machine that one part is of.
func joinable(t *testing.T) string {
	t.Helper()
	b := newAlbum(t, 5)
	if _, errs, code := b.extract(t, t.Context(), "--shard", "1/1"); code != 0 {
		t.Fatal(errs)
	}
	return b.out
}
