// cuDNN without a GPU: a handle alone, so that no convolution runs. See cudart.c.
#include <stdlib.h>
int cudnnCreate(void **h) { *h = malloc(64); return 0; }
int cudnnDestroy(void *h) { free(h); return 0; }
int cudnnSetStream(void *h, void *s) { return 0; }
size_t cudnnGetVersion(void) { return 91000; }
const char *cudnnGetErrorString(int e) { return "CUDNN_STATUS_NOT_SUPPORTED"; }
void cudnnGetLastErrorString(char *p, size_t n) { if (n) *p = 0; }
