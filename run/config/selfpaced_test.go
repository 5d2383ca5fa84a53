package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/filters/selfpaced"
	"winnow/run/config"
)

// Settings of self-paced weights take effect, and are written and read back unchanged.
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
			t.Errorf("%s: no effect", setting)
		}
	}
	if c := config.Default(); c.SelfPaced.On() || c.SelfPaced.Config != selfpaced.Default() {
		t.Errorf("defaults: %+v", c.SelfPaced)
	}
}
