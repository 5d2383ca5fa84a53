package live

import (
	"runtime"
	"syscall"
)

// inTheBackground lets the goroutine run only on an idle core, so that the network's threads go first. Its
// thread ends with the goroutine, because a priority cannot be raised again.
func inTheBackground() {
	runtime.LockOSThread()
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), 19) // if refused, it runs at normal priority
}
