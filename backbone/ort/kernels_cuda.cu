// Kernels for NVIDIA's GPUs, compiled on the machine by NVRTC (kernels_cuda.h). Tests compile them for the CPU.
// Tensors are float32 [N, C, height, width], contiguous. A plane is one channel of one image. Sizes of planes fit in
// 32 bits, because 64-bit divisions are slow here.

#ifndef KH // height and width of a depthwise filter, or of a pool's windows
#define KH 3
#define KW 3
#endif

typedef long long wide;

// block_sum returns, in the first thread, the sum of the values of all threads of a block.
static __device__ float block_sum(float v) {
	__shared__ float sums[32];
	for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
	__syncthreads();
	if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
	__syncthreads();
	v = threadIdx.x < (blockDim.x + 31) / 32 ? sums[threadIdx.x] : 0;
	if (threadIdx.x < 32)
		for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
	return v;
}

// warp_sum returns the sum of the values of a warp, to each of its threads.
static __device__ float warp_sum(float v) {
	for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
	return v;
}

// The rows of a matrix for warps: each warp takes the rows first, first + step, …; thread lane of it takes the columns
// lane, lane + lanes, …
typedef struct { int first, step, lane, lanes; } warp_rows;

static __device__ warp_rows rows_of_warp() {
	warp_rows w;
	w.lanes = blockDim.x < 32 ? 1 : 32, w.lane = threadIdx.x % w.lanes;
	const int warps = blockDim.x / w.lanes;
	w.first = blockIdx.x * warps + threadIdx.x / w.lanes, w.step = gridDim.x * warps;
	return w;
}

// cut: dX = dY where low < Y < high, else 0.
extern "C" __global__ void cut(const float *dy, const float *y, float low, float high, float *dx, wide n) {
	for (wide i = blockIdx.x * (wide)blockDim.x + threadIdx.x; i < n; i += (wide)gridDim.x * blockDim.x)
		dx[i] = y[i] > low && y[i] < high ? dy[i] : 0;
}

// cut_sum computes the same and also sums dX over the places of channel blockIdx.y in the images blockIdx.x,
// blockIdx.x + gridDim.x, … Y and dX may be NULL: then nothing is cut or written. A warp takes one image; if planes
// are large, all warps share each image.
extern "C" __global__ void cut_sum(const float *dy, const float *y, float low, float high, float *dx, int images, int channels, int places, float *part) {
	const int together = places >= 1024 || blockDim.x < 32, warps = together ? 1 : blockDim.x / 32;
	const int lanes = together ? blockDim.x : 32, lane = together ? threadIdx.x : threadIdx.x % 32;
	float sum = 0;
	for (int i = blockIdx.x + (together ? 0 : threadIdx.x / 32) * gridDim.x; i < images; i += warps * gridDim.x) {
		const wide from = ((wide)i * channels + blockIdx.y) * places;
		for (int p = lane; p < places; p += lanes) {
			float v = dy[from + p];
			if (y) v = y[from + p] > low && y[from + p] < high ? v : 0;
			if (dx) dx[from + p] = v;
			sum += v;
		}
	}
	sum = block_sum(sum);
	if (threadIdx.x == 0) part[(wide)blockIdx.y * gridDim.x + blockIdx.x] = sum;
}

// part_sum: to[i] = Σ_j part[i·each + j], i the block.
extern "C" __global__ void part_sum(const float *part, int each, float *to) {
	float sum = 0;
	for (int j = threadIdx.x; j < each; j += blockDim.x) sum += part[(wide)blockIdx.x * each + j];
	sum = block_sum(sum);
	if (threadIdx.x == 0) to[blockIdx.x] = sum;
}

// Windows over the planes of a tensor.
typedef struct {
	int images, channels, in[2], out[2], stride[2], dilation[2], before[2];
} windows;

// window_of returns the window whose tap reads a place along an axis, or -1.
static __device__ int window_of(const windows *g, int axis, int place, int tap) {
	const int at = place + g->before[axis] - tap * g->dilation[axis];
	if (at < 0 || at % g->stride[axis]) return -1;
	return at / g->stride[axis] < g->out[axis] ? at / g->stride[axis] : -1;
}

// depthwise_input: ∂X[n,c,q] = Σ_{p,t: window p,t is q} W[c,t]·∂Y[n,c,p], of plane blockIdx.x.
extern "C" __global__ void depthwise_input(windows g, const float *dy, const float *w, float *dx) {
	const int places = g.in[0] * g.in[1];
	const float *filter = w + blockIdx.x % g.channels * (KH * KW), *from = dy + (wide)blockIdx.x * g.out[0] * g.out[1];
	float *to = dx + (wide)blockIdx.x * places;
	for (int q = threadIdx.x; q < places; q += blockDim.x) {
		const int down = q / g.in[1], across = q - down * g.in[1];
		float sum = 0;
#pragma unroll
		for (int a = 0; a < KH; a++) {
			const int row = window_of(&g, 0, down, a);
			if (row < 0) continue;
#pragma unroll
			for (int b = 0; b < KW; b++) {
				const int column = window_of(&g, 1, across, b);
				if (column >= 0) sum += filter[a * KW + b] * from[row * g.out[1] + column];
			}
		}
		to[q] = sum;
	}
}

