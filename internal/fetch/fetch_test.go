package fetch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestFile checks that a transfer resumes an earlier part, and that only the complete file is kept.
func TestFile(t *testing.T) {
	data := make([]byte, 200_000)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	sum := sha256.Sum256(data)
	whole := func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}
	for name, c := range map[string]struct {
		part   []byte // left by an earlier transfer
		answer http.HandlerFunc
		asked  string // requested ranges
		left   int    // bytes left in the part; -1: the file is complete
	}{
		"whole":           {nil, whole, `[""]`, -1},
		"resumed":         {data[:100_000], whole, `["bytes=100000-"]`, -1},
		"all here":        {data, whole, `[]`, -1},
		"of another file": {bytes.Repeat([]byte("x"), 50), whole, `["bytes=50-" ""]`, -1},
		"range refused": {data[:9], func(w http.ResponseWriter, _ *http.Request) { w.Write(data) },
			`["bytes=9-"]`, -1},
		"cut": {nil, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			w.Write(data[:100_000])
		}, `[""]`, 100_000},
		"busy": {data[:9], func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
			`["bytes=9-"]`, 9},
		"endless": {nil, func(w http.ResponseWriter, _ *http.Request) { w.Write(slices.Repeat(data, 2)) },
			`[""]`, 0},
		"other file": {nil, func(w http.ResponseWriter, _ *http.Request) { w.Write(data[1:]) }, `[""]`, len(data) - 1},
		"a page":     {nil, http.NotFound, `[""]`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			asked := []string{}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.Header.Get("Range"))
				c.answer(w, r)
			}))
			defer s.Close()
			path := filepath.Join(t.TempDir(), "m.onnx")
			if err := os.WriteFile(path+".part", c.part, 0o644); err != nil {
				t.Fatal(err)
			}
			file := Source{Name: "m.onnx", Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:]),
				Places: []string{s.URL}}
			err := File(t.Context(), file, path, nil, func(_, _, _ int64) {})
			if got := fmt.Sprintf("%q", asked); got != c.asked {
				t.Errorf("asked for the ranges %s, expected %s", got, c.asked)
			}
			if c.left < 0 {
				if got, rerr := os.ReadFile(path); err != nil || rerr != nil || !bytes.Equal(got, data) {
					t.Errorf("%v, %v", err, rerr)
				}
				return
			}
			part, _ := os.ReadFile(path + ".part")
			if _, there := os.Stat(path); there == nil || !errors.As(err, new(*Unavailable)) || len(part) != c.left {
				t.Errorf("%v, %d bytes are left", err, len(part))
			}
		})
	}
}
