// cuBLASLt without a GPU: handles alone. See cudart.c.
#include <stdlib.h>
int cublasLtCreate(void **h) { *h = malloc(64); return 0; }
int cublasLtDestroy(void *h) { free(h); return 0; }
