package runner

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/backbone"
	"winnow/backbone/ort"
	"winnow/datasets/glyphs"
	"winnow/datasets/location"
	"winnow/internal/testing/orttest"
	"winnow/models"
	"winnow/papers/studies"
	"winnow/run/extraction"
)

// drawnStudy returns the options of a study with one row, which trains a whole network on files with drawn characters.
// told counts the steps of the row's cell that were reported.
func drawnStudy(t *testing.T, study, row string, set ...string) (o Options, told *int) {
	t.Helper()
	orttest.Runtime(t)
	dir := t.TempDir()
	d, files, err := glyphs.New(glyphs.Config{Classes: 16, Images: 8, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	manifest, store := filepath.Join(dir, "manifest.csv"), filepath.Join(dir, "features")
	if err := glyphs.Write(t.Context(), d, files, filepath.Join(dir, "drawn"), manifest); err != nil {
		t.Fatal(err)
	}
	b, cut, err := extraction.OpenBackbone("glyphnet", models.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	e := extraction.Extraction{Out: store, Root: files, Paths: d.Paths(), Model: b, Cut: cut,
		Config: backbone.ExtractConfig{Preprocessing: b.Preprocessing, Batch: extraction.UsualBatch}}
	if _, err := e.Store(t.Context(), extraction.Host{}.Complete()); err != nil {
		t.Fatal(err)
	}
	s, err := studies.Find(study)
	if err != nil {
		t.Fatal(err)
	}
	s.Columns = slices.Clone(s.Columns[:1])
	s.Rows = slices.Clone(s.Rows)
	for i, other := range s.Rows { // only the given row runs
		if other.Untrained != "" {
			s.Rows[i].Skip = []string{s.Columns[0].Name}
		}
	}
	told = new(int)
	o = Options{
		Study: s, Data: []Source{{Manifest: location.At(manifest), Features: store}}, Dir: filepath.Join(dir, "out"),
		Seeds: []uint64{1}, Rows: []string{row}, Jobs: 1, Threads: 1,
		Finetune: "all", Root: location.At(filepath.Join(dir, "drawn")),
		Set: append([]string{
			"length=12 steps", "validation.every=4 steps", "checkpoint=3 steps", "head.out=24",
			"finetune.augment=digits",
		}, set...),
	}
	o.Runtime = func(threads int) (*ort.Runtime, error) { return ort.Open(ort.Config{Threads: threads}) }
	o.Watch = func(string) (func(done, total int), func()) { return func(int, int) { *told++ }, func() {} }
	return o, told
}

// outcomeOf returns the outcome of the only cell with a training. It removes the times.
func outcomeOf(t *testing.T, o Options) studies.Outcome {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(o.Dir, "cells", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	var out studies.Outcome
	text, err := os.ReadFile(files[0])
	if err = errors.Join(err, json.Unmarshal(text, &out)); err != nil || out.Steps != 12 {
		t.Fatal(out, err)
	}
	if out.Seconds <= 0 || out.Measures[seconds] <= 0 {
		t.Errorf("took %v s, trained %v s", out.Seconds, out.Measures[seconds])
	}
	out.Seconds = 0
	delete(out.Measures, seconds)
	maps.DeleteFunc(out.Settings, func(key, _ string) bool { return strings.HasPrefix(key, "data.") }) // paths differ
	return out
}

// A cell that trains a network and is killed at any step resumes from its checkpoint. It ends with the same bits as an
// uninterrupted cell, including the comparison of its filter with the true labels. Afterwards its files are removed,
// and it is not run again.
func TestUnfinishedCellGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for seconds")
	}
	metric := []string{"sampler.classes=6", "sampler.images=3", "filter.avgsim=4 steps", "bank.size=60"}
	for _, c := range []struct {
		study, row, state string
		set               []string
	}{
		{"prism-figure2", "vMF-Sim", studies.Last, metric},
		{"prism-table2", "SoftTriple + PRISM (vMF-Sim)", studies.Best, metric},
		{"prism-table2", "Co-teaching+", studies.Best,
			[]string{"sampler.rows=18", "peers.warm_up=2 epochs", "peers.gradual=2 epochs"}},
		{"prism-table2", "F-correction", studies.Best,
			[]string{"sampler.rows=18", "peers.transition=estimated", "peers.first_stage=7 steps"}},
		{"sclrhe-table3", "Sel-CL", studies.Best,
			[]string{"sampler.rows=18", "selective.second_stage=2 epochs", "selective.queue_start=1 epoch"}},
		{"sclrhe-table3", "TCL", studies.Last, []string{"sampler.rows=18", "selective.warm_up=1 epoch"}},
		{"sclrhe-table3", "SupCon", studies.Last, []string{"sampler.rows=18"}},
	} {
		ask := func() (Options, *int) {
			o, told := drawnStudy(t, c.study, c.row, c.set...)
			o.Study.State, o.Study.Measures = c.state, []string{"p@1"}
			if c.study == "prism-figure2" {
				o.Study.Measures = append(o.Study.Measures, filterAccuracy, auroc)
			}
			o.Study.Columns = o.Study.Columns[len(o.Study.Columns)-1:]
			o.Study.Columns[0].Noise, o.Study.Columns[0].Rate = "symmetric", 0.3
			return o, told
		}
		whole, _ := ask()
		if _, err := Run(t.Context(), whole); err != nil {
			t.Fatal(err)
		}
		want := outcomeOf(t, whole)
		kills := []int{9}
		if c.study == "prism-figure2" {
			kills = []int{5, 9}
		}
		for _, kill := range kills { // after the checkpoints of steps 3 and 6: a step is reported before it is saved
			o, told := ask()
			left := filepath.Join(t.TempDir(), "left")
			ctx, cancel := context.WithCancel(t.Context())
			watch := o.Watch
			o.Watch = func(what string) (func(done, total int), func()) {
				at, end := watch(what)
				return func(done, total int) {
					if at(done, total); *told == kill { // a kill leaves the current files on disk
						if err := os.CopyFS(left, os.DirFS(filepath.Join(o.Dir, "unfinished"))); err != nil {
							t.Error(err)
						}
						cancel()
					}
				}, end
			}
			if _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			unfinished := filepath.Join(o.Dir, "unfinished")
			if err := errors.Join(os.RemoveAll(unfinished), os.CopyFS(unfinished, os.DirFS(left))); err != nil {
				t.Fatal(err)
			}
			*told, o.Watch = 0, watch
			var notes []string
			o.Host.Note = func(format string, _ ...any) { notes = append(notes, format) }
			if _, err := Run(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, outcomeOf(t, o)); diff != "" {
				t.Errorf("%s, killed at step %d: %s", c.row, kill, diff)
			}
			if !strings.Contains(strings.Join(notes, "\n"), "resumes after step") || *told >= 12 {
				t.Errorf("%s, killed at step %d: %d steps reported: the cell started again", c.row, kill, *told)
			}
			if rest, err := os.ReadDir(unfinished); err != nil || len(rest) > 0 {
				t.Errorf("unfinished cells remain: %v %v", rest, err)
			}
			*told = 0
			if _, err := Run(t.Context(), o); err != nil || *told != 0 {
				t.Errorf("run again: %d steps, %v", *told, err)
			}
		}
	}
}
