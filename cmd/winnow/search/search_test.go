package search

import (
	"io"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/cmd/winnow/term/termtest"
	"winnow/datasets/location"
	"winnow/run/embedding"
)

func TestFlagsBecomeOptions(t *testing.T) {
	args := []string{"-i", "ix", "--k", "3", "--manifest", "m.csv", "--model", "run", "--backbone", "b.onnx", "--root",
		"photos",
		"--batch", "4", "--workers", "2", "--json", "a.jpg", "b.npy"}
	got, err := termtest.Asked(t, newSearchCommand, args...)
	if err != nil {
		t.Fatal(err)
	}
	want := Options{Search: embedding.Search{Options: embedding.Options{Model: "run", Backbone: "b.onnx",
		Root: location.At("photos"), Stdin: os.Stdin, Batch: 4, Workers: 2}, Index: "ix", Queries: []string{"a.jpg", "b.npy"}, K: 3, Manifest: location.At("m.csv")}, JSON: true}
	if diff := cmp.Diff(&want, got, termtest.Sources,
		cmp.Comparer(func(a, b io.Reader) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
