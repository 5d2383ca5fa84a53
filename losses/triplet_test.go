package losses

import (
	"strings"
	"testing"
)

// As η approaches 0, RDML approaches the hinge over all triplets, up to an error of order η.
func TestRDMLBecomesTheHinge(t *testing.T) {
	in := conformInput(31, 60)
	env := testEnv(conformDim, conformClasses, 1)
	rescaled, gradRescaled := exactPairs(mustNew(t, "rdml", map[string]any{"eta": 1e-4, "margin": 0.7},
		env).(*similarity), in)
	hinge, gradHinge := exactPairs(mustNew(t, "triplet", map[string]any{"select": "all", "margin": 0.7},
		env).(*similarity), in)
	if !near(rescaled, hinge, 1e-4, 0) {
		t.Errorf("RDML %.12g, the hinge %.12g", rescaled, hinge)
	}
	if rel, _ := worst(gradRescaled, gradHinge); rel > 3e-4 {
		t.Errorf("gradients differ by %.3g of the largest entry", rel)
	}
}

func TestTripletRefusesWhatIsAlwaysZero(t *testing.T) {
	env := testEnv(8, 4, 1)
	for _, c := range []struct {
		settings map[string]any
		ok       bool
	}{
		{map[string]any{"select": "easy"}, false},
		{map[string]any{"select": "easy", "gap": 0.3}, false},
		{map[string]any{"select": "easy", "gap": 0.1}, true},
		{map[string]any{"select": "easy", "smooth": true}, true},
		{map[string]any{"select": "easy", "swap": true}, true},
	} {
		_, err := New("triplet", c.settings, env)
		if (err == nil) != c.ok {
			t.Errorf("%v: %v", c.settings, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "losses: triplet: select is easy with gap 0.") {
			t.Error(err)
		}
	}
}
