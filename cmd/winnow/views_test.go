package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/features"
	"winnow/papers/quickstart"
	"winnow/run/extraction"
	"winnow/run/folder"
	"winnow/run/measure"
	"winnow/train"
)

func TestExtractViewsCommand(t *testing.T) {
	a := newAlbum(t, 13)
	plain := a
	plain.out = filepath.Join(a.dir, "plain")
	plain.mustExtract(t)
	flags := []string{"--views", "center+flip+2*prism", "--dtype", "float16", "--seed", "7"}
	code, out, errs := a.extract(t, t.Context(), append(flags, "--json")...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var got extraction.Result
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	want := []string{"center", "flip", "prism.1@7", "prism.2@7"}
	if got.Rows != 13 || got.Dim != 7 || got.DType != "float16" || !slices.Equal(got.Views, want) || len(got.Bad) != 2 {
		t.Errorf("result %+v", got)
	}
	s, err := features.Open(a.out)
	if err != nil {
		t.Fatal(err)
	}
	one, err := features.Open(plain.out)
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Read(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	y, err := one.Read(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range y.Data {
		if d := x.Data[i] - v; d > 5e-4*v || d < -5e-4*v { // features after a Relu; half an ulp of float16 is 2⁻¹¹
			t.Errorf("number %d: %v as float16, %v as float32", i, x.Data[i], v)
		}
	}
	if slices.Equal(x.Data, y.Data) {
		t.Error("float16 rounded nothing")
	}
	before := a.files(t)
	code, out, _ = a.extract(t, t.Context(), flags...)
	if code != 0 || !strings.Contains(out, "13 images × 4 views × 7 values") || !strings.Contains(out, "as float16") ||
		!strings.Contains(out, "nothing to do") {
		t.Errorf("again: %d: %s", code, out)
	}
	for want, other := range map[string][]string{
		"made with views [center flip prism.1@7 prism.2@7], asked for [center]": {"--views", "center"},
		"asked for [center flip prism.1@8 prism.2@8]":                           {"--seed", "8"},
		"made with numbers float16, asked for float32":                          {"--dtype", "float32"},
	} {
		if code, _, errs := a.extract(t, t.Context(), append(slices.Clone(flags), other...)...); code != 1 ||
			!strings.Contains(errs, want) || !strings.Contains(errs, "--overwrite") {
			t.Errorf("%v: exit code %d: %s", other, code, errs)
		}
	}
	if diff := cmp.Diff(before, a.files(t)); diff != "" {
		t.Errorf("the store has changed:\n%s", diff)
	}
	for want, other := range map[string][]string{
		`--views: backbone: view "centre" is unknown`:                                           {"--views", "centre"},
		`--dtype: found "float8", expected float32 or float16`:                                  {"--dtype", "float8"},
		`--views: backbone: augmentation "prsim" is unknown (did you mean "prism"?): known are`: {"--views", "2*prsim"},
	} {
		a.fails(t, 2, want, other...)
	}
}

// withViews replaces the world's store by one of three views: the features with three draws of noise.
func (w world) withViews(t testing.TB, dtype string) {
	t.Helper()
	s, err := features.Open(w.store)
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Read(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	key := s.Key
	key.Views, key.DType = []string{"center", "prism.1@1", "prism.2@1"}, dtype
	wide := features.NewMatrix(x.Rows, 3*x.Cols)
	rng := train.Rand(1, "views of the world", 0)
	for i := range x.Rows {
		for v := range 3 {
			for j, value := range features.Row(x, i) {
				features.Row(wide, i)[v*x.Cols+j] = value + float32(rng.NormFloat64())
			}
		}
	}
	writer, err := features.Create(w.store, features.Plan{Key: key, Paths: s.Paths, Dim: s.Dim, Batch: s.Rows,
		Device: "cpu", Winnow: "test"}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := writer.Append(wide, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestTrainOnViews trains on several views, which differs from training on the centre; a resumed run ends with the same
// bits; eval, audit and export use the centre or the mean.
func TestTrainOnViews(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 2, 0.3)
	w.withViews(t, features.Float16)
	whole, cut := filepath.Join(w.dir, "whole"), filepath.Join(w.dir, "cut")
	settings := []string{"--set", "checkpoint=7 steps", "--noise-rate", "0.3"}
	code, _, stderr := call(t.Context(), w.args(whole, settings...)...)
	if code != 0 || !strings.Contains(stderr, "3 views of each training image: every visit shows one of them, drawn") {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	cutAgain(t, 3, w.args(cut, append(settings, "--resume")...), nil)
	sameFiles(t, whole, cut, folder.BestHeadFile, folder.LastHeadFile, train.MetricsFile, train.CheckpointFile)
	one := w
	one.store = filepath.Join(w.dir, "centre")
	s, err := features.Open(w.store)
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Read(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	one.makeStore(t, s.Paths, x.Data, nil)
	centre := filepath.Join(w.dir, "of the centre")
	if code, _, stderr := call(t.Context(), one.args(centre, settings...)...); code != 0 || strings.Contains(stderr,
		"views of each") {
		t.Fatal(stderr)
	}
	// the head's file would differ anyway, by its settings
	if readFile(t, whole, train.MetricsFile) == readFile(t, centre, train.MetricsFile) {
		t.Error("the views do not affect training")
	}
	var scores []float64
	for _, view := range []string{"center", "mean"} {
		code, out, stderr := call(t.Context(), "eval", whole, "--split", "validation", "--view", view, "--json")
		var r measure.Result
		if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || r.View != view {
			t.Fatalf("exit code %d, %v, view %q: %s", code, err, r.View, stderr)
		}
		if want := map[string]string{"center": "using the centre (the view mean averages all)",
			"mean": "using the mean of the 3 views"}[view]; !strings.Contains(stderr, want) {
			t.Errorf("%s: %s", view, stderr)
		}
		scores = append(scores, r.PrecisionAt1)
	}
	if scores[1] < scores[0]+0.02 { // the mean of three draws has 1/√3 of the noise of one
		t.Errorf("P@1 of the mean %.3f, of the centre %.3f", scores[1], scores[0])
	}
	code, _, stderr = call(t.Context(), "audit", whole, "--view", "mean", "--json")
	if code != 0 || !strings.Contains(stderr, "using the mean of the 3 views") {
		t.Errorf("audit: %d: %s", code, stderr)
	}
	npy := map[string]string{}
	for _, view := range []string{"center", "mean"} {
		path := filepath.Join(w.dir, view+".npy")
		mustCall(t, "export", whole, "--npy", path, "--view", view)
		npy[view] = readFile(t, path)
	}
	if npy["center"] == npy["mean"] {
		t.Error("export gives the same vectors of the centre and of the mean")
	}
	fails(t, 2, `--view: found "first", expected center or mean`, "eval", whole, "--split", "validation", "--view",
		"first")
}

// TestOneViewHasNoMean refuses the mean of one view. Noise of clusters uses the centre of several.
func TestOneViewHasNoMean(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 2, 0)
	out := filepath.Join(w.dir, "run")
	mustCall(t, w.args(out, "--epochs", "1")...)
	code, _, stderr := call(t.Context(), "eval", out, "--split", "validation", "--view", "mean")
	if code != 1 || !strings.Contains(stderr, "holds one view of each image, the center, expected several") ||
		!strings.Contains(stderr, "--views center+flip") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	w.withViews(t, "")
	mustCall(t, "data", "corrupt", w.manifest, "--noise", "small-cluster", "--features", w.store, "--noise-rate", "0.2",
		"--out", filepath.Join(w.dir, "noisy.csv"))
	// the head can be evaluated on several views
	mustCall(t, "eval", out, "--split", "validation", "--view", "mean")
}

// TestMethodsOnViews trains on several views by the other methods; the same run ends with the same bytes.
func TestMethodsOnViews(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 3, 0.3)
	w.withViews(t, "")
	for _, method := range []string{"co-teaching", "f-correction", "sel-cl", "tcl"} {
		var ends []string
		for _, seed := range []string{"1", "1"} {
			out := filepath.Join(w.dir, method+"-"+string(rune('a'+len(ends))))
			code, _, stderr := call(t.Context(), "train", "--manifest", w.manifest, "--features", w.store, "--out", out,
				"--method", method,
				"--dim", "24", "--epochs", "2", "--batch", "40", "--seed", seed, "--noise-rate", "0.3", "--lr", "1e-2")
			if code != 0 || !strings.Contains(stderr, "3 views of each training image") {
				t.Fatalf("%s: exit code %d: %s", method, code, stderr)
			}
			if strings.HasPrefix(method, "t") && !strings.Contains(stderr, "views are one of the 3 stored views, "+
				"drawn, with noise") {
				t.Errorf("%s: %s", method, stderr)
			}
			ends = append(ends, readFile(t, out, folder.LastHeadFile))
		}
		if ends[0] != ends[1] {
			t.Errorf("%s: the same run gave other bytes", method)
		}
	}
}

// TestFinetuneOnViews fine-tunes from a store of several views: only the centre is used, and the run's own features
// have no mean.
func TestFinetuneOnViews(t *testing.T) {
	atelier(t)
	for out, views := range map[string]string{"one": "center", "three": "center+flip+1*digits"} {
		mustCall(t, "extract", "--manifest", "noisy.csv", "--root", "drawn", "--model", quickstart.Backbone,
			"--out", out,
			"--views", views)
	}
	for _, run := range []string{"one", "three"} {
		_, stderr := mustCall(t, tuneArgs("tuned-"+run, "stage3", "--features", run)...)
		told := strings.Contains(stderr, "of the 3 stored views of each image only the centre is used")
		if told != (run == "three") {
			t.Errorf("%s: %s", run, stderr)
		}
	}
	if readFile(t, "tuned-one", train.MetricsFile) != readFile(t, "tuned-three", train.MetricsFile) {
		t.Error("the other views affect fine-tuning")
	}
	mustCall(t, "eval", "tuned-three")
	fails(t, 1, "holds one view of each image", "eval", "tuned-three", "--view", "mean")
}
