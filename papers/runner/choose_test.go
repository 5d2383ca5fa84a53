package runner

import (
	"math"
	"slices"
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
