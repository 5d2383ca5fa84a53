package pairs_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/datasets/location"
	"winnow/features"
	"winnow/papers/pairs"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/folder"
)

// images writes a manifest of 13 training images of 3 classes, one of them unreadable, and their features.
func images(t *testing.T) folder.Options {
	t.Helper()
	o := folder.Options{Manifest: location.At(t.TempDir()).Join("m.csv"), Features: filepath.Join(t.TempDir(), "store")}
	manifest, paths := "path,label,split\n", []string(nil)
	for i := range 13 {
		paths = append(paths, fmt.Sprintf("%d.png", i))
		manifest += fmt.Sprintf("%d.png,class%d,train\n", i, i%3)
	}
	if err := os.WriteFile(o.Manifest.Path(), []byte(manifest+"unseen.png,class9,test\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	key := features.Key{Model: strings.Repeat("a", 64), Output: "pool", Preprocessing: "{}", Views: []string{"center"}}
	w, err := features.Create(o.Features, features.Plan{Key: key, Paths: paths, Dim: 8, Batch: len(paths),
		Device: "cpu", Winnow: "test"}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	x := features.NewMatrix(len(paths), 8)
	for i := range x.Data {
		x.Data[i] = float32(i*i%7) + 1
	}
	if err := w.Append(x, []features.Bad{{Row: 12, Path: "12.png", Reason: "torn"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOpenStore(t *testing.T) {
	seed := uint64(7)
	tr, err := pairs.OpenBatches(t.Context(), pairs.BatchOptions{Data: images(t),
		Sampler: config.DefaultSampler(config.Groups), Batch: "2x2",
		Batches: 5, Seed: &seed})
	if err != nil {
		t.Fatal(err)
	}
	if tr.Name() != "frozen features" || tr.Set.Len() != 12 || tr.Classes != 3 || tr.Seed != 7 ||
		tr.Sampler.Classes != 2 || tr.Sampler.Images != 2 {
		t.Errorf("found %s, %d images of %d classes, seed %d, %+v", tr.Name(), tr.Set.Len(), tr.Classes, tr.Seed,
			tr.Sampler)
	}
	if len(tr.LeftOut) != 1 || tr.LeftOut[0].Path != "12.png" {
		t.Errorf("left out %+v", tr.LeftOut)
	}
	for i := range tr.Set.Len() {
		if norm := features.Dot(tr.Set.Row(i), tr.Set.Row(i)); math.Abs(norm-1) > 1e-5 {
			t.Errorf("row %d has the square length %v", i, norm)
		}
	}
	var numbers []int
	err = tr.Each(t.Context(), tr.Set, func(number int, rows []int) {
		numbers = append(numbers, number)
		if len(rows) != 4 || tr.Set.Labels[rows[0]] != tr.Set.Labels[rows[1]] ||
			tr.Set.Labels[rows[0]] == tr.Set.Labels[rows[2]] {
			t.Errorf("batch %d: rows %v", number, rows)
		}
	})
	if err != nil || !slices.Equal(numbers, []int{0, 1, 2, 3, 4}) { // more than the three of an epoch
		t.Errorf("found %v: batches %v", err, numbers)
	}
	ctx, stop := context.WithCancel(t.Context())
	seen := 0
	err = tr.Each(ctx, tr.Set, func(int, []int) { seen++; stop() })
	if !errors.Is(err, context.Canceled) || seen != 1 {
		t.Errorf("found %v after %d batches, expected the end after one", err, seen)
	}
}

// A run has its own sampler and seed, and its head makes the vectors.
func TestOpenRun(t *testing.T) {
	data := images(t)
	cfg := config.Default()
	cfg.Data = config.Data{Manifest: data.Manifest.Path(), Features: data.Features}
	cfg.Head.Out, cfg.Length, cfg.Bank.Size, cfg.Seed = 4, config.LastsSteps(3), 24, 5
	cfg.Sampler.Classes, cfg.Sampler.Images = 3, 2
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := run.Train(t.Context(), cfg, run.Input{}, run.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	tr, err := pairs.OpenBatches(t.Context(),
		pairs.BatchOptions{Run: dir, Sampler: config.DefaultSampler(config.Shuffle)})
	if err != nil {
		t.Fatal(err)
	}
	if tr.Set.Dim() != 4 || tr.Seed != 5 || tr.Sampler.Variant != config.Groups || tr.Sampler.Images != 2 ||
		tr.Config.Length != config.LastsSteps(3) {
		t.Errorf("found %d dimensions, seed %d, %+v", tr.Set.Dim(), tr.Seed, tr.Sampler)
	}
	if want := dir + ", " + folder.BestHeadFile + " (after step 3)"; tr.Name() != want {
		t.Errorf("found %q, expected %q", tr.Name(), want)
	}
}
