package runner

import (
	"math"
	"slices"
	"strings"
	"testing"

	"winnow/papers/studies"
)

// A choice of the head's rate is the head's alone on stored features; of a network it moves every rate by as much, from the
// ratio that the recipe or --set has.
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
			cfg, err := r.config(studies.Cell{Row: slices.Index(s.RowNames(), c.row), Seed: 1, Choice: choice + 1})
			if err != nil {
				t.Fatal(err)
			}
			near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*b }
			if !near(cfg.Solver.LR.Value, rate) || !near(cfg.BackboneSolver.LR.Value, rate*c.backbone) || !near(cfg.LossSolver.LR.Value, rate*c.parameters) {
				t.Errorf("%s, rate %v: found %v, %v, %v, expected %v and %v times it", c.name, rate, cfg.Solver.LR, cfg.BackboneSolver.LR, cfg.LossSolver.LR, c.backbone, c.parameters)
			}
		}
	}
	r := reproduction{Options: Options{Study: s}}
	cfg, err := r.config(studies.Cell{Row: slices.Index(s.RowNames(), "Proxy-Anchor"), Seed: 1, Choice: 1})
	if err != nil || cfg.Solver.LR.Value != .01 || cfg.LossSolver.LR.Value != 100 {
		t.Errorf("a head: %v, %v, %v", cfg.Solver.LR, cfg.LossSolver.LR, err)
	}
}

// What a study chooses is not set beside it; of a network a rate that is set is its ratio.
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

// Settings of batches and losses are not those of rows that are not trained; those of the head are, whose size whitening has.
func TestSettingsOfUntrainedRows(t *testing.T) {
	s, err := studies.Find("sclrhe-table3")
	if err != nil {
		t.Fatal(err)
	}
	r := reproduction{Options: Options{Study: s, Set: []string{"sampler.rows=128", "head.out=32"}}}
	for i, row := range s.RowNames() {
		cfg, err := r.config(studies.Cell{Row: i, Column: 1, Seed: 1})
		if err != nil || cfg.Head.Out != 32 || (cfg.Sampler.Rows == 128) != (s.Rows[i].Recipe != "") {
			t.Errorf("%s: head of %d, batches of %d: %v", row, cfg.Head.Out, cfg.Sampler.Rows, err)
		}
	}
}
