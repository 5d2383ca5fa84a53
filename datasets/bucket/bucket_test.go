package bucket

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"winnow/datasets/location"
	"winnow/internal/regular"
	"winnow/internal/testing/s3test"
)

// openTree opens the tree at an address.
func openTree(t *testing.T, ctx context.Context, address string) *Tree {
	t.Helper()
	tree, err := Open(ctx, location.At(address))
	if err != nil {
		t.Fatal(err)
	}
	return tree.(*Tree)
}

// noise returns pseudo-random bytes.
func noise(n int) []byte {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data) // never fails
	return data
}

// The objects below an s3:// or gs:// address form a file tree.
func TestTree(t *testing.T) {
	large := noise(5*leastChunk + 17)
	s := s3test.Serve(t, map[string][]byte{"photos/a/1.jpg": []byte("one"), "photos/a/2.jpg": []byte("two"),
		"photos/b.csv": large, "photos/empty": nil, "photos/a/": nil, "other": []byte("x")})
	server := "endpoint=" + s.URL
	for _, address := range []string{"s3://birds/photos?" + server, "s3://birds/photos/?path_style=true&" + server,
		"gs://birds/photos?" + server} {
		tree := openTree(t, t.Context(), address)
		var walked, names []string
		if err := fs.WalkDir(tree, ".", func(name string, _ fs.DirEntry, err error) error {
			walked = append(walked, name)
			return err
		}); err != nil || strings.Join(walked, " ") != ". a a/1.jpg a/2.jpg b.csv empty" {
			t.Errorf("%s: walked %q, %v", address, walked, err)
		}
		for name, err := range tree.Names("") {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		if found := strings.Join(names, " "); found != "a/1.jpg a/2.jpg b.csv empty" {
			t.Errorf("%s: names %s", address, found)
		}
		for name, want := range map[string][]byte{"a/1.jpg": []byte("one"), "b.csv": large, "empty": {}} {
			if data, err := fs.ReadFile(tree, name); err != nil || !bytes.Equal(data, want) {
				t.Errorf("%s: %s: %d bytes, %v", address, name, len(data), err)
			}
		}
		if _, err := fs.ReadFile(tree, "a/none"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", address, err)
		}
		f, err := tree.Open("b.csv")
		if err != nil {
			t.Fatal(err)
		}
		for _, from := range []int{5 * leastChunk, 3, leastChunk - 1, 0, 2 * leastChunk} {
			p := make([]byte, 17)
			if _, err := f.(io.ReaderAt).ReadAt(p, int64(from)); err != nil || !bytes.Equal(p, large[from:from+17]) {
				t.Errorf("from %d: %v", from, err)
			}
		}
		if n, err := f.(io.ReaderAt).ReadAt(make([]byte, 20), int64(len(large)-10)); n != 10 || err != io.EOF {
			t.Errorf("over the end: %d, %v", n, err)
		}
	}
}

// A broken response is requested again. A refused request is an outage, reported in one line that names the object. A
// missing or changed object is an error for that object only. Waiting ends with the context.
func TestBroken(t *testing.T) {
	data := noise(1000)
	s := s3test.Serve(t, map[string][]byte{"big": data})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	open := func() fs.File {
		s.Set(nil)
		f, err := openTree(t, ctx, "s3://birds?endpoint="+s.URL).Open("big")
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	var n atomic.Int32
	f := open()
	s.Set(func(w http.ResponseWriter, _ *http.Request) bool {
		if n.Add(1) == 1 {
			w.Header().Set("Content-Length", "1000")
			w.Header().Set("Last-Modified", "Sat, 21 Nov 2026 10:00:00 GMT")
			_, _ = w.Write(data[:500]) // then the response breaks off
		}
		return n.Load() == 1
	})
	if found, err := io.ReadAll(f); err != nil || !bytes.Equal(found, data) {
		t.Errorf("an answer that breaks once: %d bytes, %v", len(found), err)
	}
	for _, c := range []struct {
		code       int
		body, want string
		file       bool // whether the error is about this file only
	}{
		{403, "<Error><Code>ExpiredToken</Code><Message>old</Message></Error>", "s3://birds/big: old (ExpiredToken)", false},
		{404, "<Error><Code>NoSuchKey</Code></Error>", "s3://birds/big: file does not exist", true},
		{404, "<Error><Code>NoSuchBucket</Code></Error>", "NoSuchBucket", false},
		{412, "<Error><Code>PreconditionFailed</Code></Error>", "s3://birds/big: the object changed while it was " +
			"read", true},
	} {
		f := open()
		s.Set(func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(c.code)
			_, _ = io.WriteString(w, c.body)
			return true
		})
		_, err := io.ReadAll(f)
		if _, outage := errors.AsType[*regular.Outage](err); err == nil || outage == c.file ||
			!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d %s: %v, expected …%s…", c.code, c.body, err, c.want)
		}
	}
	f = open()
	s.Set(func(_ http.ResponseWriter, r *http.Request) bool {
		stop()
		<-r.Context().Done()
		return true
	})
	if _, err := io.ReadAll(f); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context's end: %v", err)
	}
}
