// CUDA's driver without a GPU: kernels that nvrtc.c compiled, called thread by thread with up to twelve arguments of 8 bytes each or, the
// first, a struct of up to 48. See cudart.c.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { unsigned x, y, z; } dim;
typedef struct { void *library; char folder[60]; } module;
typedef struct { module *of; void *code; char name[40]; } function;
int cuCtxGetDevice(int *d) { *d = 0; return 0; }
int cuDeviceGetAttribute(int *v, int a, int d) { *v = a == 75 ? 9 : 0; return 0; }
int cuModuleLoadData(void **p, const void *image) {
	module *m = calloc(1, sizeof *m);
	char name[100], command[100];
	memcpy(m->folder, image, sizeof m->folder);
	snprintf(name, sizeof name, "%s/k.so", m->folder);
	m->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	snprintf(command, sizeof command, "rm -r %s", m->folder);
	if (system(command) || !m->library) return 200;
	*p = m;
	return 0;
}
int cuModuleGetFunction(void **p, module *m, const char *name) {
	function *f = calloc(1, sizeof *f);
	f->of = m, f->code = dlsym(m->library, name);
	snprintf(f->name, sizeof f->name, "%s", name);
	*p = f;
	return f->code ? 0 : 500;
}
typedef struct { int n[12]; } twelve;
#define P(i) (*(void **)a[i])
#define I(i) (*(int *)a[i])
#define F(i) (*(float *)a[i])
#define L(i) (*(long long *)a[i])
static int call(function *f, void **a) {
	if (!strcmp(f->name, "cut")) ((void (*)(void *, void *, float, float, void *, long long))f->code)(P(0), P(1), F(2), F(3), P(4), L(5));
	else if (!strcmp(f->name, "cut_sum")) ((void (*)(void *, void *, float, float, void *, int, int, int, void *))f->code)(P(0), P(1), F(2), F(3), P(4), I(5), I(6), I(7), P(8));
	else if (!strcmp(f->name, "part_sum")) ((void (*)(void *, int, void *))f->code)(P(0), I(1), P(2));
	else if (!strncmp(f->name, "depthwise", 9) || !strcmp(f->name, "max_pool")) ((void (*)(twelve, void *, void *, void *))f->code)(*(twelve *)a[0], P(1), P(2), P(3));
	else if (!strcmp(f->name, "softmax_sum")) ((void (*)(void *, void *, void *, int, int))f->code)(P(0), P(1), P(2), I(3), I(4));
	else if (!strcmp(f->name, "norm_sum")) ((void (*)(void *, void *, void *, void *, void *, void *, int, int))f->code)(P(0), P(1), P(2), P(3), P(4), P(5), I(6), I(7));
	else if (!strcmp(f->name, "norm_columns")) ((void (*)(void *, void *, void *, void *, void *, void *, int, int))f->code)(P(0), P(1), P(2), P(3), P(4), P(5), I(6), I(7));
	else if (!strcmp(f->name, "gelu")) ((void (*)(void *, void *, void *, long long))f->code)(P(0), P(1), P(2), L(3));
	else return 500;
	return 0;
}
int cuLaunchKernel(function *f, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, void **a, void **extra) {
	dim *block = dlsym(f->of->library, "blockIdx"), *grid = dlsym(f->of->library, "gridDim");
	dim *thread = dlsym(f->of->library, "threadIdx"), *size = dlsym(f->of->library, "blockDim");
	unsigned threads = strstr(f->name, "_sum") || strstr(f->name, "_filters") ? 1 : bx; // those that sum up do it alone
	if (!block || !grid || !thread || !size || bx % 32 || bx < 32 || bx > 256 || by != 1 || bz != 1 || z != 1 || shared || extra || x > 2147483647u || y > 65535) return 1;
	*grid = (dim){x, y, 1};
	for (unsigned j = 0; j < y; j++) for (unsigned i = 0; i < x; i++) {
		*block = (dim){i, j, 0}, *size = (dim){threads, 1, 1};
		for (unsigned t = 0; t < threads; t++) {
			*thread = (dim){t, 0, 0};
			int e = call(f, a);
			if (e) return e;
		}
	}
	return 0;
}
