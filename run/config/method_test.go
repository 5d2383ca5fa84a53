package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/run/config"
	"winnow/train/peers"
)

// A method sets its own defaults, which are valid, can be changed, and are written and read back unchanged.
func TestMethods(t *testing.T) {
	for _, method := range peers.Methods() {
		c := parseText(t, "method: "+method+"\npeers: {rate: 0.2}\n", "sampler.rows=64")
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		if c.Method != method || c.Peers.Rate.Share != 0.2 || c.Sampler.Rows != 64 || c.Losses != nil ||
			c.Bank.Size != 0 || c.Filter.Scorer != config.NoFilter || c.Solver.LR.Value != 1e-3 {
			t.Errorf("%s: %+v", method, c)
		}
		text, err := config.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, parseText(t, string(text))); diff != "" {
			t.Errorf("%s: %s", method, diff)
		}
	}
	c := parseText(t, "method: co-teaching\nsampler: {variant: groups}\nsolver: {name: sgd}\n", "schedule.name=cosine")
	if err := c.Validate(); err != nil || c.Sampler.Classes != 16 || c.Schedule.Hold != 0 || c.Solver.LR.Value != 0.01 {
		t.Errorf("%v: %+v", err, c)
	}
	if in := c.Peers.In("co-teaching", 7); in.Gradual != 10 || in.WarmUp != 5 || in.FirstStage != 70 {
		t.Errorf("%+v", in)
	}
	if c := parseText(t, "method: co-teaching\npeers: {gradual: 15 steps}\n"); c.Peers.In(c.Method, 7).Gradual != 3 {
		t.Errorf("15 steps at 7 steps per epoch are %d epochs, expected 3", c.Peers.In(c.Method, 7).Gradual)
	}
}
