package ort_test

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
	"unsafe"

	"winnow/backbone/ort"
)

// action is the kernel's struct sigaction on 64-bit systems; the test uses only the handler.
type action struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

// swap returns a signal's handler from the kernel, after replacing it with set unless set is nil.
func swap(t *testing.T, s syscall.Signal, set *action) (old action) {
	t.Helper()
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(set)),
		uintptr(unsafe.Pointer(&old)), 8, 0, 0); errno != 0 {
		t.Fatal(errno)
	}
	return old
}

// TestKeepSignals replaces signal handlers without Go's knowledge, as NVIDIA's libraries do. Afterwards the kernel
// must have Go's handlers again, and Go must receive signals.
func TestKeepSignals(t *testing.T) {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGUSR1)
	defer signal.Stop(heard)
	before := swap(t, syscall.SIGUSR1, nil)
	const ignore = 1 // SIG_IGN
	steal := func() { swap(t, syscall.SIGUSR1, &action{handler: ignore}) }

	steal()
	if swap(t, syscall.SIGUSR1, &before).handler != ignore {
		t.Fatal("the test's replacement of the handler had no effect")
	}
	ort.KeepSignals(steal)
	if after := swap(t, syscall.SIGUSR1, nil); after.handler != before.handler {
		t.Fatalf("handler: found %#x, expected %#x", after.handler, before.handler)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	<-heard
}
