package cluster

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/datasets/location"
)

// joined is a text as a Result.
type joined string

func (j joined) Write(w io.Writer) error {
	_, err := io.WriteString(w, string(j))
	return err
}

// Join merges all parts in the order of the rows, for any number of parts.
func TestJoin(t *testing.T) {
	reading := Job{Name: "count", Merge: func(_ context.Context, w *Whole, _ JoinOptions) (Result, error) {
		var all joined
		for _, p := range w.Parts {
			text, err := os.ReadFile(filepath.Join(p.Path.Path(), "a"))
			if err != nil {
				return nil, err
			}
			all += joined(text)
		}
		return all, nil
	}}
	o := JoinOptions{Note: func(string, ...any) {}, Progress: func(int, int) {}}
	for _, of := range []int{1, 3, 10} {
		out := location.At(filepath.Join(t.TempDir(), "out"))
		want := ""
		for i := of; i > 0; i-- {
			text := strings.Repeat("x", i) + "\n"
			want = text + want
			if m, err := makeTextPart(t, out, i, of, counted, text); err != nil || m.Complete {
				t.Fatal(m, err)
			}
		}
		if got, err := Join(t.Context(), out, reading, o); err != nil || got != joined(want) {
			t.Errorf("%d parts: %q, %v", of, got, err)
		}
		if _, err := Join(t.Context(), out, Job{Name: "other"}, o); err == nil ||
			!strings.Contains(err.Error(), "expected other") {
			t.Error(err)
		}
	}
	if _, err := makeTextPart(t, location.At(t.TempDir()), 1, 21, counted, ""); err == nil ||
		!strings.Contains(err.Error(), "at most 20 shards") {
		t.Error(err)
	}
}
