package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/internal/hint"
	"winnow/internal/lock"
	"winnow/internal/lookup"
	"winnow/run/config"
)

// A folder with a run is not overwritten by accident; clearing it removes the run's files and nothing else.
func TestPrepareAndClear(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "run")
	prepare := func(resume, overwrite bool) error {
		held, err := Prepare(dir, resume, overwrite)
		if err == nil {
			_, second := Prepare(dir, resume, overwrite)
			if another := new(lock.Held); !errors.As(second, &another) || !strings.Contains(hint.Of(second), "--out") {
				t.Errorf("beside a training: %v (%s)", second, hint.Of(second))
			}
			err = held.Close()
		}
		return err
	}
	if err := prepare(false, false); err != nil {
		t.Fatal(err)
	}
	ours := append(Files(), "events.out.tfevents.123.host")
	for _, name := range append(slices.Clone(ours), "notes.txt", "head.winnow.bak") {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	early := filepath.Join(t.TempDir(), "early") // failed before its first checkpoint
	for _, name := range []string{ConfigFile, FactsFile, "metrics.jsonl", "notes.txt"} {
		file := filepath.Join(early, name)
		if err := errors.Join(os.MkdirAll(early, 0o755), os.WriteFile(file, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if held, err := Prepare(early, false, false); err != nil || held.Close() != nil || Begun(early) {
		t.Errorf("a run without a checkpoint: %v", err)
	}
	if _, err := os.Stat(filepath.Join(early, "notes.txt")); err != nil {
		t.Error(err)
	}
	if err := prepare(false, false); err == nil || !strings.Contains(err.Error(), "is a run in this folder already") ||
		!strings.Contains(hint.Of(err), "--resume") {
		t.Errorf("%v (%s)", err, hint.Of(err))
	}
	if err := errors.Join(prepare(true, false), prepare(false, true), Clear(dir)); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 3 || left[0].Name() != lock.Name || left[1].Name() != "head.winnow.bak" ||
		left[2].Name() != "notes.txt" {
		t.Errorf("left are %v, %v", left, err)
	}
	if err := prepare(false, false); err != nil {
		t.Error(err)
	}
}

// The first and last files of a run are read as written.
func TestFactsAndResult(t *testing.T) {
	dir := t.TempDir()
	if Begun(dir) {
		t.Error("begun before it began")
	}
	facts := Facts{Winnow: "1", Seed: 7, Classes: []string{"<a & b>", "c"},
		LeftOut: []lookup.LeftOut{{Path: "x", Reason: "y"}}, NoiseRate: &NoiseRate{Method: "ranks", Rate: 0.25}}
	if err := Begin(dir, config.Default(), "", facts); err != nil {
		t.Fatal(err)
	}
	got, err := ReadFacts(dir)
	if diff := cmp.Diff(facts, got); err != nil || diff != "" || !Begun(dir) {
		t.Errorf("%v\n%s", err, diff)
	}
	if cfg, err := config.Load(filepath.Join(dir, ConfigFile), nil); err != nil || cfg.Seed != config.Default().Seed {
		t.Errorf("config.yaml: %v", err)
	}
	if _, err := ReadResult(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before the end: %v", err)
	}
	result := Result{Run: dir, Steps: 3, BestStep: -1, Verdict: "so"}
	if err := Finish(dir, result); err != nil {
		t.Fatal(err)
	}
	if again, err := ReadResult(dir); err != nil || cmp.Diff(result, again) != "" {
		t.Errorf("%v\n%s", err, cmp.Diff(result, again))
	}
	if err := os.WriteFile(filepath.Join(dir, FactsFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFacts(dir); err == nil || !strings.Contains(err.Error(), FactsFile+": ") {
		t.Errorf("half a file: %v", err)
	}
}
