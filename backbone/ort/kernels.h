// Kernels of ours for what ONNX Runtime's operators compute slowly. kernels_set.h holds them, compiled once for each
// instruction set; kernels.c makes operators of them. All tensors are float32, [N, C, height, width], without gaps.

#include <stddef.h>
#include <stdint.h>

// A range of what a kernel works on, so that several threads can share it.
typedef struct {
	int64_t first, end;
} stretch;

// Windows along two axes: window o covers the places o·stride - before + t·dilation of the input, t = 0 … kernel-1.
typedef struct {
	int64_t batch, channels, in[2], out[2], kernel[2], stride[2], dilation[2], before[2];
} windows;

// A function with limits: its derivative is 1 strictly between them and 0 elsewhere. It has its output y.
typedef struct {
	const float *y; // NULL: no limits
	float low, high;
} limits;

// Memory for a kernel while it runs, from the arena that a session's tensors live in: take n floats, or NULL.
typedef struct arena arena;
float *winnow_take(const arena *a, int64_t n);
void winnow_give(const arena *a, float *memory);

// The kernels in one instruction set. They return 0, or -1 where memory is short.
typedef struct {
	// Y[n,c,p] = clip(B[c] + Σ_t W[c,t]·X[n,c,window p,t]), planes n·C + c in the stretch.
	int (*depthwise)(const windows *g, const float *x, const float *w, const float *b, float low, float high, float *y, stretch planes);

	// With D = ∂L/∂Y cut by the limits of what follows the convolution, channels in the stretch:
	//	∂X[n,c,q] = Σ_{p,t: window p,t is q} W[c,t]·D[n,c,p]
	//	∂W[c,t]   = Σ_{n,p} D[n,c,p]·X[n,c,window p,t]
	//	∂B[c]     = Σ_{n,p} D[n,c,p]
	// each where it is not NULL.
	int (*depthwise_grad)(const windows *g, const float *dy, limits cut, const float *x, const float *w, float *dx, float *dw, float *db, stretch channels);

	// ∂X = ∂L/∂Y cut by the limits, and ∂B[c] = Σ_{n,p} ∂X[n,c,p] where it is not NULL. ∂X may be ∂L/∂Y.
	int (*cut)(int64_t batch, int64_t channels, int64_t places, const float *dy, limits cut, float *dx, float *db, stretch range);

	// Y[n,c,p] = max_t X[n,c,window p,t], tap[n,c,p] the first t that has it; at most 256 taps.
	int (*max_pool)(const windows *g, const float *x, float *y, uint8_t *tap, stretch planes);

	// ∂X[n,c,q] = Σ_p ∂L/∂Y[n,c,p] over the windows whose maximum is q, cut by the limits. X itself is not read.
	int (*max_pool_grad)(const windows *g, const float *dy, limits cut, const uint8_t *tap, float *dx, stretch planes);

	// Y[n,k,p] = clip(B[k] + Σ_{c,t} W[k,c,t]·X[n,c,window p,t]) for windows 3×3 at every place, filters k in the stretch `to`
	// and rows of tiles, two rows of places each, those of all images in a row. X is cut by the limits first.
	// turned: W is [c, k, t] and its taps run from last to first, as the gradient by the input wants them.
	int (*conv3x3)(const arena *a, const windows *g, int64_t outputs, int turned, const float *x, limits cut, const float *w, const float *b, float low, float high, float *y, stretch rows, stretch to);

	// With D = ∂L/∂Y cut by the limits, summed over rows of tiles, for channels `from` of X and `to` of Y:
	//	∂W[k,c,t] = Σ_{n,p} D[n,k,p]·X[n,c,window p,t]
	//	∂B[k]     = Σ_{n,p} D[n,k,p]
	// each where it is not NULL.
	int (*conv3x3_filters)(const arena *a, const windows *g, int64_t outputs, const float *dy, limits cut, const float *x, float *dw, float *db, stretch rows, stretch from, stretch to);
} kernel_set;

extern const kernel_set winnow_plain, winnow_avx2, winnow_avx512;
