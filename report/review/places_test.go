package review

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/eval/tsne"
)

// arranged returns the map of a world once nothing is computed any more.
func (w *world) arranged(method string) (s planeState, at []spot) {
	w.t.Helper()
	if method != "" {
		w.must("POST", "/api/arrange", `{"method":"`+method+`"}`, nil)
	} else {
		w.must("GET", "/api/plane", "", nil)
	}
	w.review.plane.worker.Wait()
	w.must("GET", "/api/plane", "", &s)
	return s, slices.Clone(w.review.plane.at)
}

// mapped opens a world with vectors and a file of places.
func (w *world) mapped(f Finder) {
	w.t.Helper()
	w.steps = 30
	if _, err := w.reopened(func(c *Config) { c.Finder, c.Plane = f, filepath.Join(w.dir, "m.map.csv") }); err != nil {
		w.t.Fatal(err)
	}
}

// TestPlaneGoesOn: a t-SNE that was killed goes on by itself when the server starts again, to the same places as
// without a break.
func TestPlaneGoesOn(t *testing.T) {
	w := newWorld(t, 60)
	w.mapped(seer{w.finder})
	_, want := w.arranged(byLikeness)
	file := w.review.plane.file
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	// As after a kill: the checkpoint of the twelfth step is there, and no result.
	r := w.review
	x, rows, err := r.readUnitVectors(seer{w.finder})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	_, _, err = tsne.Embed(ctx, x, tsne.Options{Iterations: 30, Seed: 1, Stepped: func(s tsne.State) {
		if s.Iteration == 12 {
			if err := r.writeCheckpoint(s, r.sumOf(x, rows)); err != nil {
				t.Error(err)
			}
			stop()
		}
	}})
	if err == nil {
		t.Fatal("it was not stopped")
	}
	good, err := os.ReadFile(r.nameMapCheckpoint())
	if err != nil {
		t.Fatal(err)
	}
	w.mapped(seer{w.finder})
	s, got := w.arranged("")
	if s.Method != byLikeness || s.Failed != "" || !slices.Equal(got, want) {
		t.Errorf("got %+v, other places: %v", s, !slices.Equal(got, want))
	}
	if _, err := os.Stat(r.nameMapCheckpoint()); !os.IsNotExist(err) {
		t.Errorf("the checkpoint stays: %v", err)
	}
	// One that was killed before its first step begins again.
	if err := r.writeCheckpoint(tsne.State{}, "of others"); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(file)
	w.mapped(seer{w.finder})
	if s, got := w.arranged(""); s.Method != byLikeness || s.Failed != "" || !slices.Equal(got, want) {
		t.Errorf("before the first step: got %+v, other places: %v", s, !slices.Equal(got, want))
	}
	for name, c := range map[string]struct {
		data []byte
		f    Finder
		want string
	}{
		"damaged":       {slices.Concat(good[:200], []byte{1}, good[201:]), seer{w.finder}, "checksum"},
		"cut":           {good[:300], seer{w.finder}, "m.map.part is not used"},
		"other vectors": {good, turned{seer{w.finder}}, "of other images or vectors"},
	} {
		if err := os.WriteFile(r.nameMapCheckpoint(), c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(file)
		w.mapped(c.f)
		if s, _ := w.arranged(""); s.Method != byComponents || !strings.Contains(s.Failed, c.want) {
			t.Errorf("%s: got %+v", name, s)
		}
	}
}

// turned is a finder whose vectors differ from a seer's.
type turned struct{ seer }

func (f turned) Rows(paths []string) (x blas32.General, absent int, err error) {
	x, absent, err = f.seer.Rows(paths)
	for i := range x.Rows {
		x.Data[i*x.Stride+7] = float32(1 + i%3)
	}
	return x, absent, err
}

// TestPlaneKeepsPlaces: new images are placed among the others, which stay where they are; images that are gone leave
// no trace; and what is placed is kept.
func TestPlaneKeepsPlaces(t *testing.T) {
	const n = 90
	w := newWorld(t, n)
	whole := readWhole(t, w.manifest)
	lines := strings.SplitAfter(whole, "\n")
	w.list = nil
	w.write("m.csv", strings.Join(slices.Concat(lines[:1], lines[11:]), "")) // without the first ten
	w.mapped(seer{w.finder})
	_, before := w.arranged(byLikeness)
	w.write("m.csv", strings.Join(lines[:n-4], "")) // with them, without the last five
	for range 2 {                                   // placed, then read from the file
		w.mapped(seer{w.finder})
		s, at := w.arranged("")
		if s.Method != byLikeness || s.Points != n-5 || s.Failed != "" {
			t.Fatalf("got %+v", s)
		}
		for image := range at {
			if image >= 10 && at[image] != before[image-10] {
				t.Errorf("image %d moved from %v to %v", image, before[image-10], at[image])
			}
		}
		among := 0
		for image := range 10 {
			near, least := -1, float32(9)
			for other := 10; other < len(at); other++ {
				dx, dy := at[image].x-at[other].x, at[image].y-at[other].y
				if d := dx*dx + dy*dy; d < least {
					near, least = other, d
				}
			}
			if labelOf(near) == labelOf(image) {
				among++
			}
		}
		if among < 8 {
			t.Errorf("%d of 10 new images lie beside one of their class", among)
		}
		before = at[10:]
	}
}
