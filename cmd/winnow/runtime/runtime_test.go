package runtime

import (
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"winnow/cmd/winnow/term/termtest"
	"winnow/internal/ortlib"
)

// The flags become options, and misuse never reaches the call.
func TestOptions(t *testing.T) {
	termtest.Check(t, newRuntimeCommand, map[string]ortlib.InstallOptions{
		"install": {},
		"install --from a.tgz --cuda --overwrite": {From: "a.tgz", CUDA: true, Force: true},
	}, []string{"install a.tgz", "nix"}, cmpopts.IgnoreUnexported(ortlib.InstallOptions{}))
}