// depthwise_filters: ∂W[c,t] = Σ_{n,p} ∂Y[n,c,p]·X[n,c,window p,t], of channel blockIdx.y and the images of cut_sum.
extern "C" __global__ void depthwise_filters(windows g, const float *dy, const float *x, float *part) {
	const int places = g.out[0] * g.out[1], together = places >= 1024 || blockDim.x < 32, warps = together ? 1 : blockDim.x / 32;
	const int lanes = together ? blockDim.x : 32, lane = together ? threadIdx.x : threadIdx.x % 32;
	float sums[KH * KW];
	for (int t = 0; t < KH * KW; t++) sums[t] = 0;
	for (int i = blockIdx.x + (together ? 0 : threadIdx.x / 32) * gridDim.x; i < g.images; i += warps * gridDim.x) {
		const wide plane = (wide)i * g.channels + blockIdx.y;
		const float *slope = dy + plane * places, *from = x + plane * g.in[0] * g.in[1];
		for (int p = lane; p < places; p += lanes) {
			const int down = p / g.out[1], across = p - down * g.out[1];
			const float d = slope[p];
#pragma unroll
			for (int a = 0; a < KH; a++) {
				const int row = down * g.stride[0] - g.before[0] + a * g.dilation[0];
				if (row < 0 || row >= g.in[0]) continue;
#pragma unroll
				for (int b = 0; b < KW; b++) {
					const int column = across * g.stride[1] - g.before[1] + b * g.dilation[1];
					if (column >= 0 && column < g.in[1]) sums[a * KW + b] += d * from[row * g.in[1] + column];
				}
			}
		}
	}
	for (int t = 0; t < KH * KW; t++) {
		const float sum = block_sum(sums[t]);
		if (threadIdx.x == 0) part[((wide)blockIdx.y * KH * KW + t) * gridDim.x + blockIdx.x] = sum;
	}
}

// max_pool: ∂X[n,c,q] = Σ_p ∂Y[n,c,p] over the windows p of plane blockIdx.x whose maximum is at q, given by its index
// in all of X.
extern "C" __global__ void max_pool(windows g, const float *dy, const wide *at, float *dx) {
	const int places = g.in[0] * g.in[1];
	const wide own = (wide)blockIdx.x * places, other = (wide)blockIdx.x * g.out[0] * g.out[1];
	for (int q = threadIdx.x; q < places; q += blockDim.x) {
		const int down = q / g.in[1], across = q - down * g.in[1];
		float sum = 0;
		for (int a = 0; a < KH; a++) {
			const int row = window_of(&g, 0, down, a);
			if (row < 0) continue;
			for (int b = 0; b < KW; b++) {
				const int column = window_of(&g, 1, across, b);
				if (column < 0) continue;
				const wide p = other + row * g.out[1] + column;
				if (at[p] == own + q) sum += dy[p];
			}
		}
		dx[own + q] = sum;
	}
}

// softmax_sum: ∂X = Y·(∂Y - Σ ∂Y·Y) of every row.
extern "C" __global__ void softmax_sum(const float *dy, const float *y, float *dx, int rows, int columns) {
	const warp_rows w = rows_of_warp();
	for (int row = w.first; row < rows; row += w.step) {
		const wide at = (wide)row * columns;
		float sum = 0;
#pragma unroll 4
		for (int i = w.lane; i < columns; i += w.lanes) sum += dy[at + i] * y[at + i];
		sum = warp_sum(sum);
#pragma unroll 4
		for (int i = w.lane; i < columns; i += w.lanes) dx[at + i] = y[at + i] * (dy[at + i] - sum);
	}
}

// norm_sum: with x̂ = (X - mean)·r and g = ∂Y·scale, ∂X = r·(g - mean(g) - x̂·mean(g·x̂)) of every row.
extern "C" __global__ void norm_sum(const float *dy, const float *x, const float *mean, const float *r, const float *scale, float *dx, int rows, int columns) {
	const warp_rows w = rows_of_warp();
	for (int row = w.first; row < rows; row += w.step) {
		const wide at = (wide)row * columns;
		const float m = mean[row], by = r[row];
		float one = 0, two = 0;
#pragma unroll 4
		for (int i = w.lane; i < columns; i += w.lanes) {
			const float g = dy[at + i] * scale[i];
			one += g, two += g * (x[at + i] - m) * by;
		}
		one = warp_sum(one) / columns, two = warp_sum(two) / columns;
#pragma unroll 4
		for (int i = w.lane; i < columns; i += w.lanes) dx[at + i] = by * (dy[at + i] * scale[i] - one - (x[at + i] - m) * by * two);
	}
}

// norm_columns sums ∂Y·x̂ and ∂Y over the rows blockIdx.x, blockIdx.x + gridDim.x, …; without X, only ∂Y.
extern "C" __global__ void norm_columns(const float *dy, const float *x, const float *mean, const float *r, float *scales, float *biases, int rows, int columns) {
	const int c = blockIdx.y * blockDim.x + threadIdx.x;
	if (c >= columns) return;
	float one = 0, two = 0;
	if (x) {
#pragma unroll 4
		for (int row = blockIdx.x; row < rows; row += gridDim.x) {
			const float d = dy[(wide)row * columns + c];
			one += d * (x[(wide)row * columns + c] - mean[row]) * r[row], two += d;
		}
		scales[(wide)c * gridDim.x + blockIdx.x] = one;
	} else {
#pragma unroll 4
		for (int row = blockIdx.x; row < rows; row += gridDim.x) two += dy[(wide)row * columns + c];
	}
	biases[(wide)c * gridDim.x + blockIdx.x] = two;
}

// gelu: ∂X = ∂Y·(½(1 + erf(x/√2)) + x·e^(-x²/2)/√(2π)).
extern "C" __global__ void gelu(const float *dy, const float *x, float *dx, wide n) {
	for (wide i = blockIdx.x * (wide)blockDim.x + threadIdx.x; i < n; i += (wide)gridDim.x * blockDim.x) {
		const float v = x[i];
		dx[i] = dy[i] * (0.5f * (1 + erff(v * 0.70710678f)) + v * 0.39894228f * expf(-0.5f * v * v));
	}
}
