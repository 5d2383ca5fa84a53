package main

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"winnow/reproduce"
)

// TestReproduce runs two rows of a study on a few drawn characters, one at a time and several at once: the numbers are
// the same to the bit, what is done is not run again, and a cell that was lost is.
func TestReproduce(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for seconds")
	}
	at := filepath.Join(t.TempDir(), "a")
	args := func(dir string, more ...string) []string {
		return append([]string{"reproduce", "prism-table1", "--data", "glyphs", "--classes", "24", "--images", "10", "--out", dir,
			"--rows", "MCL", "--columns", "sym 20", "--seeds", "2", "--set", "length=30 steps", "--set", "filter.avgsim=5 steps"}, more...)
	}
	code, out, stderr := call(t.Context(), args(at, "--jobs", "1")...)
	if code != 0 || !strings.Contains(out, "claims (paired t-test over the seeds)") || !strings.Contains(stderr, "0 done before, 1 at once") {
		t.Fatal(code, out, stderr)
	}
	cells := outcomes(t, at)
	if len(cells) < 4 {
		t.Fatalf("%d cells", len(cells))
	}
	for _, name := range []string{"report.txt", "report.md", "report.html", "results.csv"} {
		if info, err := os.Stat(filepath.Join(at, "prism-table1", name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if code, again, stderr := call(t.Context(), args(at)...); code != 0 || again != out || !strings.Contains(stderr, "6 done before") || strings.Contains(stderr, "1/6") {
		t.Errorf("%d\n%s\n%s", code, again, stderr)
	}
	other := filepath.Join(t.TempDir(), "b")
	if code, _, stderr := call(t.Context(), args(other, "--jobs", "4", "--quiet")...); code != 0 {
		t.Fatal(stderr)
	}
	if diff := cmp.Diff(cells, outcomes(t, other)); diff != "" {
		t.Errorf("several at once give other numbers: %s", diff)
	}
	lost := ""
	for lost = range cells {
		break
	}
	if err := os.WriteFile(filepath.Join(at, "cells", lost+".json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call(t.Context(), args(at)...); code != 1 || !strings.Contains(stderr, lost) {
		t.Errorf("%d %s", code, stderr)
	}
	if err := os.Remove(filepath.Join(at, "cells", lost+".json")); err != nil {
		t.Fatal(err)
	}
	if code, again, stderr := call(t.Context(), args(at)...); code != 0 || again != out || !strings.Contains(stderr, "1/1") {
		t.Errorf("%d\n%s\n%s", code, again, stderr)
	}
}

// outcomes are the cells of a folder by key, without their times.
func outcomes(t *testing.T, dir string) map[string]reproduce.Outcome {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "cells", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]reproduce.Outcome{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var o reproduce.Outcome
		if err := json.Unmarshal(text, &o); err != nil {
			t.Fatal(err)
		}
		o.Seconds = 0
		maps.DeleteFunc(o.Measures, func(name string, _ float64) bool { return name == measureSeconds })
		all[strings.TrimSuffix(filepath.Base(f), ".json")] = o
	}
	return all
}

// TestSettingsOf: --set is for all rows, or for those whose name it has before a colon.
func TestSettingsOf(t *testing.T) {
	flags := flag.NewFlagSet("reproduce", flag.ContinueOnError)
	if err := (&cli.StringSliceFlag{Name: "set"}).Apply(flags); err != nil {
		t.Fatal(err)
	}
	if err := flags.Parse([]string{"--set", "length=3 epochs", "--set", "tcl:selective.warm_up=1 epochs", "--set", "data.root=a:b"}); err != nil {
		t.Fatal(err)
	}
	r := reproduction{c: cli.NewContext(nil, flags, nil)}
	for name, want := range map[string][]string{
		"SupCon": {"length=3 epochs", "data.root=a:b"}, "TCL on frozen features": {"length=3 epochs", "selective.warm_up=1 epochs", "data.root=a:b"},
	} {
		if diff := cmp.Diff(want, r.settingsOf(reproduce.Row{Name: name})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestStudiesResolve: every study's recipes and settings are there and valid, and every measure can be measured.
func TestStudiesResolve(t *testing.T) {
	all, err := reproduce.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		r := reproduction{study: s}
		for _, m := range s.Measures {
			if !knownMeasure(m) {
				t.Errorf("%s: measure %q is unknown", s.Name, m)
			}
		}
		for i, row := range s.Rows {
			for j, column := range s.Columns {
				if row.Recipe == "" {
					continue
				}
				if _, err := r.config(reproduce.Cell{Row: i, Column: j, Seed: 1}); err != nil {
					t.Errorf("%s: %s, %s: %v", s.Name, row.Name, column.Name, err)
				}
				known := map[string]bool{"": true, trueLabels: true, givenLabels: true}
				for _, m := range noiseModels() {
					known[m] = true
				}
				if !known[column.Noise] {
					t.Errorf("%s: %s: noise %q is unknown", s.Name, column.Name, column.Noise)
				}
			}
		}
	}
}
