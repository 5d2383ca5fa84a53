//go:build !unix

package jobs

import "os/exec"

// detach does nothing: these systems have no sessions.
func detach(*exec.Cmd) {}
