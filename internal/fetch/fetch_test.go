package fetch_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"winnow/internal/fetch"
	"winnow/internal/lock"
)

// content is a file of 200,000 bytes that compresses to nothing smaller.
func content(seed uint64) []byte {
	data := make([]byte, 200_000)
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	return data
}

func known(data []byte) fetch.File {
	sum := sha256.Sum256(data)
	return fetch.File{int64(len(data)), hex.EncodeToString(sum[:])}
}

// server is one whose answers are written by hand; it counts what it was asked for.
type server struct {
	*httptest.Server
	asked []string // ranges
}

func serve(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, nth int)) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked = append(s.asked, r.Header.Get("Range"))
		answer(w, r, len(s.asked))
	}))
	t.Cleanup(s.Close)
	return s
}

// whole serves data as a good server does.
func whole(data []byte) func(http.ResponseWriter, *http.Request, int) {
	return func(w http.ResponseWriter, r *http.Request, _ int) {
		w.Header().Set("ETag", `"v1"`)
		http.ServeContent(w, r, "m.onnx", time.Time{}, bytes.NewReader(data))
	}
}

// cut sends the head of a whole answer and ends the connection.
func cut(w http.ResponseWriter, data []byte) {
	w.Header().Set("ETag", `"v1"`)
	w.Header().Set("Content-Length", fmt.Sprint(len(data)))
	w.Write(data[:len(data)/2])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func expectFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%s: %d bytes, %v; expected the %d sent", path, len(got), err, len(data))
	}
	if _, err := os.Stat(path + ".part"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of the part is still there: %v", err)
	}
}

