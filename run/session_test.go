package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/run/config"
	"winnow/run/folder"
)

// A program without a command line trains from files to a folder that opens again, and is told what it may want to know.
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
	cfg.Head.Out, cfg.Length, cfg.Bank.Size = 4, config.Steps(3), 24
	cfg.Sampler.Classes, cfg.Sampler.Images = 3, 2
	if err := os.WriteFile(cfg.Data.Manifest, []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	var notes []string
	o := Options{Dir: filepath.Join(dir, "run"), Winnow: "test", Note: func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }}
	result, err := Train(t.Context(), cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	if result.Steps != 3 || result.BestStep != -1 || result.Validation != nil || !strings.Contains(strings.Join(notes, "\n"), "12 images of 3 classes") {
		t.Errorf("%+v\n%q", result, notes)
	}
	opened, err := folder.Read(o.Dir, false)
	if err != nil || opened.Head.Config().Out != 4 || opened.Config.Length != config.Steps(3) {
		t.Errorf("%v: %+v", err, opened)
	}
	if facts, err := folder.ReadFacts(o.Dir); err != nil || facts.Features != cfg.Data.Features || facts.Images != 12 || facts.Winnow != "test" {
		t.Errorf("%v: %+v", err, facts)
	}
	if _, err := Train(t.Context(), cfg, o); err == nil || !strings.Contains(err.Error(), "there is a run in this folder already") {
		t.Errorf("a second run in the folder: %v", err)
	}
	o.Overwrite = true
	if _, err := Train(t.Context(), cfg, o); err != nil {
		t.Error(err)
	}
}
