package config_test

import (
	"strings"
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

func TestSelectiveRefuses(t *testing.T) {
	for _, c := range []struct{ text, setting, want string }{
		{"method: sel-cl\n", "selective.alpha=3",
			"config: selective: sel-cl: alpha: found 3, expected a quantile from 0 to 1"},
		{"method: sel-cl\n", "peers.rate=0.1", "config: peers: found settings of another method than sel-cl"},
		{"method: co-teaching\n", "selective.mixup=1",
			"config: selective: found settings of another method than co-teaching"},
		{"", "selective.mixup=1", "config: selective: found settings of another method than metric"},
		{"method: tcl\n", "losses=[{name: triplet}]", "config: losses: found 1, expected none: tcl has its own loss"},
		{"method: tcl\n", "finetune.weights=all",
			"config: finetune.augment: found none, expected the name of a recipe: tcl compares two views"},
		{"method: co-teaching\n", "sampler.views=2",
			"config: sampler.views: found 2, expected 1: co-teaching has no pairs of rows"},
		{"method: metric\n", "sampler.views=17", "config: train: sampler: 17 views of an image, expected 1 to 16"},
		{"method: tcl\n", "solver.lr=0.001",
			"config: the schedule of solver: train: schedule cosine: lr_min: found 0.01"},
		{"method: moco\n", "seed=1",
			`config: method: found "moco", expected metric, co-teaching, co-teaching-plus, co-teaching-temperature, `},
	} {
		got := parseText(t, c.text, c.setting)
		if err := got.Validate(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q with %s:\n got %v\nwant %s", c.text, c.setting, err, c.want)
		}
	}
	if _, err := config.Parse("run.yaml", []byte("selective:\n  views: 2\n"), nil); err == nil ||
		!strings.Contains(err.Error(), "unknown key selective.views") {
		t.Error(err)
	}
}
