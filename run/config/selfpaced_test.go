package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/filters/selfpaced"
	"winnow/run/config"
)

// Settings reach the weights, and are written and read back unchanged; spans are as elsewhere.
func TestSelfPaced(t *testing.T) {
	c := parseText(t, "losses: [{name: weighted_ms}]\nselfpaced: {every: 2 epochs, mu: 0, lambda_max: 4.2}\n",
		"selfpaced.visits=50", "selfpaced.hard=true")
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	want := selfpaced.Default()
	want.Mu, want.LambdaMax, want.Visits, want.Hard = 0, 4.2, 50, true
	if diff := cmp.Diff(config.SelfPaced{Every: config.Epochs(2), Config: want}, c.SelfPaced); diff != "" ||
		!c.SelfPaced.On() {
		t.Error(diff)
	}
	text, err := config.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, parseText(t, string(text))); diff != "" {
		t.Error(diff)
	}
	base := config.Flatten(config.Default())
	for _, setting := range []string{"selfpaced.every=1 epoch", "selfpaced.mu=1",
		"selfpaced.per_class=5"} {
		if cmp.Equal(base, config.Flatten(parseText(t, "", setting))) {
			t.Errorf("%s: not seen", setting)
		}
	}
	if c := config.Default(); c.SelfPaced.On() || c.SelfPaced.Config != selfpaced.Default() {
		t.Errorf("defaults: %+v", c.SelfPaced)
	}
}

func TestSelfPacedRefuses(t *testing.T) {
	for _, c := range []struct{ text, setting, want string }{
		{"", "selfpaced.mu=1",
			`config: selfpaced: found settings, but selfpaced.every is 0: expected for example "1 epoch"`},
		{"", "selfpaced.every=1 epoch",
			"config: selfpaced.every: found 1 epochs, but no loss of the run weighs its samples: expected the loss " +
				"weighted_multi_similarity, or 0"},
		{"method: co-teaching\n", "selfpaced.every=1 epoch",
			"config: selfpaced.every: found 1 epochs, expected 0: co-teaching judges its samples itself"},
		{"method: tcl\n", "selfpaced.every=9 steps",
			"config: selfpaced.every: found 9 steps, expected 0: tcl judges its samples itself"},
		{"losses: [{name: wms}]\nselfpaced: {every: 1 epoch}\n", "selfpaced.rate=0",
			"config: selfpaced: rate: found 0, expected above 0"},
	} {
		got := parseText(t, c.text, c.setting)
		if err := got.Validate(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q with %s:\n got %v\nwant %s", c.text, c.setting, err, c.want)
		}
	}
	for _, text := range []string{"selfpaced: {on: true}\n", "selfpaced: {weights: 2}\n"} {
		if _, err := config.Parse("run.yaml", []byte(text), nil); err == nil ||
			!strings.Contains(err.Error(), "unknown key "+
				"selfpaced.") {
			t.Error(err)
		}
	}
}
