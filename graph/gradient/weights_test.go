package gradient_test

import (
	"slices"
	"testing"

	"winnow/graph/gradient"
)

// TestWeightsOfNetworks: the weights found are those that torch has gradients for.
func TestWeightsOfNetworks(t *testing.T) {
	for _, name := range networks(t) {
		t.Run(name, func(t *testing.T) {
			r := readRun(t, name)
			m := r.model(t)
			var found, want []string
			for _, w := range gradient.Weights(m, r.Output) {
				found = append(found, w.Name)
			}
			for _, w := range r.Weights {
				want = append(want, w.name)
			}
			slices.Sort(found)
			slices.Sort(want)
			if !slices.Equal(found, want) {
				t.Errorf("found\n%q, expected\n%q", found, want)
			}
		})
	}
}
