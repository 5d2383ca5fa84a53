package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/internal/lock"
	"winnow/run/config"
	"winnow/run/extraction"
	"winnow/run/folder"
)

// A Go program trains from files into a folder that can be opened again, and receives notes.
func TestTrainLeavesAFolder(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	manifest := "path,label,split\n"
	for i := range 12 {
		paths = append(paths, fmt.Sprintf("%d.png", i))
		manifest += fmt.Sprintf("%d.png,class%d,train\n", i, i%3)
	}
	cfg := config.Default()
	cfg.Data = config.Data{Manifest: filepath.Join(dir, "m.csv"), Features: storeOf(t, paths, nil)}
	cfg.Head.Out, cfg.Length, cfg.Bank.Size = 4, config.LastsSteps(3), 24
	cfg.Sampler.Classes, cfg.Sampler.Images = 3, 2
	if err := os.WriteFile(cfg.Data.Manifest, []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	var notes []string
	o := Options{Dir: filepath.Join(dir, "run"), Host: extraction.Host{Winnow: "test"},
		Note: func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }}
	out, err := Train(t.Context(), cfg, Input{}, o)
	result := out.Summary
	if err != nil {
		t.Fatal(err)
	}
	if result.Steps != 3 || result.BestStep != -1 || result.Validation != nil ||
		!strings.Contains(strings.Join(notes, "\n"), "12 images of 3 classes") {
		t.Errorf("%+v\n%q", result, notes)
	}
	opened, err := folder.Read(o.Dir, false)
	if err != nil || opened.Head.Config().Out != 4 || opened.Config.Length != config.LastsSteps(3) {
		t.Errorf("%v: %+v", err, opened)
	}
	if facts, err := folder.ReadFacts(o.Dir); err != nil || facts.Features != cfg.Data.Features || facts.Images != 12 ||
		facts.Winnow != "test" {
		t.Errorf("%v: %+v", err, facts)
	}
	if _, err := Train(t.Context(), cfg, Input{}, o); err == nil ||
		!strings.Contains(err.Error(), "there is a run in this folder already") {
		t.Errorf("a second run in the folder: %v", err)
	}
	o.Overwrite = true
	if _, err := Train(t.Context(), cfg, Input{}, o); err != nil {
		t.Error(err)
	}
}

// The result names the patience that the automatic length chose.
func TestChosenPatience(t *testing.T) {
	dir := t.TempDir()
	cfg, o := trainable(t, dir, 1)
	manifest, err := os.ReadFile(cfg.Data.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(manifest)), "\n")
	for i := 1; i <= 6; i++ {
		rows[i] = strings.ReplaceAll(rows[i], ",train", ",val")
	}
	if err := os.WriteFile(cfg.Data.Manifest, []byte(strings.Join(rows, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg.Length, cfg.Filter.Rate = config.AutoLength, config.GivenRate(0.1)
	out, err := Train(t.Context(), cfg, Input{}, o)
	result := out.Summary
	if err != nil {
		t.Fatal(err)
	}
	read, err := folder.Read(o.Dir, false)
	if err != nil || result.Patience < 1 || read.Config.Validation.Patience != result.Patience {
		t.Fatalf("%v: %d validations, and %d in the run's configuration", err, result.Patience,
			read.Config.Validation.Patience)
	}
	var text strings.Builder
	result.Stopped = true
	if result.Write(&text); !strings.Contains(text.String(), fmt.Sprintf("the last %d validations", result.Patience)) {
		t.Error(text.String())
	}
}

// trainable returns a configuration with data in dir, and options to train it there.
func trainable(t *testing.T, dir string, seed uint64) (config.Run, Options) {
	t.Helper()
	var paths []string
	manifest := "path,label,split\n"
	for i := range 12 {
		paths = append(paths, fmt.Sprintf("%d.png", i))
		manifest += fmt.Sprintf("%d.png,class%d,%s\n", i, i%3, []string{"train", "test"}[i/9])
	}
	cfg := config.Default()
	cfg.Seed, cfg.Data = seed, config.Data{Manifest: filepath.Join(dir, "m.csv"), Features: filepath.Join(dir, "store")}
	cfg.Head.Out, cfg.Length, cfg.Bank.Size = 4, config.LastsSteps(3), 24
	cfg.Sampler.Classes, cfg.Sampler.Images = 3, 2
	if _, err := os.Stat(cfg.Data.Manifest); err != nil {
		if err := errors.Join(os.WriteFile(cfg.Data.Manifest, []byte(manifest), 0o644),
			os.Rename(storeOf(t, paths, nil), cfg.Data.Features)); err != nil {
			t.Fatal(err)
		}
	}
	return cfg, Options{Dir: filepath.Join(dir, "runs", fmt.Sprint(seed)), Host: extraction.Host{Winnow: "test"}}
}

// While a training runs, no other training can use its folder.
func TestOneTrainingAFolder(t *testing.T) {
	cfg, o := trainable(t, t.TempDir(), 1)
	first, err := Resolve(t.Context(), cfg, Input{}, o)
	if err != nil {
		t.Fatal(err)
	}
	other := o
	other.Overwrite = true
	_, second := Resolve(t.Context(), cfg, Input{}, other)
	if _, err := first.Run(t.Context()); errors.Join(err, first.Close()) != nil {
		t.Fatal(err)
	}
	if held := new(lock.Held); !errors.As(second, &held) || held.PID != os.Getpid() || held.Dir != o.Dir {
		t.Errorf("a second training in the folder: %v", second)
	}
	if _, err := folder.Read(o.Dir, false); err != nil {
		t.Error(err)
	}
}

// Reading a folder fails if its head and its configuration come from different runs. It succeeds for a restarted run,
// and for a run whose files contain no checksum.
func TestHeadOfAnotherRun(t *testing.T) {
	dir := t.TempDir()
	cfg, o := trainable(t, dir, 1)
	other, p := trainable(t, dir, 2)
	for range 2 {
		for _, err := range []error{second(Train(t.Context(), cfg, Input{}, o)),
			second(Train(t.Context(), other, Input{}, p))} {
			if err != nil {
				t.Fatal(err)
			}
		}
		o.Overwrite, p.Resume = true, true
	}
	for _, last := range []bool{false, true} {
		if _, err := folder.Read(o.Dir, last); err != nil {
			t.Errorf("the run's own head: %v", err)
		}
	}
	if err := os.Rename(filepath.Join(p.Dir, folder.BestHeadFile),
		filepath.Join(o.Dir, folder.BestHeadFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Read(o.Dir, false); err == nil || !strings.Contains(err.Error(), "is of another run") {
		t.Errorf("the head of another run: %v", err)
	}
	name := filepath.Join(o.Dir, folder.ConfigFile)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n")
	if err := os.WriteFile(name, []byte(rest), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Read(o.Dir, false); err == nil || !strings.Contains(err.Error(), "first lines have changed") {
		t.Errorf("a configuration with a changed first line: %v", err)
	}
	_, rest, _ = strings.Cut(rest, "\n")
	if err := os.WriteFile(name, []byte(rest), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Read(o.Dir, false); err != nil {
		t.Errorf("a run without checksums: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }
