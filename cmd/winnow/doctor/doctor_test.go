package doctor

import (
	"testing"

	"winnow/cmd/winnow/term/termtest"
)

// The flags become options, and misuse never reaches the call.
func TestOptions(t *testing.T) {
	termtest.Check(t, newDoctorCommand, map[string]Options{
		"":       {},
		"--json": {JSON: true},
	}, []string{"more", "--nope"})
}
