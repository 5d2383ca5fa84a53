package ort

/*
#include <malloc.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

// With less address space Go's runtime may crash and dump its stacks, even before any Go function runs.
enum { WINNOW_LEAST_MIB = 2048 };

__attribute__((constructor)) static void winnow_space(void) {
	struct rlimit as;
	if (getrlimit(RLIMIT_AS, &as) != 0 || as.rlim_cur == RLIM_INFINITY) return;
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 2); // otherwise each thread reserves 64 MiB and more
#endif
	if (as.rlim_cur >> 20 >= WINNOW_LEAST_MIB) return;
	dprintf(2, "winnow: the address space is limited to %lu MiB (ulimit -v), expected %d MiB or more\n",
		(unsigned long)(as.rlim_cur >> 20), WINNOW_LEAST_MIB);
	_exit(1);
}
*/
import "C"
