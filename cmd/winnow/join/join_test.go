package join

import (
	"testing"

	"winnow/cmd/winnow/term/termtest"
	"winnow/datasets/location"
)

// The flags become options, and misuse never reaches the call.
func TestOptions(t *testing.T) {
	termtest.Check(t, newJoinCommand, map[string]Options{
		"c --overwrite": {Out: location.At("c"), Overwrite: true},
	}, []string{"", "a b", "a --to c"})
}
