package runner

import (
	"math"
	"slices"
	"strings"
	"testing"

	"winnow/papers/studies"
)

// A choice of the head's rate sets only the head's on stored features. For a network it scales every rate, keeping the
// ratios of the recipe or the settings.
func TestChoicesOfRates(t *testing.T) {
	s, err := studies.Find("bspml-table2")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, row, finetune  string
		set                  []string
		backbone, parameters float64 // for a head's rate of 1
	}{
		{"a network", "BSPML", "all", nil, 5e-6, 1e-2},
		{"one rate for all", "BSPML", "all", []string{"backbone_solver.lr=0.5", "solver.lr=0.5"}, 1, 2e-2},
		{"the loss's parameters", "Proxy-Anchor", "all", []string{"backbone_solver.lr=1"}, 1, 100},
	} {
		for choice, rate := range []float64{.01, .03, .1, .3, 1, 3} {
			r := reproduction{Options: Options{Study: s, Finetune: c.finetune, Set: c.set}}
			cfg, err := r.resolveCellConfig(
				studies.Cell{Row: slices.Index(s.RowNames(), c.row), Seed: 1, Choice: choice + 1},
			)
			if err != nil {
				t.Fatal(err)
			}
			for which, rates := range map[string][2]float64{
				"head": {cfg.Solver.LR.Value, rate}, "backbone": {cfg.BackboneSolver.LR.Value, rate * c.backbone},
				"loss": {cfg.LossSolver.LR.Value, rate * c.parameters},
			} {
				if found, want := rates[0], rates[1]; math.Abs(found-want) > 1e-12*want {
					t.Errorf("%s, rate %v: the rate of the %s is %v, expected %v", c.name, rate, which, found, want)
				}
			}
		}
	}
	r := reproduction{Options: Options{Study: s}}
	cfg, err := r.resolveCellConfig(studies.Cell{Row: slices.Index(s.RowNames(), "Proxy-Anchor"), Seed: 1, Choice: 1})
	if err != nil || cfg.Solver.LR.Value != .01 || cfg.LossSolver.LR.Value != 100 {
		t.Errorf("a head: %v, %v, %v", cfg.Solver.LR, cfg.LossSolver.LR, err)
	}
}

// A setting that the study chooses is refused; for a network, a rate may be set, as its ratio.
func TestChoicesRefuse(t *testing.T) {
	s, err := studies.Find("bspml-table2")
	if err != nil {
		t.Fatal(err)
	}
	check := func(finetune string, set ...string) error {
		r := reproduction{Options: Options{Study: s, Finetune: finetune, Set: set}}
		return r.checkChoices()
	}
	for _, set := range []string{"solver.lr=1", "MS:solver.lr=1"} {
		if err := check("", set); err == nil || !strings.Contains(err.Error(), "by validation: expected no setting") {
			t.Errorf("%s: %v", set, err)
		}
		if err := check("all", set); err != nil {
			t.Errorf("%s of a network: %v", set, err)
		}
	}
	if err := check("", "solver.momentum=0.9", "frozen:solver.lr=1"); err != nil {
		t.Error(err)
	}
}

// Rows that are not trained ignore settings of batches and losses, but not of the head, whose size whitening uses.
func TestSettingsOfUntrainedRows(t *testing.T) {
	s, err := studies.Find("sclrhe-table3")
	if err != nil {
		t.Fatal(err)
	}
	r := reproduction{Options: Options{Study: s, Set: []string{"sampler.rows=128", "head.out=32"}}}
	for i, row := range s.RowNames() {
		cfg, err := r.resolveCellConfig(studies.Cell{Row: i, Column: 1, Seed: 1})
		if err != nil || cfg.Head.Out != 32 || (cfg.Sampler.Rows == 128) != (s.Rows[i].Recipe != "") {
			t.Errorf("%s: head of %d, batches of %d: %v", row, cfg.Head.Out, cfg.Sampler.Rows, err)
		}
	}
}
