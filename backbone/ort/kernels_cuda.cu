// Kernels for NVIDIA's GPUs, compiled on the device's machine by NVRTC (kernels_cuda.h). Tests compile them for the
// CPU. Tensors are float32 [N, C, height, width], contiguous.

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

// cut: dX = dY where low < Y < high, else 0.
extern "C" __global__ void cut(const float *dy, const float *y, float low, float high, float *dx, wide n) {
	for (wide i = blockIdx.x * (wide)blockDim.x + threadIdx.x; i < n; i += (wide)gridDim.x * blockDim.x)
		dx[i] = y[i] > low && y[i] < high ? dy[i] : 0;
}

static __device__ float cut_at(const float *dy, const float *y, float low, float high, float *dx, wide at) {
	float v = dy[at];
	if (y) v = y[at] > low && y[at] < high ? v : 0;
	if (dx) dx[at] = v;
	return v;
}

// cut_sum does the same, without Y and dX nothing, and sums dX over the places of a channel, blockIdx.y, and over the images
// blockIdx.x, blockIdx.x + gridDim.x, …
extern "C" __global__ void cut_sum(const float *dy, const float *y, float low, float high, float *dx, int images, int channels, int places, float *part) {
	const int c = blockIdx.y, first = blockIdx.x, step = gridDim.x;
	const int mine = first < images ? (images - first + step - 1) / step : 0;
	float sum = 0;
	if (places >= (int)blockDim.x) {
		for (int i = 0; i < mine; i++) {
			const wide from = ((wide)(first + i * step) * channels + c) * places;
			for (int p = threadIdx.x; p < places; p += blockDim.x) sum += cut_at(dy, y, low, high, dx, from + p);
		}
	} else {
		for (int t = threadIdx.x; t < mine * places; t += blockDim.x)
			sum += cut_at(dy, y, low, high, dx, ((wide)(first + t / places * step) * channels + c) * places + t % places);
	}
	sum = block_sum(sum);
	if (threadIdx.x == 0) part[(wide)c * step + first] = sum;
}

// add_up: to[i] = Σ_j part[i·each + j].
extern "C" __global__ void add_up(const float *part, int each, float *to, int n) {
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	float sum = 0;
	for (int j = 0; j < each; j++) sum += part[(wide)i * each + j];
	to[i] = sum;
}

// Windows over the planes of a tensor.
typedef struct {
	int images, channels, in[2], out[2], stride[2], dilation[2], before[2];
} windows;

// depthwise_input: ∂X[n,c,q] = Σ_{p,t: window p,t is q} W[c,t]·∂Y[n,c,p].
extern "C" __global__ void depthwise_input(windows g, const float *dy, const float *w, float *dx) {
	const wide n = (wide)g.images * g.channels * g.in[0] * g.in[1];
	for (wide i = blockIdx.x * (wide)blockDim.x + threadIdx.x; i < n; i += (wide)gridDim.x * blockDim.x) {
		const int across = (int)(i % g.in[1]), down = (int)(i / g.in[1] % g.in[0]);
		const wide plane = i / ((wide)g.in[1] * g.in[0]);
		const float *filter = w + plane % g.channels * (KH * KW), *from = dy + plane * g.out[0] * g.out[1];
		float sum = 0;
		for (int a = 0; a < KH; a++) {
			int row = down + g.before[0] - a * g.dilation[0];
			if (row < 0 || row % g.stride[0]) continue;
			row /= g.stride[0];
			if (row >= g.out[0]) continue;
			for (int b = 0; b < KW; b++) {
				int column = across + g.before[1] - b * g.dilation[1];
				if (column < 0 || column % g.stride[1]) continue;
				column /= g.stride[1];
				if (column < g.out[1]) sum += filter[a * KW + b] * from[(wide)row * g.out[1] + column];
			}
		}
		dx[i] = sum;
	}
}

// depthwise_filters: ∂W[c,t] = Σ_{n,p} ∂Y[n,c,p]·X[n,c,window p,t], of channel blockIdx.y and the images of cut_sum.
extern "C" __global__ void depthwise_filters(windows g, const float *dy, const float *x, float *part) {
	const int c = blockIdx.y, first = blockIdx.x, step = gridDim.x, places = g.out[0] * g.out[1];
	const int mine = first < g.images ? (g.images - first + step - 1) / step : 0;
	float sums[KH * KW];
	for (int t = 0; t < KH * KW; t++) sums[t] = 0;
	for (int t = threadIdx.x; t < mine * places; t += blockDim.x) {
		const wide plane = (wide)(first + t / places * step) * g.channels + c;
		const int p = t % places, down = p / g.out[1] * g.stride[0] - g.before[0], across = p % g.out[1] * g.stride[1] - g.before[1];
		const float d = dy[plane * places + p], *from = x + plane * g.in[0] * g.in[1];
#pragma unroll
		for (int a = 0; a < KH; a++) {
			const int row = down + a * g.dilation[0];
			if (row < 0 || row >= g.in[0]) continue;
#pragma unroll
			for (int b = 0; b < KW; b++) {
				const int column = across + b * g.dilation[1];
				if (column >= 0 && column < g.in[1]) sums[a * KW + b] += d * from[(wide)row * g.in[1] + column];
			}
		}
	}
	for (int t = 0; t < KH * KW; t++) {
		const float sum = block_sum(sums[t]);
		if (threadIdx.x == 0) part[((wide)c * KH * KW + t) * step + first] = sum;
	}
}

