package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/run/config"
	"winnow/train/selective"
)

// A method sets the paper's settings, which are valid, can be changed, and are written and read back unchanged.
func TestSelectiveMethods(t *testing.T) {
	for _, method := range selective.Methods() {
		c := parseText(t, "method: "+method+"\nselective: {temperature: 0.2, warm_up: 3 epochs, view: {noise: 0.3}}\n",
			"selective.view.dropout=0.4", "sampler.rows=64")
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		in := c.Selective.In(c.Method, 7)
		want := selective.Default(method)
		want.Temperature, want.WarmUp, want.View, want.Epoch = 0.2, 3, selective.View{Noise: 0.3, Dropout: 0.4}, 7
		if diff := cmp.Diff(want, in); diff != "" {
			t.Errorf("%s: %s", method, diff)
		}
		if c.Sampler.Rows != 64 || c.Losses != nil || c.Bank.Size != 0 || c.Filter.Scorer != config.NoFilter ||
			c.Solver.Name != "sgd" {
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
	c := parseText(t, "method: sel-cl\n")
	if c.Length != config.LastsEpochs(250) || c.Solver.LR.Value != 0.1 || c.Solver.WeightDecay != 1e-4 ||
		c.Head.Out != 128 ||
		c.Sampler.Rows != 128 || !cmp.Equal(c.Schedule.Milestones,
		[]config.Span{config.Epochs(125), config.Epochs(200)}) {
		t.Errorf("%+v", c)
	}
	if c = parseText(t, "", "method=tcl"); c.Length != config.LastsEpochs(200) || c.Solver.LR.Value != 0.03 ||
		c.Solver.WeightDecay != 1e-3 || c.Head.Out != 256 || c.Sampler.Rows != 256 || c.Schedule.Min != 0.01 {
		t.Errorf("%+v", c)
	}
}