func TestFetch(t *testing.T) {
	data := content(1)
	half := data[:len(data)/2]
	for name, c := range map[string]struct {
		part   []byte // of an earlier transfer
		answer func(http.ResponseWriter, *http.Request, int)
		asked  string // ranges
	}{
		"whole":           {nil, whole(data), `[""]`},
		"goes on":         {half, whole(data), `["bytes=100000-"]`},
		"all here":        {data, whole(data), `[]`},
		"of another file": {bytes.Repeat([]byte("x"), 50), whole(data), `["bytes=50-" ""]`},
		"redirect": {half, func(w http.ResponseWriter, r *http.Request, nth int) {
			if r.URL.Path != "/elsewhere" {
				http.Redirect(w, r, "/elsewhere", http.StatusFound)
				return
			}
			whole(data)(w, r, nth)
		}, `["bytes=100000-" "bytes=100000-"]`},
		"range refused": {half, func(w http.ResponseWriter, r *http.Request, _ int) { w.Write(data) },
			`["bytes=100000-"]`},
		"range not satisfiable": {half, func(w http.ResponseWriter, r *http.Request, nth int) {
			if nth == 1 {
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return
			}
			w.Write(data)
		}, `["bytes=100000-" ""]`},
		"cut": {nil, func(w http.ResponseWriter, r *http.Request, nth int) {
			if nth == 1 {
				cut(w, data)
			}
			whole(data)(w, r, nth)
		}, `["" "bytes=100000-"]`},
		"busy": {nil, func(w http.ResponseWriter, r *http.Request, nth int) {
			if nth < 3 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			whole(data)(w, r, nth)
		}, `["" "" ""]`},
		"silent": {half, func(w http.ResponseWriter, r *http.Request, nth int) {
			if nth == 1 {
				<-r.Context().Done()
				return
			}
			whole(data)(w, r, nth)
		}, `["bytes=100000-" "bytes=100000-"]`},
		"slow": {nil, func(w http.ResponseWriter, r *http.Request, _ int) {
			for i := range 12 { // longer than a stall in all
				w.Write(data[i*len(data)/12 : (i+1)*len(data)/12])
				w.(http.Flusher).Flush()
				time.Sleep(100 * time.Millisecond)
			}
		}, `[""]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.answer)
			path := filepath.Join(t.TempDir(), "m.onnx")
			put(t, path, c.part)
			last := int64(-1)
			err := known(data).To(t.Context(), path, fetch.Options{
				Places: []string{s.URL + "/m.onnx"}, Wait: time.Millisecond, Stall: time.Second,
				Progress: func(done, total, _ int64) { last = done },
			})
			if err != nil {
				t.Fatal(err)
			}
			expectFile(t, path, data)
			if got := fmt.Sprintf("%q", s.asked); got != c.asked {
				t.Errorf("asked for the ranges %s, expected %s", got, c.asked)
			}
			if len(s.asked) > 0 && last != int64(len(data)) {
				t.Errorf("the last progress was %d, expected %d", last, len(data))
			}
		})
	}
}

// put leaves the part of an earlier transfer.
func put(t *testing.T, path string, part []byte) {
	t.Helper()
	if part == nil {
		return
	}
	if err := os.MkdirAll(path+".part", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path+".part", "file"), part, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Anything but the file is recognised and never kept, and the next place is asked.
func TestOtherThings(t *testing.T) {
	data, other := content(1), content(2)
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request, int)
		want   string
	}{
		"wrong bytes": {whole(other), "with sha256 " + known(other).SHA256 + ", expected 200000 with " +
			known(data).SHA256 + ": it is another version, or damaged"},
		"without end": {func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.(http.Flusher).Flush()
			w.Write(data)
			w.Write(other)
		}, "found more than 200000 bytes"},
		"missing": {func(w http.ResponseWriter, r *http.Request, _ int) { http.NotFound(w, r) },
			"answered 404 Not Found"},
		"forbidden": {func(w http.ResponseWriter, _ *http.Request,
			_ int) {
			w.WriteHeader(http.StatusForbidden)
		}, "answered 403 Forbidden"},
		"always cut": {func(w http.ResponseWriter, _ *http.Request, _ int) { panic(http.ErrAbortHandler) }, "EOF"},
		"round and round": {func(w http.ResponseWriter, r *http.Request,
			_ int) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, "stopped after 10 redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad, good := serve(t, c.answer), serve(t, whole(data))
			path := filepath.Join(t.TempDir(), "m.onnx")
			o := fetch.Options{Places: []string{bad.URL + "/m.onnx"}, Wait: time.Millisecond}
			err := known(data).To(t.Context(), path, o)
			if _, ok := errors.AsType[*fetch.Unavailable](err); !ok || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v, expected that no place has it: %s", err, c.want)
			}
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("something stands under the file's name: %v", err)
			}
			var notes []string
			o.Places = append(o.Places, good.URL)
			o.Note = func(s string) { notes = append(notes, s) }
			if err := known(data).To(t.Context(), path, o); err != nil {
				t.Fatal(err)
			}
			expectFile(t, path, data)
			if !strings.Contains(strings.Join(notes, "\n"), "trying the next place") {
				t.Errorf("notes %q, expected that the next place is tried", notes)
			}
		})
	}
}

// An interrupted download is kept, and only one call at a time writes it.
func TestInterrupted(t *testing.T) {
	data := content(1)
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(w http.ResponseWriter, r *http.Request, nth int) {
		if nth > 1 {
			whole(data)(w, r, nth)
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		w.Write(data[:len(data)/2])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	path := filepath.Join(t.TempDir(), "m.onnx")
	o := fetch.Options{Places: []string{s.URL}, Progress: func(done, _, _ int64) {
		if done == int64(len(data)/2) {
			if err := known(data).To(t.Context(), path, fetch.Options{Places: []string{s.URL}}); !errors.As(err,
				new(*lock.Held)) {
				t.Errorf("a second call found %v, expected that the first holds the part", err)
			}
			cancel()
		}
	}}
	if err := known(data).To(ctx, path, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("found %v, expected the end of the context", err)
	}
	earlier := int64(0)
	o.Progress = func(_, _, before int64) { earlier = before }
	if err := known(data).To(t.Context(), path, o); err != nil {
		t.Fatal(err)
	}
	expectFile(t, path, data)
	if earlier != int64(len(data)/2) || s.asked[1] != "bytes=100000-" {
		t.Errorf("went on from %d with %q, expected %d", earlier, s.asked, len(data)/2)
	}
}

func TestFromFile(t *testing.T) {
	data := content(1)
	dir := t.TempDir()
	good, short, path := filepath.Join(dir, "good"), filepath.Join(dir, "short"), filepath.Join(dir, "m.onnx")
	for name, content := range map[string][]byte{good: data, short: data[1:]} {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, place := range []string{short, filepath.Join(dir, "none"), dir} {
		if err := known(data).To(t.Context(), path, fetch.Options{Places: []string{place}}); err == nil {
			t.Errorf("%s: fetched", place)
		}
	}
	if err := known(data).To(t.Context(), path, fetch.Options{Places: []string{good}}); err != nil {
		t.Fatal(err)
	}
	expectFile(t, path, data)
}
