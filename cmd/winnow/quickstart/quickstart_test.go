package quickstart

import (
	"testing"

	"winnow/cmd/winnow/term/termtest"
	"winnow/papers/quickstart"
)

// Flags become options, and misuse is refused.
func TestOptions(t *testing.T) {
	termtest.Check(t, newQuickstartCommand, map[string]Options{
		"--out d --seed 3 --noise-rate 0.2 --classes 24 --set a=b --json --no-open": {JSON: true, NoOpen: true,
			Options: quickstart.Options{Dir: "d", Seed: 3, Rate: 0.2, Classes: 24, Images: 30,
				Settings: []string{"a=b"}}},
	}, []string{"more", "--seed x"})
}
