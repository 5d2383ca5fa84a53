package folder_test

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
	"winnow/run/folder"
)

// A folder with a run is not overwritten by accident. Clear removes the run's files and no other files.
func TestPrepareAndClear(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "run")
	prepare := func(resume, overwrite bool) error {
		held, _, err := folder.Prepare(dir, resume, overwrite)
		if err == nil {
			_, _, second := folder.Prepare(dir, resume, overwrite)
			if another := new(lock.Held); !errors.As(second, &another) || !strings.Contains(hint.Of(second), "--out") {
				t.Errorf("while a training holds the folder: %v (%s)", second, hint.Of(second))
			}
			err = held.Close()
		}
		return err
	}
	if err := prepare(false, false); err != nil {
		t.Fatal(err)
	}
	ours := append(folder.Files(), "events.out.tfevents.123.host")
	for _, name := range append(slices.Clone(ours), "notes.txt", "head.winnow.bak") {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	early := filepath.Join(t.TempDir(), "early") // failed before its first checkpoint
	for _, name := range []string{folder.ConfigFile, folder.FactsFile, "metrics.jsonl", "notes.txt"} {
		file := filepath.Join(early, name)
		if err := errors.Join(os.MkdirAll(early, 0o755), os.WriteFile(file, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"", folder.BestHeadFile, "checkpoint.winnow"} {
		if file != "" {
			if err := os.WriteFile(filepath.Join(early, file), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if held, stops, err := folder.Prepare(early, false, false); err != nil || held.Close() != nil ||
			stops != (file != "") || folder.Begun(early) {
			t.Errorf("a run with %q: %v, stops %v", file, err, stops)
		}
	}
	if _, err := os.Stat(filepath.Join(early, "notes.txt")); err != nil {
		t.Error(err)
	}
	if err := prepare(false, false); err == nil || !strings.Contains(err.Error(), "is a run in this folder already") ||
		!strings.Contains(hint.Of(err), "--resume") {
		t.Errorf("%v (%s)", err, hint.Of(err))
	}
	if err := errors.Join(prepare(true, false), prepare(false, true), folder.Clear(dir)); err != nil {
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

// run.json and result.json are read back as written.
func TestFactsAndResult(t *testing.T) {
	dir := t.TempDir()
	if folder.Begun(dir) {
		t.Error("Begun is true for an empty folder")
	}
	facts := folder.Facts{Winnow: "1", Seed: 7, Classes: []string{"<a & b>", "c"},
		LeftOut: []lookup.LeftOut{{Path: "x", Reason: "y"}}, NoiseRate: &folder.NoiseRate{Method: "ranks", Rate: 0.25}}
	if err := folder.Begin(dir, config.Default(), "", facts); err != nil {
		t.Fatal(err)
	}
	got, err := folder.ReadFacts(dir)
	if diff := cmp.Diff(facts, got); err != nil || diff != "" || !folder.Begun(dir) {
		t.Errorf("%v\n%s", err, diff)
	}
	if cfg, err := folder.Settings(dir); err != nil ||
		cfg.Seed != config.Default().Seed {
		t.Errorf("config.yaml: %v", err)
	}
	if _, err := folder.ReadResult(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the result of an unfinished run: %v", err)
	}
	result := folder.Result{Run: dir, Steps: 3, BestStep: -1, Verdict: "so"}
	if err := folder.Finish(dir, result); err != nil {
		t.Fatal(err)
	}
	if again, err := folder.ReadResult(dir); err != nil || cmp.Diff(result, again) != "" {
		t.Errorf("%v\n%s", err, cmp.Diff(result, again))
	}
	if err := os.WriteFile(filepath.Join(dir, folder.FactsFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.ReadFacts(dir); err == nil || !strings.Contains(err.Error(), folder.FactsFile+": ") {
		t.Errorf("a truncated file: %v", err)
	}
}
