package extraction_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/internal/hint"
	"winnow/internal/testing/reference"
	"winnow/models"
	"winnow/run/extraction"
)

// known is the name of a small backbone whose published file is in the folder of test assets.
const known = "squeezenet1.1"

func content(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(reference.Asset(t, "models/"+known+".onnx"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func open(t *testing.T, path string, folders ...string) *models.Registry {
	t.Helper()
	r, err := models.Open(path, folders...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestGet(t *testing.T) {
	data, asked := content(t), 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path != "/mirror/"+known+".onnx" {
			http.NotFound(w, r)
			return
		}
		w.Write(data)
	}))
	defer s.Close()
	path := filepath.Join(t.TempDir(), "deep", "models.json")
	file := filepath.Join(filepath.Dir(path), known+".onnx")
	shown := 0
	from := extraction.FetchOptions{
		From:     s.URL + "/mirror/",
		Progress: func(done, _, _ int) { shown = max(shown, done) },
	}
	expect := func(what string, there bool, requests int, begin string) {
		t.Helper()
		r := open(t, path)
		got, err := extraction.Fetch(t.Context(), r, known, from)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got.There != there || got.Path != file || asked != requests || !r.Own(known) ||
			!strings.HasPrefix(got.String(), begin+known+": "+file+", feature features of 512 numbers") {
			t.Errorf("%s: %d requests, there before: %v, %s", what, asked, got.There, got.String())
		}
	}
	expect("first", false, 1, "added ")
	if shown != 4 {
		t.Errorf("progress was reported for %d MB, expected 4", shown)
	}
	expect("second", true, 1, "nothing to fetch for ")
	remove := func(name string) {
		t.Helper()
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	remove(file)
	expect("its file lost", false, 2, "added ")
	remove(path)
	expect("the registry lost", false, 2, "added ")
}

func TestGetRefuses(t *testing.T) {
	data := content(t)
	dir := t.TempDir()
	good, bad, json := filepath.Join(dir, "good.onnx"), filepath.Join(dir, "bad.onnx"),
		filepath.Join(dir, "models.json")
	for file, content := range map[string][]byte{good: data, bad: append(slices.Clone(data[1:]), 'x')} {
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, from, want, hint string }{
		{"squeezenet1.2", "", `(did you mean "squeezenet1.1"?): no model has this name`, "models list"},
		{"resnet50", good, "nothing is fetched unchecked", "winnow models show resnet50"},
		{"dinov2-base-registers", "", "nothing is fetched unchecked",
			"winnow models show dinov2-base-registers"},
		{"dinov3-small", "", "licence that you must accept first, the DINOv3 License of Meta: https://ai.meta.com/",
			""},
		{known, "", "no place is known", "--from URL|FILE"},
		{known, "ftp://there/small.onnx", "expected an address that begins with http:// or https://, or a file", ""},
		{known, bad, "was not fetched: " + bad + ": found ", "name the published file"},
		{known, filepath.Join(dir, "none"), "no such file", "name the published file"},
	} {
		r := open(t, json)
		_, err := extraction.Fetch(t.Context(), r, c.name, extraction.FetchOptions{From: c.from})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(hint.Of(err), c.hint) {
			t.Errorf("%s from %q: found %v (%s), expected %q (%s)", c.name, c.from, err, hint.Of(err), c.want, c.hint)
		}
		if r.Own(c.name) {
			t.Errorf("%s was recorded in spite of the error", c.name)
		}
	}
	if err := os.Rename(bad, filepath.Join(dir, known+".onnx")); err != nil {
		t.Fatal(err)
	}
	if _, err := extraction.Fetch(t.Context(), open(t, json), known, extraction.FetchOptions{From: good}); err == nil ||
		!strings.Contains(err.Error(), "found a file with SHA-256") {
		t.Errorf("found %v, expected an error about the other file of that name", err)
	}
	if _, err := extraction.Fetch(t.Context(), open(t, json, dir), known, extraction.FetchOptions{}); err == nil ||
		!strings.Contains(hint.Of(err), "move that file away") {
		t.Errorf("found %v (%s), expected advice about the other file in a model folder", err, hint.Of(err))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := extraction.Fetch(ctx, open(t, filepath.Join(t.TempDir(), "models.json")), known,
		extraction.FetchOptions{From: good}); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected the error of the cancelled context", err)
	}
}
