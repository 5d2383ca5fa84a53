package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"winnow/run/folder"
	"winnow/train"
)

// A fine-tuning that finds its learning rates equals one with these rates given: the range tests restore all that they
// change, including statistics of batch normalization. Its page draws the curves.
func TestFoundRatesOfFinetuning(t *testing.T) {
	atelier(t)
	t.Setenv("WINNOW_MODELS", filepath.Join(t.TempDir(), "models.json"))
	narrow := strings.NewReplacer("out: 16", "out: 8", "out: 32", "out: 16", "out: 64", "out: 32")
	write(t, "narrow.yaml", narrow.Replace(mustRun(t, "winnow models architectures cifar_resnet8")))
	mustRun(t, "winnow models new ranged --arch narrow.yaml --seed 3")
	args := func(out, head, network string) []string {
		return tuneArgs(out, "all", "--model", "ranged", "--augment", "digits", "--set", "finetune.start=4 steps",
			"--set", "finetune.batch_norm=train", "--set", "finetune.momentum=0.5",
			"--lr", head, "--backbone-lr", network)
	}
	const found, given = "found", "given"
	_, stderr := mustCall(t, args(found, "auto", "auto")...)
	opened, err := folder.Read(found, false)
	if err != nil {
		t.Fatal(err)
	}
	head, network := opened.Config.Solver.LR, opened.Config.BackboneSolver.LR
	if want := fmt.Sprintf(": head %v, network %v", head.Value, network.Value); !strings.Contains(stderr,
		"learning rates by range tests of ") || !strings.Contains(stderr, want) {
		t.Errorf("standard error lacks %q:\n%s", want, stderr)
	}
	mustCall(t, args(given, head.String(), network.String())...)
	sameFiles(t, found, given, folder.BestHeadFile, folder.LastHeadFile, folder.LastBackboneFile, train.MetricsFile,
		train.CheckpointFile, folder.ConfigFile)
	curve, err := folder.ReadRange(found)
	if n := len(curve); err != nil || n < 60 || curve[0].Weights != train.HeadGroup ||
		curve[n-1].Weights != train.BackboneGroup {
		t.Errorf("%v: %d points of curves", err, n)
	}
	mustRun(t, "winnow report found --out page.html")
	if page := readFile(t, "page.html"); !strings.Contains(page, "Range tests of learning rates") {
		t.Error("the page lacks the range tests")
	}
	if code, _, stderr := call(t.Context(), "train", "--manifest", "noisy.csv", "--features", "found/features", "--lr",
		"fast", "--out", "x"); code == 0 || !strings.Contains(stderr,
		`--lr: found "fast", expected a finite number from 0, or auto`) {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
