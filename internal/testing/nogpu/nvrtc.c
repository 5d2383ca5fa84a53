// NVRTC without a GPU: it compiles kernels by gcc, for libcuda.so.1's stand-in (cuda.c), which runs them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
typedef struct { char *source, path[60], log[4000]; } program;
static const char *head =
	"#include <stddef.h>\n#include <math.h>\n#define __device__\n#define __global__\n#define __shared__ static\n#define __syncthreads()\n"
	"#define __shfl_down_sync(mask, v, d) 0.f\n#define __shfl_xor_sync(mask, v, d) 0.f\n"
	"typedef struct { unsigned x, y, z; } nogpu_dim;\n"
	"extern \"C\" { nogpu_dim threadIdx, blockIdx, blockDim = {1, 1, 1}, gridDim; }\n";
int nvrtcCreateProgram(void **p, const char *source, const char *name, int n, const char *const *headers, const char *const *names) {
	program *made = calloc(1, sizeof *made);
	made->source = strdup(source);
	*p = made;
	return 0;
}
int nvrtcCompileProgram(program *p, int n, const char *const *options) {
	strcpy(p->path, "/tmp/nogpu-XXXXXX");
	if (!mkdtemp(p->path)) return 1;
	char name[100], command[1000] = "";
	snprintf(name, sizeof name, "%s/k.cpp", p->path);
	FILE *f = fopen(name, "w");
	fprintf(f, "%s%s", head, p->source);
	fclose(f);
	snprintf(command, sizeof command, "gcc -w -x c++ -O1 -shared -fPIC -o %s/k.so %s/k.cpp", p->path, p->path);
	for (int i = 0; i < n; i++)
		if (strncmp(options[i], "-D", 2) == 0) strcat(strcat(command, " "), options[i]);
		else if (strcmp(options[i], "--gpu-architecture=sm_90")) return 5;
	strcat(command, " 2>&1");
	FILE *out = popen(command, "r");
	size_t got = fread(p->log, 1, sizeof p->log - 1, out);
	p->log[got] = 0;
	return pclose(out) ? 6 : 0;
}
int nvrtcGetProgramLogSize(program *p, size_t *n) { *n = strlen(p->log) + 1; return 0; }
int nvrtcGetProgramLog(program *p, char *to) { strcpy(to, p->log); return 0; }
int nvrtcGetCUBINSize(program *p, size_t *n) { *n = sizeof p->path; return 0; }
int nvrtcGetCUBIN(program *p, char *to) { memcpy(to, p->path, sizeof p->path); return 0; }
int nvrtcDestroyProgram(program **p) { free((*p)->source); free(*p); *p = NULL; return 0; }
