//go:build unix

package jobs

import (
	"os/exec"
	"syscall"
)

// detachProcess gives a process a session of its own: neither Ctrl-C in the server's terminal nor its end reach it.
func detachProcess(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
