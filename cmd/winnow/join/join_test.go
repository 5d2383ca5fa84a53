package join

import (
	"testing"

	"winnow/cmd/winnow/term/termtest"
)

// The flags become options, and misuse never reaches the call.
func TestOptions(t *testing.T) {
	termtest.Check(t, command, map[string]Options{
		"c --overwrite": {Out: "c", Overwrite: true},
	}, []string{"", "a b", "a --out c"})
}
