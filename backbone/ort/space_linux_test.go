package ort_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A program with this package says why it cannot run, where Go's runtime would dump its stacks and exit with 2.
func TestTooLittleAddressSpace(t *testing.T) {
	for _, limit := range []string{"150000", "700000", "1300000"} { // KiB
		cmd := exec.Command("sh", "-c", "ulimit -v "+limit+` && exec "$0" -test.run NONE`, os.Args[0])
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || strings.Count(string(out), "\n") != 1 ||
			!strings.Contains(string(out), "the address space is limited to ") {
			t.Errorf("ulimit -v %s: %v, %q", limit, err, out)
		}
	}
}
