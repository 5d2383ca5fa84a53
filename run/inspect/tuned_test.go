package inspect_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/datasets/location"
	"winnow/run/inspect"
)

// newTuned returns a studio that audits images with glyphnet, whose last stage is fine-tuned for each fold.
func newTuned(t *testing.T, photos, kept string) *studio {
	s := newStudio(t, photos)
	s.Scorer, s.Tuning = "crossfit", inspect.Tuning{Weights: "stage3", Kept: kept}
	return s
}

// asJSON returns an audit as JSON, without the folder of its features.
func asJSON(t *testing.T, a *inspect.Report) string {
	t.Helper()
	a.Store = ""
	var out bytes.Buffer
	if err := a.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// An audit with fine-tuned networks finds misplaced images. If it is stopped between folds and continued, the bytes are
// the same. A finished fold is trained again only if something that it depends on has changed or its file is damaged.
func TestFinetunedFoldsAreKept(t *testing.T) {
	photos, wrong := drawChecked(t, flat)
	whole := newTuned(t, photos, "")
	a := whole.audit(t)
	slices.Sort(wrong)
	if got := paths(a, len(wrong)); !slices.Equal(got, wrong) || !strings.Contains(whole.told, "augmented by digits") ||
		!strings.Contains(a.Why, "fine-tuned networks in") {
		t.Errorf("most suspect: %q, expected %q; %s\n%s", got, wrong, a.Why, whole.told)
	}
	want, kept := asJSON(t, a), filepath.Join(t.TempDir(), "kept")
	ctx, cancel := context.WithCancel(t.Context())
	cut := newTuned(t, photos, kept)
	cut.Told = func(_, _ int, where string) {
		if strings.Contains(where, "fold 2") {
			cancel()
		}
	}
	if _, err := inspect.Judge(ctx, cut.Input, cut.Options, cut.Host); !errors.Is(err, context.Canceled) {
		t.Fatalf("found %v", err)
	}
	files, err := filepath.Glob(kept + "/*")
	if err != nil || len(files) != 1 {
		t.Fatalf("%v: kept %v, expected one fold", err, files)
	}
	again, reused := newTuned(t, photos, kept), 0
	again.Told = func(_, _ int, where string) {
		if strings.Contains(where, "earlier audit") {
			reused++
		}
	}
	if got := asJSON(t, again.audit(t)); got != want || reused != 1 {
		t.Errorf("another audit after an interruption, %d folds reused", reused)
	}
	for _, c := range []struct {
		what   string
		change func(*studio)
	}{
		{"nothing", func(*studio) {}},
		{"seed", func(s *studio) { s.Seed++ }},
		{"pictures", func(s *studio) { s.Tuning.Augment = "none" }},
		{"weights", func(s *studio) { s.Tuning.Weights = "stage2" }},
		{"damaged file", func(*studio) { // the last case: the file stays damaged
			data, err := os.ReadFile(files[0])
			if err == nil {
				data[len(data)/2]++
				err = os.WriteFile(files[0], data, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}},
	} {
		s := newTuned(t, photos, kept)
		s.Features = again.Features
		c.change(s)
		ctx, cancel := context.WithCancel(t.Context())
		learned := false
		s.Told = func(_, _ int, where string) {
			if learned = learned || !strings.Contains(where, "earlier audit"); learned {
				cancel()
			}
		}
		if _, err := inspect.Judge(ctx, s.Input, s.Options, s.Host); (c.what == "nothing") == learned ||
			learned != (err != nil) {
			t.Errorf("%s changed: learned %v, %v", c.what, learned, err)
		}
		cancel()
	}
	stored := newTuned(t, photos, kept)
	stored.Input = inspect.Input{Manifest: location.At(photos), Features: again.Features, Root: location.At(photos),
		Tuning: stored.Tuning}
	if a := stored.audit(t); !strings.Contains(a.Why, "fine-tuned networks in") {
		t.Errorf("stored features: %s", a.Why)
	}
	for what, change := range map[string]func(*studio){
		"found no such stage":      func(s *studio) { s.Tuning.Weights = "layer9" },
		"fitted trains nothing":    func(s *studio) { s.Scorer = "fitted" },
		`"wild"`:                   func(s *studio) { s.Tuning.Augment = "wild" },
		"fine-tuning stage3 needs": func(s *studio) { s.MaxMem = 1 << 10 },
	} {
		s := newTuned(t, photos, "")
		change(s)
		if _, err := inspect.Judge(t.Context(), s.Input, s.Options, s.Host); err == nil || s.seen > 0 ||
			!strings.Contains(err.Error(), what) {
			t.Errorf("found %v after %d images, expected %s", err, s.seen, what)
		}
	}
}
