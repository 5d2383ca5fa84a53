// cuDNN without a GPU: gradients of convolutions by loops, of float32 in NCHW, as winnow asks for them; ONNX Runtime's own
// convolutions fail. Each call checks what it is given. See cudart.c.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { int kind, d[4], pad[2], stride[2], dilation[2], groups, math; } thing;
typedef struct { int algorithm, status; float time; size_t memory; int deterministic, math, reserved[3]; } algorithm;
enum { TENSOR = 1, FILTER, CONVOLUTION, BAD = 3000 };
static int made(void **p, int kind) { thing *t = calloc(1, sizeof *t); t->kind = kind, t->groups = 1; *p = t; return 0; }
int cudnnCreate(void **h) { *h = malloc(64); return 0; }
int cudnnDestroy(void *h) { free(h); return 0; }
int cudnnSetStream(void *h, void *s) { return 0; }
size_t cudnnGetVersion(void) { return 91000; }
const char *cudnnGetErrorString(int e) { return e == BAD ? "CUDNN_STATUS_BAD_PARAM" : "CUDNN_STATUS_NOT_SUPPORTED"; }
void cudnnGetLastErrorString(char *p, size_t n) { if (n) *p = 0; }
int cudnnCreateTensorDescriptor(void **p) { return made(p, TENSOR); }
int cudnnCreateFilterDescriptor(void **p) { return made(p, FILTER); }
int cudnnCreateConvolutionDescriptor(void **p) { return made(p, CONVOLUTION); }
int cudnnDestroyTensorDescriptor(void *p) { free(p); return 0; }
int cudnnDestroyFilterDescriptor(void *p) { free(p); return 0; }
int cudnnDestroyConvolutionDescriptor(void *p) { free(p); return 0; }
int cudnnSetTensor4dDescriptor(thing *t, int format, int type, int n, int c, int h, int w) {
	if (t->kind != TENSOR || format || type) return BAD;
	memcpy(t->d, (int[]){n, c, h, w}, sizeof t->d);
	return 0;
}
int cudnnSetFilter4dDescriptor(thing *t, int type, int format, int k, int c, int h, int w) {
	if (t->kind != FILTER || format || type) return BAD;
	memcpy(t->d, (int[]){k, c, h, w}, sizeof t->d);
	return 0;
}
int cudnnSetConvolution2dDescriptor(thing *t, int ph, int pw, int sh, int sw, int dh, int dw, int mode, int type) {
	if (t->kind != CONVOLUTION || mode != 1 || type) return BAD;
	t->pad[0] = ph, t->pad[1] = pw, t->stride[0] = sh, t->stride[1] = sw, t->dilation[0] = dh, t->dilation[1] = dw;
	return 0;
}
int cudnnSetConvolutionGroupCount(thing *t, int n) { t->groups = n; return t->kind == CONVOLUTION ? 0 : BAD; }
int cudnnSetConvolutionMathType(thing *t, int m) { t->math = m; return t->kind == CONVOLUTION && m != 2 ? 0 : BAD; }
static int fit(thing *x, thing *dy, thing *c, thing *w) {
	if (x->kind != TENSOR || dy->kind != TENSOR || c->kind != CONVOLUTION || w->kind != FILTER) return BAD;
	if (x->d[0] != dy->d[0] || x->d[1] != w->d[1] * c->groups || dy->d[1] != w->d[0]) return BAD;
	for (int i = 0; i < 2; i++)
		if (dy->d[2 + i] != (x->d[2 + i] + 2 * c->pad[i] - c->dilation[i] * (w->d[2 + i] - 1) - 1) / c->stride[i] + 1) return BAD;
	return 0;
}
// The first is not deterministic and the second too rough, so that the third must be taken.
static int list(int most, int *n, algorithm *to) {
	const algorithm all[] = {{0, 0, 1, 64, 0, 3}, {1, 0, 2, 64, 1, 2}, {5, 0, 3, 1 << 16, 1, 3}};
	*n = most < 3 ? most : 3;
	memcpy(to, all, *n * sizeof *to);
	return 0;
}
int cudnnGetConvolutionBackwardDataAlgorithm_v7(void *h, thing *w, thing *dy, thing *c, thing *x, int most, int *n, algorithm *to) { int e = fit(x, dy, c, w); return e ? e : list(most, n, to); }
int cudnnGetConvolutionBackwardFilterAlgorithm_v7(void *h, thing *x, thing *dy, thing *c, thing *w, int most, int *n, algorithm *to) { int e = fit(x, dy, c, w); return e ? e : list(most, n, to); }
int cudnnFindConvolutionBackwardDataAlgorithmEx(void *h, thing *w, const void *W, thing *dy, const void *D, thing *c, thing *x, void *X, int most, int *n, algorithm *to, void *r, size_t s) {
	int e = fit(x, dy, c, w);
	return e || !W || !D || !X || !r || !s ? BAD : list(most, n, to);
}
int cudnnFindConvolutionBackwardFilterAlgorithmEx(void *h, thing *x, const void *X, thing *dy, const void *D, thing *c, thing *w, void *W, int most, int *n, algorithm *to, void *r, size_t s) {
	int e = fit(x, dy, c, w);
	return e || !W || !D || !X || !r || !s ? BAD : list(most, n, to);
}
// by calls do for every product of a gradient with a value that the convolution read.
static int gradient(thing *x, const float *X, float *dX, thing *w, const float *W, float *dW, thing *dy, const float *D, thing *c, int algo, const void *room, size_t size) {
	int e = fit(x, dy, c, w);
	if (e || algo != 5 || !room || size < 1 << 16 || c->math != 3) return BAD;
	int to = w->d[0] / c->groups, from = w->d[1];
	for (int n = 0; n < x->d[0]; n++) for (int k = 0; k < w->d[0]; k++) for (int p = 0; p < dy->d[2]; p++) for (int q = 0; q < dy->d[3]; q++) {
		float d = D[((n * dy->d[1] + k) * dy->d[2] + p) * dy->d[3] + q];
		for (int i = 0; i < from; i++) for (int a = 0; a < w->d[2]; a++) for (int b = 0; b < w->d[3]; b++) {
			int row = p * c->stride[0] - c->pad[0] + a * c->dilation[0], column = q * c->stride[1] - c->pad[1] + b * c->dilation[1];
			if (row < 0 || column < 0 || row >= x->d[2] || column >= x->d[3]) continue;
			size_t at = ((size_t)(n * x->d[1] + k / to * from + i) * x->d[2] + row) * x->d[3] + column, of = ((size_t)(k * from + i) * w->d[2] + a) * w->d[3] + b;
			if (dX) dX[at] += d * W[of];
			if (dW) dW[of] += d * X[at];
		}
	}
	return 0;
}
int cudnnConvolutionBackwardData(void *h, const float *one, thing *w, const float *W, thing *dy, const float *D, thing *c, int algo, void *room, size_t size, const float *none, thing *x, float *X) {
	if (*one != 1 || *none) return BAD;
	memset(X, 0, sizeof(float) * x->d[0] * x->d[1] * x->d[2] * x->d[3]);
	return gradient(x, NULL, X, w, W, NULL, dy, D, c, algo, room, size);
}
int cudnnConvolutionBackwardFilter(void *h, const float *one, thing *x, const float *X, thing *dy, const float *D, thing *c, int algo, void *room, size_t size, const float *none, thing *w, float *W) {
	if (*one != 1 || *none) return BAD;
	memset(W, 0, sizeof(float) * w->d[0] * w->d[1] * w->d[2] * w->d[3]);
	return gradient(x, X, NULL, w, NULL, W, dy, D, c, algo, room, size);
}