// max_pool: ∂X[n,c,q] = Σ_p ∂Y[n,c,p] over the windows p whose maximum is at q, by its place in all of X.
extern "C" __global__ void max_pool(windows g, const float *dy, const wide *at, float *dx) {
	const wide n = (wide)g.images * g.channels * g.in[0] * g.in[1];
	for (wide i = blockIdx.x * (wide)blockDim.x + threadIdx.x; i < n; i += (wide)gridDim.x * blockDim.x) {
		const int across = (int)(i % g.in[1]), down = (int)(i / g.in[1] % g.in[0]);
		const wide plane = i / ((wide)g.in[1] * g.in[0]) * g.out[0] * g.out[1];
		float sum = 0;
		for (int a = 0; a < KH; a++) {
			int row = down + g.before[0] - a * g.dilation[0];
			if (row < 0 || row % g.stride[0]) continue;
			row /= g.stride[0];
			if (row >= g.out[0]) continue;
			for (int b = 0; b < KW; b++) {
				int column = across + g.before[1] - b * g.dilation[1];
				if (column < 0 || column % g.stride[1]) continue;
				column /= g.stride[1];
				const wide p = plane + (wide)row * g.out[1] + column;
				if (column < g.out[1] && at[p] == i) sum += dy[p];
			}
		}
		dx[i] = sum;
	}
}

// everywhere is block_sum in every thread.
static __device__ float everywhere(float v) {
	__shared__ float total;
	v = block_sum(v);
	if (threadIdx.x == 0) total = v;
	__syncthreads();
	v = total;
	__syncthreads();
	return v;
}

// softmax_sum: ∂X = Y·(∂Y - Σ ∂Y·Y) of row blockIdx.x.
extern "C" __global__ void softmax_sum(const float *dy, const float *y, float *dx, int columns) {
	const wide at = (wide)blockIdx.x * columns;
	float sum = 0;
	for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += dy[at + i] * y[at + i];
	sum = everywhere(sum);
	for (int i = threadIdx.x; i < columns; i += blockDim.x) dx[at + i] = y[at + i] * (dy[at + i] - sum);
}

// norm_sum: with x̂ = (X - mean)·r and g = ∂Y·scale, ∂X = r·(g - mean(g) - x̂·mean(g·x̂)) of row blockIdx.x.
extern "C" __global__ void norm_sum(const float *dy, const float *x, const float *mean, const float *r, const float *scale, float *dx, int columns) {
	const wide at = (wide)blockIdx.x * columns;
	const float m = mean[blockIdx.x], by = r[blockIdx.x];
	float one = 0, two = 0;
	for (int i = threadIdx.x; i < columns; i += blockDim.x) {
		const float g = dy[at + i] * scale[i];
		one += g, two += g * (x[at + i] - m) * by;
	}
	one = everywhere(one) / columns, two = everywhere(two) / columns;
	for (int i = threadIdx.x; i < columns; i += blockDim.x) dx[at + i] = by * (dy[at + i] * scale[i] - one - (x[at + i] - m) * by * two);
}

// norm_columns sums ∂Y·x̂ and ∂Y over the rows blockIdx.x, blockIdx.x + gridDim.x, …
extern "C" __global__ void norm_columns(const float *dy, const float *x, const float *mean, const float *r, float *scales, float *biases, int rows, int columns) {
	const int c = blockIdx.y * blockDim.x + threadIdx.x;
	if (c >= columns) return;
	float one = 0, two = 0;
	for (int row = blockIdx.x; row < rows; row += gridDim.x) {
		const float d = dy[(wide)row * columns + c];
		one += d * (x[(wide)row * columns + c] - mean[row]) * r[row], two += d;
	}
	scales[(wide)c * gridDim.x + blockIdx.x] = one, biases[(wide)c * gridDim.x + blockIdx.x] = two;
}

// gelu: ∂X = ∂Y·(½(1 + erf(x/√2)) + x·e^(-x²/2)/√(2π)).
extern "C" __global__ void gelu(const float *dy, const float *x, float *dx, wide n) {
	for (wide i = blockIdx.x * (wide)blockDim.x + threadIdx.x; i < n; i += (wide)gridDim.x * blockDim.x) {
		const float v = x[i];
		dx[i] = dy[i] * (0.5f * (1 + erff(v * 0.70710678f)) + v * 0.39894228f * expf(-0.5f * v * v));
	}
}
