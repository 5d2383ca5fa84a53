package bucket

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"winnow/internal/regular"
	"winnow/internal/testing/s3test"
)

// Put stores small objects and objects sent in parts, over existing ones, and Remove removes them; the cached
// metadata follows.
func TestPut(t *testing.T) {
	s := s3test.Serve(t, nil)
	tree := treeOf(t, "s3://birds/runs", quick(s.Env()))
	large := noise(2*partSize + 5)
	put := func(name string, data []byte) {
		t.Helper()
		if err := tree.Put(name, bytes.NewReader(data), int64(len(data))); err != nil {
			t.Fatal(err)
		}
		if found, err := fs.ReadFile(tree, name); err != nil || !bytes.Equal(found, data) {
			t.Errorf("%s: found %d bytes, %v, expected %d", name, len(found), err, len(data))
		}
		if info, err := tree.Stat(name); err != nil || info.Size() != int64(len(data)) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	put("a/one", []byte("x"))
	put("a/one", large)
	s.Set(nil)
	put("a/one", large[:1000])
	if asked := s.Asked(); asked[0] != "PUT runs/a/one" {
		t.Errorf("asked for %q", asked)
	}
	var n atomic.Int32
	s.Set(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || n.Add(1) > 2 {
			return false
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	put("a/two", large) // a server that is busy twice
	for range 2 {
		if err := tree.Remove("a/one"); err != nil {
			t.Error(err)
		}
	}
	if _, err := tree.Stat("a/one"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// An object that cannot be sent completely does not appear, and the old one stays; the errors say what would help.
func TestPutFails(t *testing.T) {
	s := s3test.Serve(t, map[string][]byte{"old": []byte("as it was")})
	large := noise(2*partSize + 5)
	status := func(code int, body string) s3test.Spoil {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPut || strings.Contains(r.URL.RawQuery, "partNumber=1") {
				return false
			}
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
			return true
		}
	}
	closing := make(chan struct{})
	defer close(closing)
	for what, c := range map[string]struct {
		spoil s3test.Spoil
		want  string
	}{
		"denied": {status(403, "<Error><Code>AccessDenied</Code></Error>"),
			"s3://birds/old: access denied (AccessDenied) with those of AWS_ACCESS_KEY_ID: expected credentials " +
				"that may write to the bucket"},
		"busy": {status(503, ""), "answered 503"},
		"silent": {func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPut {
				<-closing
			}
			return r.Method == http.MethodPut
		}, "silent for"},
	} {
		with := quick(s.Env())
		if what == "silent" {
			with.patience = 200 * time.Millisecond
		}
		for _, size := range []int{100, len(large)} {
			tree := treeOf(t, "s3://birds", with)
			s.Set(c.spoil)
			err := tree.Put("old", bytes.NewReader(large[:size]), int64(size))
			if _, outage := errors.AsType[*regular.Outage](err); !outage || !strings.Contains(err.Error(), c.want) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("%s, %d bytes: %v, expected %q", what, size, err, c.want)
			}
			s.Set(nil)
			if found, err := fs.ReadFile(tree, "old"); err != nil || string(found) != "as it was" {
				t.Errorf("%s, %d bytes: then found %.20q, %v", what, size, found, err)
			}
		}
	}
}
