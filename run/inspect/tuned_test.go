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
	"winnow/internal/hint"
	"winnow/run/inspect"
)

// tuned returns a studio that judges images by glyphnet with its last stage fine-tuned for each fold.
func tuned(t *testing.T, photos, kept string) *studio {
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

// An audit that was stopped between folds continues to the same bytes. Finished folds are not learned again unless
// something that they depend on has changed or their file is damaged.
func TestFinetunedFoldsAreKept(t *testing.T) {
	photos, _ := drawChecked(t, flat)
	whole := tuned(t, photos, "")
	want := asJSON(t, whole.audit(t))
	if !strings.Contains(whole.told, "fine-tuning glyphnet") ||
		!strings.Contains(whole.told, "2 networks begins, at a rate of 0.0002: at most 200 steps, about ") ||
		!strings.Contains(whole.told, "augmented by digits") || !strings.Contains(want, "fine-tuned networks in") {
		t.Fatalf("told %s", whole.told)
	}
	kept := filepath.Join(t.TempDir(), "kept")
	ctx, cancel := context.WithCancel(t.Context())
	cut := tuned(t, photos, kept)
	cut.Told = func(_, _, _ int, where string) {
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
	again, reused := tuned(t, photos, kept), 0
	again.Told = func(_, _, earlier int, _ string) { reused = max(reused, earlier) }
	if got := asJSON(t, again.audit(t)); got != want || reused == 0 {
		t.Errorf("another audit after an interruption, %d steps reused", reused)
	}
	for _, c := range []struct {
		what   string
		change func(*studio)
	}{
		{"nothing", func(*studio) {}},
		{"seed", func(s *studio) { s.Seed++ }},
		{"pictures", func(s *studio) { s.Tuning.Augment = "none" }},
		{"weights", func(s *studio) { s.Tuning.Weights = "stage2" }},
		{"wrong file", func(*studio) { resize(t, files[0], 0) }}, // it stays so
		{"cut file", func(*studio) { resize(t, files[0], -1) }},
	} {
		s := tuned(t, photos, kept)
		s.Features = again.Features
		c.change(s)
		ctx, cancel := context.WithCancel(t.Context())
		learned := false
		s.Told = func(_, _, earlier int, _ string) {
			if learned = learned || earlier == 0; learned {
				cancel()
			}
		}
		if _, err := inspect.Judge(ctx, s.Input, s.Options, s.Host); (c.what == "nothing") == learned ||
			learned != (err != nil) {
			t.Errorf("%s changed: learned %v, %v", c.what, learned, err)
		}
		cancel()
	}
}

// resize shortens a file, or with 0 changes its first byte.
func resize(t *testing.T, file string, by int) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		data[0]++
		err = os.WriteFile(file, data[:len(data)+by], 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestFinetuneRefused(t *testing.T) {
	photos, _ := drawChecked(t, flat)
	for name, c := range map[string]struct {
		change       func(*studio)
		want, advice string
	}{
		"stage":   {func(s *studio) { s.Tuning.Weights = "layer9" }, `found no such stage`, "winnow models show"},
		"scorer":  {func(s *studio) { s.Scorer = "fitted" }, "finetune: scorer fitted learns nothing", ""},
		"recipe":  {func(s *studio) { s.Tuning.Augment = "wild" }, `"wild"`, ""},
		"memory":  {func(s *studio) { s.MaxMem = 1 << 10 }, "fine-tuning stage3 needs about", "MiB of memory"},
		"augment": {func(s *studio) { s.Tuning = inspect.Tuning{Augment: "digits"} }, "augment: ", ""},
	} {
		s := tuned(t, photos, "")
		c.change(s)
		_, err := inspect.Judge(t.Context(), s.Input, s.Options, s.Host)
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(hint.Of(err), c.advice) {
			t.Errorf("%s: found %v (%s), expected %s (%s)", name, err, hint.Of(err), c.want, c.advice)
		}
		if s.seen > 0 {
			t.Errorf("%s: refused after %d images were looked at", name, s.seen)
		}
	}
	store := newStudio(t, photos)
	store.audit(t)
	lone := filepath.Join(t.TempDir(), "list.csv")
	writeTo(t, lone, []byte("path,label\nA/0-0.png,A\nB/1-0.png,B\n"))
	s := tuned(t, photos, "")
	_, err := inspect.Judge(t.Context(), inspect.Input{Manifest: location.At(lone), Features: store.Features},
		s.Options, s.Host)
	if err == nil || !strings.Contains(hint.Of(err), "data.root") {
		t.Errorf("features without images: %v (%s)", err, hint.Of(err))
	}
}

// Several backbones look at the same images.
func TestSeveralBackbones(t *testing.T) {
	photos, wrong := drawChecked(t, flat)
	first := newStudio(t, photos)
	first.audit(t)
	dir := first.Features
	less, _ := drawChecked(t, flat)
	classes, err := filepath.Glob(less + "/*")
	if err == nil {
		err = os.RemoveAll(classes[0])
	}
	if err != nil {
		t.Fatal(err)
	}
	lone := newStudio(t, less)
	lone.audit(t)
	s := tuned(t, photos, "")
	s.Tuning.Weights = ""
	both := inspect.Input{Manifest: location.At(photos), Features: dir + "," + dir, Root: location.At(photos)}
	a, err := inspect.Judge(t.Context(), both, s.Options, s.Host)
	if err != nil {
		t.Fatal(err, hint.Of(err))
	}
	got := paths(a, len(wrong))
	if found := slices.DeleteFunc(slices.Clone(wrong),
		func(path string) bool { return !slices.Contains(got, path) }); len(found) < len(wrong)-1 {
		t.Errorf("most suspect: %v, expected %v", got, wrong)
	}
	for want, in := range map[string]inspect.Input{
		"are not in the store":             {Manifest: location.At(photos), Features: lone.Features + "," + dir},
		"found 2 stores beside given":      {Manifest: location.At(photos), Features: dir + "," + dir, Probs: "p.npy"},
		"no fine-tuning and a single seed": {Manifest: location.At(photos), Features: dir, Probs: "p.npy"},
	} {
		other := s.Options
		if strings.Contains(want, "single seed") {
			other.Rounds = 2
		}
		if _, err := inspect.Judge(t.Context(), in, other, s.Host); err == nil ||
			!strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}
