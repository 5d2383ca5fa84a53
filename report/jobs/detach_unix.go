//go:build unix

package jobs

import (
	"os/exec"
	"syscall"
)

// detach gives a process a session of its own: neither Ctrl-C in the server's terminal nor its end reach it.
func detach(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
