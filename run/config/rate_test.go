package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/run/config"
	"winnow/train"
)

func TestRate(t *testing.T) {
	c := parseText(t, "seed: 1\n") // the default
	if !c.Filter.Rate.Auto || !c.NeedsRate() || !c.Peers.Rate.Auto {
		t.Errorf("filter %v, peers %v", c.Filter.Rate, c.Peers.Rate)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	text := string(must(config.Marshal(c)))
	if !strings.Contains(text, "  rate: auto\n") {
		t.Errorf("written as\n%s", text)
	}
	if diff := cmp.Diff(c, parseText(t, text)); diff != "" {
		t.Error(diff)
	}
	if flat := config.Flatten(c)["filter.rate"]; flat != "auto" {
		t.Errorf("flat as %q", flat)
	}
	c.SetRate(0.25)
	if c.Filter.Rate.Share != 0.25 || c.NeedsRate() || c.Filter.In(1).Rate != 0.25 {
		t.Errorf("after the estimate %v", c.Filter.Rate)
	}
	if c.SetRate(0.5); c.Filter.Rate.Share != 0.25 {
		t.Error("an estimate replaced a given rate")
	}
	if text := string(must(config.Marshal(c))); !strings.Contains(text, "  rate: 0.25\n") {
		t.Errorf("written as\n%s", text)
	}
	if err := parseText(t, "filter: {rate: auto}\n").Filter.In(1).Validate(); err == nil {
		t.Error("a filter accepted a rate that is not estimated yet")
	}
	none := parseText(t, "filter: {rate: auto, scorer: none}\n")
	if !none.NeedsRate() {
		t.Error("a run without a filter does not estimate the rate, which its audit needs")
	}
	peers := parseText(t, "method: co-teaching\npeers: {rate: auto}\n")
	if err := peers.Validate(); err != nil || !peers.NeedsRate() {
		t.Errorf("%v, needs a rate: %v", err, peers.NeedsRate())
	}
	if back := parseText(t, "filter: {rate: auto}\n", "filter.rate=0.1"); back.Filter.Rate.Share != 0.1 {
		t.Errorf("a number does not override auto: %v", back.Filter.Rate)
	}
	for _, bad := range []string{"many", "-0.1", "-1", "inf", "nan"} {
		if _, err := config.Parse("", nil, []string{"filter.rate=" + bad}); err == nil ||
			!strings.Contains(err.Error(), "expected a share from 0 to below 1, or auto") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestSwapIsOfTheBatch(t *testing.T) {
	text := "losses: [{name: triplet, against: %s, settings: {swap: true}}]\n"
	c := parseText(t, strings.Replace(text, "%s", "batch", 1))
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	c = parseText(t, strings.Replace(text, "%s", "bank", 1))
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "losses.0.settings.swap: found true "+
		"against the bank, expected false") {
		t.Error(err)
	}
}

// Learning rates of head and backbone can be left to a range test.
func TestAutoLearningRate(t *testing.T) {
	c := parseText(t, "solver: {lr: auto, name: sgd}\nschedule: {warm_up: 3 steps, lr_min: 1e-4}\nfinetune: "+
		"{weights: all}\n", "backbone_solver.lr=auto")
	if err := c.Validate(); err != nil || c.Solver.LR != (train.LearningRate{Choose: train.ByTest}) ||
		c.BackboneSolver.LR != (train.LearningRate{Choose: train.ByTest}) || !c.NeedsLR() {
		t.Errorf("%v: %v, %v", err, c.Solver.LR, c.BackboneSolver.LR)
	}
	text := string(must(config.Marshal(c)))
	if strings.Count(text, "  lr: auto\n") != 2 || config.Flatten(c)["solver.lr"] != "auto" {
		t.Errorf("written as\n%s", text)
	}
	if diff := cmp.Diff(c, parseText(t, text)); diff != "" {
		t.Error(diff)
	}
	if c.Solver.LR, c.BackboneSolver.LR = train.GivenLR(1e-3), train.GivenLR(1e-4); c.NeedsLR() ||
		!strings.Contains(string(must(config.Marshal(c))), "  lr: 0.0001\n") {
		t.Errorf("found rates are not written:\n%s", must(config.Marshal(c)))
	}
}
