package extraction

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/internal/fetch"
	"winnow/models"
)

// Both files of a model are fetched, each from its place. A file with a wrong checksum does not get its final name.
func TestGetParts(t *testing.T) {
	r, err := models.Open(filepath.Join(t.TempDir(), "models.json"))
	if err != nil {
		t.Fatal(err)
	}
	e, ok := r.Entry("dinov3-small")
	if !ok {
		t.Fatal("no entry dinov3-small")
	}
	for from, want := range map[string][2]string{
		"":                           {"/resolve/main/onnx/model.onnx", "/resolve/main/onnx/model.onnx_data"},
		"https://mirror/m/":          {"https://mirror/m/model.onnx", "https://mirror/m/model.onnx_data"},
		"https://mirror/m/copy.onnx": {"https://mirror/m/copy.onnx", "https://mirror/m/model.onnx_data"},
		filepath.Join("d", "c.onnx"): {filepath.Join("d", "c.onnx"), filepath.Join("d", "model.onnx_data")},
	} {
		files, err := listEntrySources(e, from)
		if err != nil || len(files) != 2 || !strings.HasSuffix(files[0].Places[0], want[0]) ||
			!strings.HasSuffix(files[1].Places[0], want[1]) || files[1].Name != "model.onnx_data" {
			t.Errorf("from %q: found %+v, %v, expected %q", from, files, err, want)
		}
	}
	contents := map[string]string{"/m/model.onnx": "network", "/m/model.onnx_data": "weights"}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := w.Write([]byte(contents[r.URL.Path])); err != nil {
			t.Error(err)
		}
	}))
	defer s.Close()
	part := func(name, content string) fetch.Source {
		return fetch.Source{Name: name, Size: int64(len(content)), SHA256: models.Sum([]byte(content)),
			Places: []string{s.URL + "/m/" + name}}
	}
	folder := filepath.Join(t.TempDir(), "deep")
	two := []fetch.Source{part("model.onnx", "network"), part("model.onnx_data", "weights")}
	contents["/m/model.onnx_data"] = "Weights"
	if err := bringAll(t.Context(), two, folder, FetchOptions{}); !errors.As(err, new(*fetch.Unavailable)) {
		t.Errorf("found %v, expected an error about the other SHA-256", err)
	}
	if _, err := os.Stat(filepath.Join(folder, "model.onnx_data")); err == nil {
		t.Error("a file with a wrong SHA-256 has its final name")
	}
	contents["/m/model.onnx_data"] = "weights"
	contents["/m/model.onnx"] = "" // not requested: the file was fetched before
	if err := bringAll(t.Context(), two, folder, FetchOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"model.onnx": "network", "model.onnx_data": "weights"} {
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != want {
			t.Errorf("%s: found %q, %v", name, got, err)
		}
	}
}
