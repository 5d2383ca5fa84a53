// Functions of the CUDA runtime, found by name (cuda.h). Signatures are those in NVIDIA's documentation of CUDA 13.

#include "cuda.h"

#include <stdio.h>
#include <string.h>

#ifdef _WIN32
const char *winnow_cuda(void) { return "winnow trains on GPUs on Linux alone"; }
int winnow_cuda_copy(void *to, const void *from, size_t bytes) { return 801; }
int winnow_cuda_zero(void *at, size_t bytes) { return 801; }
int winnow_cuda_pin(void *at, size_t bytes) { return 801; }
int winnow_cuda_unpin(void *at) { return 801; }
const char *winnow_cuda_error(int e) { return "not supported"; }
#else
#include <dlfcn.h>
#include <pthread.h>

static struct {
	int (*copy)(void *, const void *, size_t, int);
	int (*set)(void *, int, size_t);
	int (*wait)(void *);
	int (*pin)(void *, size_t, unsigned);
	int (*unpin)(void *);
	int (*forget)(void);
	const char *(*text)(int);
} rt;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char missing[200] = "libcudart.so.13 cannot be loaded";

static void load(void) {
	void *lib = dlopen("libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
	if (!lib) return;
	const struct { void *to; const char *name; } list[] = {
		{&rt.copy, "cudaMemcpy"}, {&rt.set, "cudaMemset"}, {&rt.wait, "cudaStreamSynchronize"}, {&rt.pin, "cudaHostRegister"},
		{&rt.unpin, "cudaHostUnregister"}, {&rt.forget, "cudaGetLastError"}, {&rt.text, "cudaGetErrorString"},
	};
	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		void *f = dlsym(lib, list[i].name);
		if (!f) {
			snprintf(missing, sizeof missing, "libcudart.so.13 has no %s", list[i].name);
			return;
		}
		memcpy(list[i].to, &f, sizeof f);
	}
	missing[0] = 0;
}

const char *winnow_cuda(void) {
	pthread_once(&once, load);
	return missing[0] ? missing : NULL;
}

// finished waits for work that a call has left on the default stream: a copy from pageable memory may still be in
// progress when the call returns, and sessions compute on other streams. It also clears CUDA's error and returns it.
static int finished(int e) {
	int later = rt.wait(NULL);
	rt.forget();
	return e ? e : later;
}

enum { ANY_DIRECTION = 4, ON_EVERY_DEVICE = 1 };

int winnow_cuda_copy(void *to, const void *from, size_t bytes) { return finished(rt.copy(to, from, bytes, ANY_DIRECTION)); }
int winnow_cuda_zero(void *at, size_t bytes) { return finished(rt.set(at, 0, bytes)); }
int winnow_cuda_pin(void *at, size_t bytes) { return finished(rt.pin(at, bytes, ON_EVERY_DEVICE)); }
int winnow_cuda_unpin(void *at) { return finished(rt.unpin(at)); }
const char *winnow_cuda_error(int e) { return rt.text(e); }
#endif
