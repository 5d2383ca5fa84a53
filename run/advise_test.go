package run

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"winnow/run/config"
	"winnow/run/folder"
	"winnow/run/tuning"
	"winnow/train"
)

// TestAdvise: a training that was worth nothing gets the cause that its course shows, and one thing to try.
func TestAdvise(t *testing.T) {
	way := func(kept float64, scores ...float64) course {
		c := course{kept: kept, steps: 10}
		for i, s := range scores {
			c.validations = append(c.validations, train.Validation{Step: 10 * i, Score: s})
		}
		return c
	}
	tuned, head := config.Default(), config.Default()
	tuned.Finetune.Weights, tuned.Finetune.Augment, tuned.BackboneSolver.LR = "all", "prism", train.GivenLR(1e-3)
	tuned.Filter.Rate, head.Filter.Rate = config.GivenRate(0.2), config.GivenRate(0.2)
	still, unfiltered := tuned, tuned
	still.BackboneSolver.LR = train.GivenLR(0)
	unfiltered.Filter.Scorer = config.NoFilter
	ended := folder.Result{Steps: 20, Epochs: 2, BestStep: 10}
	for name, c := range map[string]struct {
		way   course
		cfg   config.Run
		r     folder.Result
		views *tuning.Views
		want  string
	}{
		"views far from evaluation": {way(0.8, 0.5, 0.4), tuned, ended, &tuning.Views{Own: 0.67, Others: 0.6},
			"finetune.augment=flip"},
		"near views": {way(0.8, 0.5, 0.4), tuned, ended, &tuning.Views{Own: 0.9, Others: 0.4},
			"backbone_solver.lr=0.0001"},
		"no rate": {way(0.8, 0.5, 0.5), still, ended, nil, "stood still"},
		"nothing to learn from": {way(0.8, 0.5, 0.5), tuned, folder.Result{Steps: 20, Idle: 15}, nil,
			"in 15 of 20 steps"},
		"a starving filter":  {way(0.2, 0.5, 0.5), tuned, ended, nil, "filter.warm_up"},
		"no filter":          {way(1, 0.5, 0.4), unfiltered, ended, nil, "filter.scorer=vmf"},
		"a head that drifts": {way(0.8, 0.5, 0.4), head, ended, nil, "try solver.lr=3e-05"},
		"not done": {way(0.8, 0.5, 0.55, 0.6), tuned, folder.Result{Steps: 20, Epochs: 2, BestStep: 20}, nil,
			"length=4 epochs"},
		"hardly moved":  {way(0.8, 0.5, 0.505, 0.5), tuned, ended, nil, "backbone_solver.lr=0.003"},
		"none of these": {way(0.8, 0.5, 0.55, 0.5), tuned, ended, nil, "winnow audit"},
	} {
		if got := adviseOnFailure(c.way, c.cfg, c.r, c.views); !strings.Contains(got, c.want) {
			t.Errorf("%s: found %q, expected it to say %q", name, got, c.want)
		}
	}
}

// TestReadCourse reads the metrics that a run writes.
func TestReadCourse(t *testing.T) {
	dir := t.TempDir()
	lines := `{"step":0,"epoch":0,"validation":0.5,"best":true}
{"step":1,"epoch":1,"rows":8,"kept":4,"kept_share":0.5}
{"step":2,"epoch":1,"rows":8,"kept":8,"kept_share":1}
{"step":2,"epoch":1,"validation":0.25,"best":false}
`
	if err := os.WriteFile(filepath.Join(dir, train.MetricsFile), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := readCourse(dir)
	want := course{validations: []train.Validation{{Score: 0.5}, {Step: 2, Epoch: 1, Score: 0.25}}, kept: 0.75,
		steps: 2}
	if err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("found %+v, %v, expected %+v", c, err, want)
	}
}

// A verdict by held-out labels says so if many of them are thought to be wrong.
func TestDoubtedValidation(t *testing.T) {
	if got := warnDoubted(0.19); got != "" {
		t.Errorf("19 %%: %s", got)
	}
	if got := warnDoubted(0.48); !strings.Contains(got, "48 %") || !strings.Contains(got, "worse than the start") {
		t.Errorf("48 %%: %s", got)
	}
}
