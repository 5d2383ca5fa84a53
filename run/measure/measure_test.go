package measure_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/run/measure"
)

const (
	training, tests = 60, 12
	unreadable      = training + tests - 1 // the last test image
)

// trained writes a manifest and a feature store, trains a head and opens the run with the splits that o needs. The
// images form three clusters, one for each class. Every tenth training image has the label of the next class, and the
// test split has an image without a label.
func trained(t *testing.T, o measure.Options) *folder.Run {
	t.Helper()
	dir := t.TempDir()
	cfg := config.Default()
	cfg.Data = config.Data{Manifest: filepath.Join(dir, "m.csv"), Features: filepath.Join(dir, "store")}
	cfg.Head.Out, cfg.Length, cfg.Bank.Size, cfg.Sampler.Classes, cfg.Sampler.Images = 4, config.LastsSteps(3), 24, 3, 2
	cfg.Sampler.Variant = config.Groups

	manifest, paths := "path,label,true_label,split\n", []string(nil)
	x := features.NewMatrix(training+tests, 8)
	for i := range training + tests {
		class, label, split := i%3, fmt.Sprint("class", i%3), datasets.Train
		switch {
		case i >= training:
			if split = datasets.Test; i == training {
				label = ""
			}
		case i%10 == 0:
			label = fmt.Sprint("class", (class+1)%3)
		}
		paths = append(paths, fmt.Sprintf("%d.png", i))
		manifest += fmt.Sprintf("%s,%s,class%d,%s\n", paths[i], label, class, split)
		for j := range 8 {
			x.Data[8*i+j] = float32((i*(j+3)*7)%11)/40 + 0.1
		}
		x.Data[8*i+class] += 1
	}
	if err := os.WriteFile(cfg.Data.Manifest, []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	key := features.Key{Model: strings.Repeat("a", 64), Output: "pool", Preprocessing: "{}", Views: []string{"center"}}
	w, err := features.Create(cfg.Data.Features, features.Plan{Key: key, Paths: paths, Dim: 8, Batch: len(paths),
		Device: "cpu", Winnow: "test"}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Append(x, []features.Bad{{Row: unreadable, Path: paths[unreadable], Reason: "torn"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "run")
	if _, err := run.Train(t.Context(), cfg, run.Input{}, run.Options{Dir: to}); err != nil {
		t.Fatal(err)
	}
	r, err := folder.Open(t.Context(), to, folder.Options{Splits: o.Splits()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// chosen returns metrics with their default settings.
func chosen(t *testing.T, names string) []measure.Metric {
	t.Helper()
	var list []measure.Metric
	for name := range strings.SplitSeq(names, ",") {
		m, err := measure.NewMetric(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

// Only metrics that learn classes need a split to fit on.
func TestSplits(t *testing.T) {
	for names, want := range map[string]string{"retrieval": "[test]", "retrieval,linear-probe": "[test train]"} {
		if got := fmt.Sprint(measure.Options{Split: datasets.Test, Metrics: chosen(t, names)}.Splits()); got != want {
			t.Errorf("%s: found %s, expected %s", names, got, want)
		}
	}
	if got := (measure.Options{Fit: "other", Metrics: chosen(t, "linear-probe")}).Splits(); !slices.Equal(got,
		[]string{datasets.Test, datasets.Query, datasets.Gallery, "other"}) {
		t.Errorf("found %v", got)
	}
}

func TestRun(t *testing.T) {
	o := measure.Options{Metrics: chosen(t, "retrieval,nearest-class-mean"), MaxMem: 256 << 20, Note: t.Logf}
	r := trained(t, o)
	got, err := measure.Run(t.Context(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	if got.Split != datasets.Test || got.N != tests-2 || got.Unlabelled != 1 || len(got.LeftOut) != 1 ||
		got.LeftOut[0].Path != fmt.Sprintf("%d.png", unreadable) {
		t.Errorf("%s: %d queries, %d unlabelled, left out %+v", got.Split, got.N, got.Unlabelled, got.LeftOut)
	}
	mean := got.Metrics["nearest-class-mean"]
	if got.Frozen.PrecisionAt1 != 1 || mean.FittedOn != datasets.Train || mean.Seed != nil ||
		mean.Frozen.(eval.Accuracy).Fitted != training {
		t.Errorf("three clusters: frozen P@1 %v, %+v", got.Frozen.PrecisionAt1, mean)
	}
	var text strings.Builder
	_ = got.Write(&text)
	for _, want := range []string{
		"10 queries, 1 images without a label left out, 1 unreadable images left out\n" + got.Verdict + "\n",
		"10 images, fitted on 60 of train in 3 classes\n", "nearest-class-mean ", "\nwhitened ",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("expected %q in\n%s", want, text.String())
		}
	}
	o.Fit = datasets.Test
	if _, err := measure.Run(t.Context(), r, o); err == nil ||
		!strings.HasPrefix(err.Error(), "fit: test is the split to measure on") {
		t.Errorf("fitting on the measured split: found %v", err)
	}
	o.Split = datasets.Validation
	if _, err := measure.Run(t.Context(), r, o); err == nil ||
		!strings.Contains(err.Error(), "no readable image in the split "+datasets.Validation) {
		t.Errorf("an empty split: found %v", err)
	}
}

// A query needs a match: another image with its label among the queries, or in the gallery if there is one.
func TestAskers(t *testing.T) {
	of := folder.Asked[features.Set]{Query: features.Set{Labels: []int{0, 1, 0, 2}, IDs: []int{0, 1, 2, 3}}}
	if rows := measure.Askers(of); !slices.Equal(rows, []int{0, 2}) {
		t.Errorf("queries against each other: found %v", rows)
	}
	of.Gallery = &features.Set{Labels: []int{2, 1, 1}, IDs: []int{4, 5, 6}}
	if rows := measure.Askers(of); !slices.Equal(rows, []int{1, 3}) {
		t.Errorf("queries against a gallery: found %v", rows)
	}
}

// If a manifest has no test split and no queries, the default is its validation split.
func TestValidationWithoutTest(t *testing.T) {
	r := trained(t, measure.Options{})
	for i := range r.Manifest.Samples {
		if s := &r.Manifest.Samples[i]; s.Split == datasets.Test {
			s.Split = datasets.Validation
		}
	}
	var notes []string
	r.Host.Note = func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	got, err := measure.Run(t.Context(), r, measure.Options{Metrics: chosen(t, "retrieval"), MaxMem: 256 << 20,
		Note: t.Logf})
	if err != nil || got.Split != datasets.Validation || got.N != tests-2 || len(notes) != 1 ||
		!strings.Contains(notes[0], "no test split") {
		t.Errorf("%v, %+v, notes %q", err, got, notes)
	}
	for i := range r.Manifest.Samples {
		r.Manifest.Samples[i].Split = datasets.Train
	}
	if _, err := measure.Run(t.Context(), r, measure.Options{Metrics: chosen(t, "retrieval"),
		Note: t.Logf}); err == nil ||
		!strings.Contains(err.Error(), "none of the splits test, query and validation; it has train") {
		t.Errorf("a manifest with only training images: %v", err)
	}
}
