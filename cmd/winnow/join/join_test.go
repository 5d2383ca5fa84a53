package join

import (
	"testing"

	"winnow/cmd/winnow/term/termtest"
)

// The flags become options, and misuse never reaches the call.
func TestOptions(t *testing.T) {
	termtest.Check(t, command, map[string]Options{
		"c --overwrite":    {Out: "c", Overwrite: true},
		"s3://b/c --out c": {Out: "s3://b/c", To: "c"},
	}, []string{"", "a b", "a --to c", "s3://b/c --out s3://b/d"})
}
