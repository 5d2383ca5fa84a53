package live

import (
	"runtime"
	"syscall"
)

// inTheBackground lets the goroutine run only where a core would be idle: the network's threads go first. Its thread ends
// with it, as a priority cannot be raised again.
func inTheBackground() {
	runtime.LockOSThread()
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), 19) // refused: then it runs as others do
}
