package inspect

import (
	"testing"

	"winnow/audit"
)

// TestApart: more than a million images, or a billion images × classes, are judged apart unless a
// setting needs them together.
func TestApart(t *testing.T) {
	for _, c := range []struct {
		name               string
		o                  Options
		n, classes, stores int
		want               bool
	}{
		{"as many as go together", Options{}, 1 << 20, 1 << 10, 1, false},
		{"an image more", Options{}, 1<<20 + 1, 2, 1, true},
		{"a class more", Options{}, 1 << 20, 1<<10 + 1, 1, true},
		{"many classes", Options{}, 40_000, 30_000, 1, true},
		{"by a judge that can", Options{Options: audit.Options{Scorer: "crossfit"}}, 1 << 21, 2, 1, true},
		{"by one that cannot", Options{Options: audit.Options{Scorer: "fitted"}}, 1 << 21, 2, 1, false},
		{"copies are asked for", Options{Together: true}, 1 << 21, 2, 1, false},
		{"two stores", Options{}, 1 << 21, 2, 2, false},
		{"partings", Options{Options: audit.Options{Rounds: 3}}, 1 << 21, 2, 1, false},
		{"networks", Options{Tuning: Tuning{Weights: "all"}}, 1 << 21, 2, 1, false},
	} {
		if got := c.o.judgesApart(c.n, c.classes, c.stores); got != c.want {
			t.Errorf("%s: apart %v, expected %v", c.name, got, c.want)
		}
	}
}
