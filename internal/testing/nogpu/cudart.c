// A stand-in for CUDA's runtime on a machine without a GPU, for tests of what winnow asks of ONNX Runtime's CUDA provider. The
// device's memory is the computer's and copies are copies, so that sessions, bindings and allocators work; a kernel that is
// launched does nothing, so that only copies, and products by cublas.c, have right results. Signatures and numbers of errors
// are those of NVIDIA's documentation of CUDA 13; what is declared without parameters is never looked at.
//
// NOGPU_ERROR=35 lets every call that asks for the device fail with that number; NOGPU_MIB is the memory there is (8192).
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failure(void) { const char *v = getenv("NOGPU_ERROR"); return v ? atoi(v) : 0; }
static size_t total(void) { const char *v = getenv("NOGPU_MIB"); return (v ? (size_t)atoll(v) : 8192) << 20; }
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t used;
static int last;
static int tell(int e) { if (e) last = e; return e; }

static void note(void *p, size_t n);
int cudaMalloc(void **p, size_t n) {
	if (failure()) return tell(failure());
	pthread_mutex_lock(&lock);
	int full = used + n > total();
	if (!full) used += n;
	pthread_mutex_unlock(&lock);
	if (full) return tell(2);
	size_t *q = aligned_alloc(256, (n + 256 + 255) / 256 * 256);
	*q = n;
	*p = (char *)q + 256;
	note(*p, n);
	return 0;
}
int cudaFree(void *p) {
	if (!p) return 0;
	size_t *q = (size_t *)((char *)p - 256);
	note(p, 0);
	pthread_mutex_lock(&lock); used -= *q; pthread_mutex_unlock(&lock);
	free(q);
	return 0;
}
int cudaHostAlloc(void **p, size_t n, unsigned f) { *p = aligned_alloc(256, (n + 255) / 256 * 256 + 256); return 0; }
int cudaMallocHost(void **p, size_t n) { return cudaHostAlloc(p, n, 0); }
int cudaFreeHost(void *p) { free(p); return 0; }
int cudaMallocFromPoolAsync(void **p, size_t n, void *pool, void *s) { return cudaMalloc(p, n); }
int cudaFreeAsync(void *p, void *s) { return cudaFree(p); }
// NOGPU_COPIES names a file that gets a line for every copy between computer and device: "up" or "down", and its bytes.
static struct { char *at; size_t n; } blocks[4096];
static int there(const void *p) {
	for (int i = 0; i < 4096; i++)
		if (blocks[i].at && (char *)p >= blocks[i].at && (char *)p < blocks[i].at + blocks[i].n) return 1;
	return 0;
}
static void note(void *p, size_t n) {
	for (int i = 0; i < 4096; i++)
		if (n ? !blocks[i].at : blocks[i].at == p) { blocks[i].at = n ? p : NULL, blocks[i].n = n; return; }
}
static void copied(const void *d, const void *s, size_t n) {
	const char *name = getenv("NOGPU_COPIES");
	if (!name || there(d) == there(s)) return;
	FILE *f = fopen(name, "a");
	if (f) fprintf(f, "%s %zu\n", there(d) ? "up" : "down", n), fclose(f);
}
int cudaMemcpy(void *d, const void *s, size_t n, int k) { copied(d, s, n); memmove(d, s, n); return 0; }
int cudaMemcpyAsync(void *d, const void *s, size_t n, int k, void *st) { return cudaMemcpy(d, s, n, k); }
int cudaHostRegister(void *p, size_t n, unsigned f) { return 0; }
int cudaHostUnregister(void *p) { return 0; }
int cudaMemcpy2DAsync(void *d, size_t dp, const void *s, size_t sp, size_t w, size_t h, int k, void *st) { for (size_t i = 0; i < h; i++) memcpy((char *)d + i * dp, (const char *)s + i * sp, w); return 0; }
int cudaMemset(void *d, int v, size_t n) { memset(d, v, n); return 0; }
int cudaMemsetAsync(void *d, int v, size_t n, void *s) { memset(d, v, n); return 0; }
int cudaMemGetInfo(size_t *f, size_t *t) { *t = total(); *f = *t - used; return 0; }
int cudaGetDeviceCount(int *n) { *n = failure() ? 0 : 1; return tell(failure()); }
int cudaSetDevice(int d) { if (failure()) return tell(failure()); if (d > 0) return tell(101); return 0; }
int cudaGetDevice(int *d) { *d = 0; return 0; }
int cudaGetDeviceProperties(void *p, int d) {
	if (d > 0) return tell(101);
	char *c = p; // cudaDeviceProp, by the offsets of its fields
	memset(c, 0, 1000);
	strcpy(c, "no GPU at all");
	*(size_t *)(c + 288) = total();
	*(size_t *)(c + 296) = 48 << 10; *(int *)(c + 304) = 65536; *(int *)(c + 308) = 32; *(size_t *)(c + 312) = 1 << 30; *(int *)(c + 320) = 1024;
	for (int i = 0; i < 3; i++) { ((int *)(c + 324))[i] = 1024; ((int *)(c + 336))[i] = 65535; }
	*(size_t *)(c + 352) = 65536; *(int *)(c + 360) = 9; *(int *)(c + 364) = 0; *(int *)(c + 384) = 1; *(int *)(c + 388) = 4;
	return 0;
}
int cudaDeviceGetAttribute(int *v, int a, int d) { *v = a == 75 ? 9 : a == 76 ? 0 : a == 16 ? 4 : a == 10 ? 32 : 1; return 0; }
int cudaDeviceSynchronize(void) { return 0; }
int cudaDriverGetVersion(int *v) { *v = 13000; return 0; }
int cudaRuntimeGetVersion(int *v) { *v = 13000; return 0; }
int cudaGetLastError(void) { int e = last; last = 0; return e; }
int cudaPeekAtLastError(void) { return last; }
const char *cudaGetErrorName(int e) { return e == 2 ? "cudaErrorMemoryAllocation" : "cudaErrorOther"; }
const char *cudaGetErrorString(int e) {
	switch (e) {
	case 0: return "no error";
	case 2: return "out of memory";
	case 35: return "CUDA driver version is insufficient for CUDA runtime version";
	case 100: return "no CUDA-capable device is detected";
	case 101: return "invalid device ordinal";
	case 209: return "no kernel image is available for execution on the device";
	}
	return "another error";
}
static int handle(void **p) { *p = malloc(64); return 0; }
int cudaStreamCreate(void **s) { return handle(s); }
int cudaStreamCreateWithFlags(void **s, unsigned f) { return handle(s); }
int cudaStreamDestroy(void *s) { return 0; }
int cudaStreamSynchronize(void *s) { return 0; }
int cudaStreamIsCapturing(void *s, int *c) { *c = 0; return 0; }
int cudaStreamWaitEvent(void *s, void *e, unsigned f) { return 0; }
int cudaEventCreate(void **e) { return handle(e); }
int cudaEventCreateWithFlags(void **e, unsigned f) { return handle(e); }
int cudaEventDestroy(void *e) { return 0; }
int cudaEventRecord(void *e, void *s) { return 0; }
int cudaEventSynchronize(void *e) { return 0; }
int cudaEventElapsedTime(float *t, void *a, void *b) { *t = 1; return 0; }
int cudaLaunchHostFunc(void *s, void (*f)(void *), void *u) { f(u); return 0; }
static int launched(const void *f) { return 0; }
int cudaLaunchKernel(const void *f, ...) { return launched(f); }
int __cudaLaunchKernel(const void *f, ...) { return launched(f); }
int cudaLaunchKernelExC(const void *c, const void *f, void **a) { return launched(f); }
int __cudaGetKernel(void **k, const void *f) { *k = (void *)f; return 0; }
int cudaFuncGetAttributes(void *a, const void *f) { memset(a, 0, 64); ((int *)a)[6] = 1024; return 0; }
int cudaFuncSetAttribute(const void *f, int a, int v) { return 0; }
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *f, int b, size_t s, unsigned g) { *n = 1; return 0; }
static void *fat[4];
void **__cudaRegisterFatBinary(void *f) { return fat; }
void __cudaRegisterFatBinaryEnd(void **h) {}
void __cudaUnregisterFatBinary(void **h) {}
void __cudaRegisterFunction() {}
void __cudaRegisterVar() {}
int __cudaPushCallConfiguration() { return 0; }
int __cudaPopCallConfiguration() { return 0; }
#define NOT(name) int name() { fprintf(stderr, "nogpu: " #name " is not there\n"); return tell(801); }
NOT(cudaGetDriverEntryPointByVersion) NOT(cudaGraphDestroy) NOT(cudaGraphExecDestroy) NOT(cudaGraphInstantiate) NOT(cudaGraphLaunch) NOT(cudaKernelSetAttributeForDevice)
NOT(cudaLibraryGetKernel) NOT(cudaLibraryLoadData) NOT(cudaLibraryUnload) NOT(cudaMemPoolCreate) NOT(cudaMemPoolDestroy) NOT(cudaMemPoolGetAttribute) NOT(cudaMemPoolSetAttribute) NOT(cudaMemPoolTrimTo)
NOT(cudaMemcpyFromSymbol) NOT(cudaStreamBeginCapture) NOT(cudaStreamEndCapture)
