package ort

/*
#include <signal.h>
#include <string.h>

enum { WINNOW_SIGNALS = 32 };
typedef struct { struct sigaction action[WINNOW_SIGNALS]; } winnow_handlers;

static void winnow_save(winnow_handlers *h) {
	memset(h, 0, sizeof *h);
	for (int s = 1; s < WINNOW_SIGNALS; s++) sigaction(s, NULL, &h->action[s]);
}

static void winnow_restore(const winnow_handlers *h) {
	for (int s = 1; s < WINNOW_SIGNALS; s++) {
		if (s != SIGKILL && s != SIGSTOP) sigaction(s, &h->action[s], NULL);
	}
}
*/
import "C"

import "sync"

// signals is locked while the process's signal handlers are saved and restored.
var signals sync.Mutex

// keepSignals calls f and then restores the process's signal handlers. NVIDIA's libraries install handlers on first
// use, without the alternate stack that Go's runtime requires: without keepSignals, Ctrl-C would crash the Go runtime
// instead of saving the run.
func keepSignals(f func()) {
	signals.Lock()
	defer signals.Unlock()
	var handlers C.winnow_handlers
	C.winnow_save(&handlers)
	defer C.winnow_restore(&handlers)
	f()
}
