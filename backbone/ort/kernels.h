// winnow's own kernels for operations that ONNX Runtime's operators compute slowly. kernels_set.h contains the kernels
// and is compiled once for each instruction set; kernels.c turns them into operators. All tensors are float32,
// contiguous, and have the layout [N, C, height, width].

#include <stddef.h>
#include <stdint.h>

// The range of the work that a kernel computes in one call, so that several threads can share the work.
typedef struct {
	int64_t first, end;
} stretch;

// The windows of a convolution or pooling along two axes: window o covers the positions o·stride - before + t·dilation
// of the input, t = 0 … kernel-1. Each t is called a tap.
typedef struct {
	int64_t batch, channels, in[2], out[2], kernel[2], stride[2], dilation[2], before[2];
} windows;

// A clipping function, given by its output y: its derivative is 1 where y is strictly between the limits, and 0
// elsewhere.
typedef struct {
	const float *y; // NULL: no limits
	float low, high;
} limits;

// Working memory for a kernel, from the arena that holds the session's tensors. winnow_take returns n floats, or NULL
// if there is not enough memory.
typedef struct arena arena;
float *winnow_take(const arena *a, int64_t n);
void winnow_give(const arena *a, float *memory);

// The kernels compiled for one instruction set. They return 0, or -1 if there is not enough memory.
typedef struct {
	// Y[n,c,p] = clip(B[c] + Σ_t W[c,t]·X[n,c,window p,t]), for the planes n·C + c in the stretch.
	int (*depthwise)(const windows *g, const float *x, const float *w, const float *b, float low, float high,
		float *y, stretch planes);

	// With D = ∂L/∂Y cut by the limits of the activation after the convolution, for the channels in the stretch:
	//	∂X[n,c,q] = Σ_{p,t: window p,t is q} W[c,t]·D[n,c,p]
	//	∂W[c,t]   = Σ_{n,p} D[n,c,p]·X[n,c,window p,t]
	//	∂B[c]     = Σ_{n,p} D[n,c,p]
	// Results whose pointer is NULL are not computed.
	int (*depthwise_grad)(const windows *g, const float *dy, limits cut, const float *x, const float *w,
		float *dx, float *dw, float *db, stretch channels);

	// ∂X = ∂L/∂Y cut by the limits, and ∂B[c] = Σ_{n,p} ∂X[n,c,p] unless db is NULL. ∂X may share the memory of
	// ∂L/∂Y.
	int (*cut)(int64_t batch, int64_t channels, int64_t places, const float *dy, limits cut, float *dx,
		float *db, stretch range);

	// Y[n,c,p] = max_t X[n,c,window p,t], and tap[n,c,p] is the first t with this value; at most 256 taps.
	int (*max_pool)(const windows *g, const float *x, float *y, uint8_t *tap, stretch planes);

	// ∂X[n,c,q] = Σ_p ∂L/∂Y[n,c,p], cut by the limits, over the windows p whose maximum is at q. X is not read.
	int (*max_pool_grad)(const windows *g, const float *dy, limits cut, const uint8_t *tap, float *dx, stretch planes);

	// Y[n,k,p] = clip(B[k] + Σ_{c,t} W[k,c,t]·X[n,c,window p,t]) for 3×3 windows with
	// stride 1, for the filters k in the stretch `to` and for the tile rows in the stretch `rows`. A tile row is two
	// rows of outputs; the tile rows of all images are counted one after the other. X is first cut by the limits.
	// If turned is set, W is [c, k, t] and its taps are in reverse order, as the gradient by the input needs them.
	int (*conv3x3)(const arena *a, const windows *g, int64_t outputs, int turned, const float *x, limits cut,
		const float *w, const float *b, float low, float high, float *y, stretch rows, stretch to);

	// With D = ∂L/∂Y cut by the limits, summed over the tile rows, for the channels `from` of X and `to` of Y:
	//	∂W[k,c,t] = Σ_{n,p} D[n,k,p]·X[n,c,window p,t]
	//	∂B[k]     = Σ_{n,p} D[n,k,p]
	// Results whose pointer is NULL are not computed.
	int (*conv3x3_filters)(const arena *a, const windows *g, int64_t outputs, const float *dy, limits cut,
		const float *x, float *dw, float *db, stretch rows, stretch from, stretch to);
} kernel_set;

extern const kernel_set winnow_plain, winnow_avx2, winnow_avx512;
