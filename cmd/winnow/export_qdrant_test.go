package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"winnow/features"
	"winnow/internal/testing/qdranttest"
	"winnow/run/folder"
	"winnow/search/qdrant"
)

// The points in the server equal the .npy of the same run.
func TestExportToQdrant(t *testing.T) {
	s, f := newStudio(t), qdranttest.New(t)
	npy := filepath.Join(s.dir, "e.npy")
	stdout, stderr := mustCall(t, "export", s.run, "--npy", npy, "--to", f.URL(), "--collection", "photos", "--json")
	var result exportResult
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	q := result.Database
	if q == nil || q.Rows != 59 || q.Sent != 59 || q.Points != 59 || q.Compared != 59 || !q.Created ||
		len(q.LeftOut) != 1 || q.URL != f.URL() || result.Vectors.Rows != 59 {
		t.Errorf("%s", stdout)
	}
	if !strings.Contains(stderr, "1 unreadable images are left out, the first is 39.png") {
		t.Errorf("standard error:\n%s", stderr)
	}
	x, ids := readNPY(t, npy), table(t, s.dir, "e.ids.csv")[1:]
	c := f.Collections["photos"]
	sum, err := folder.FileSum(filepath.Join(s.run, folder.BestHeadFile))
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		p := c.Points[qdrant.ID(id[1])]
		if p == nil {
			t.Fatalf("%s is not there", id[1])
		}
		for name, want := range map[string]string{"path": id[1], "label": id[2], "split": id[3], "model": sum} {
			if got := p.Payload[name].GetStringValue(); got != want {
				t.Errorf("%s: %s is %q, expected %q", id[1], name, got, want)
			}
		}
		for j, v := range p.Vectors.GetVector().GetDense().GetData() {
			if want := features.Row(x, i)[j]; math.Abs(float64(v-want)) > 1e-6 {
				t.Errorf("%s: value %d is %v, expected %v", id[1], j, v, want)
			}
		}
	}
	if fmt.Sprint(c.Fields) != "[label split]" || len(c.Points) != 59 {
		t.Errorf("fields %v, %d points", c.Fields, len(c.Points))
	}
	text, _ := mustCall(t, "export", s.run, "--to", f.URL(), "--collection", "photos")
	if !strings.Contains(text, "photos at "+f.URL()+": 59 points of 6 values, 0 sent, 59 there already, 1 unreadable "+
		"images left out\n") {
		t.Errorf("again:\n%s", text)
	}
	// --payload and --split choose what is sent; the collection is named after the folder.
	mustCall(t, "export", s.run, "--to", f.URL(), "--payload", "", "--split", "test")
	if own := f.Collections[filepath.Base(s.run)]; own == nil || len(own.Points) != 20 || own.Fields != nil {
		t.Errorf("the collection of the run's name: %+v", own)
	}
}

// The vectors of an index are exported; labels come from a manifest.
func TestExportIndexToQdrant(t *testing.T) {
	s, f := newStudio(t), qdranttest.New(t)
	index := filepath.Join(s.dir, "photos.index")
	mustCall(t, "index", "--model", s.run, s.manifest, "--root", s.images, "--out", index)
	text, _ := mustCall(t, "export", index, "--to", f.URL(), "--manifest", s.manifest, "--payload", "label")
	if !strings.Contains(text, "photos.index at "+f.URL()+": 59 points") {
		t.Errorf("index:\n%s", text)
	}
	// The run's export updates the same points: it adds the split and changes last bits.
	text, _ = mustCall(t, "export", s.run, "--to", f.URL(), "--collection", "photos.index")
	if p := f.Collections["photos.index"].Points[qdrant.ID("03.png")]; len(
		f.Collections["photos.index"].Points) != 59 || p.Payload["split"].GetStringValue() == "" {
		t.Errorf("run over index:\n%s%v", text, p)
	}
	mustCall(t, "export", s.store, "--to", f.URL(), "--collection", "raw")
	if c := f.Collections["raw"]; len(c.Points) != 59 ||
		c.Config.GetParams().GetVectorsConfig().GetParams().GetSize() != 8 {
		t.Errorf("a store's points: %d", len(c.Points))
	}
}

func TestExportToQdrantRefuses(t *testing.T) {
	s, f := newStudio(t), qdranttest.New(t)
	to := []string{"--to", f.URL(), "--collection", "photos"}
	and := func(args ...string) []string { return append(append([]string{}, to...), args...) }
	s.refused(t, 2, "--collection belongs to --to URL, which is missing", "--collection", "x", "--npy", "x.npy")
	s.refused(t, 2, "--to: found an address of an unknown kind, expected http(s)://HOST:6334 (Qdrant) or "+
		"postgres://USER@HOST/DATABASE (pgvector)", "--to", "localhost:6334")
	s.refused(t, 2, `--payload: found "breed", expected columns of the manifest: label, split`,
		and("--payload", "label,breed")...)
	s.refused(t, 2, "--batch: found 0, expected 1 point or more", and("--batch", "0")...)
	s.refused(t, 1, "--key-file: "+filepath.Join(s.dir, "none")+": no such file",
		and("--key-file", filepath.Join(s.dir, "none"))...)
	f.Key = "right"
	t.Setenv("WINNOW_QDRANT_API_KEY", "hidden secret")
	s.refused(t, 1, "is not one word of printable ASCII", to...)
	t.Setenv("WINNOW_QDRANT_API_KEY", "secret")
	s.refused(t, 1, "Must provide an API key or an Authorization bearer token (Unauthenticated)\n", to...)
	s.refused(t, 1, "put the server's key into "+"WINNOW_QDRANT_API_KEY", to...)
	key := filepath.Join(s.dir, "key")
	write(t, key, "right\n")
	mustCall(t, append([]string{"export", s.run, "--key-file", key}, to...)...)
	f.Key = ""
	// The features are another model's vectors.
	code, _, stderr := call(t.Context(), append([]string{"export", s.store}, to...)...)
	if code != 1 || !strings.Contains(stderr, `collection "photos": found vectors of 6 values, expected 8`) ||
		!strings.Contains(stderr, "replace this one with --recreate") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	code, _, stderr = call(t.Context(), append([]string{"export", s.store, "--npy", filepath.Join(s.dir, "x.npy")},
		to...)...)
	if code != 2 || !strings.Contains(stderr, "vectors of an index or a feature store go only to --to") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	code, _, stderr = call(t.Context(), append([]string{"export", s.images}, to...)...)
	if code != 1 || !strings.Contains(stderr, "neither a run folder, nor an index, nor a feature store") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	f.Fault = func(string, int, bool) error { return status.Error(codes.InvalidArgument, "no such thing") }
	s.refused(t, 1, "first request: no such thing (InvalidArgument)", and("--recreate")...)
	s.refused(t, 1, "without --recreate goes on with what is there", and("--recreate")...)
}
