package features

import (
	"testing"

	"winnow/cmd/winnow/term/termtest"
)

// The flags become options, and misuse never reaches the call.
func TestOptions(t *testing.T) {
	termtest.Check(t, command, map[string]JoinOptions{
		"join a b --out c --overwrite": {Shards: []string{"a", "b"}, Out: "c", Overwrite: true},
	}, []string{"join --out c", "join a"})
}
