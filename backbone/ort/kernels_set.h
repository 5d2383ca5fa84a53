// The kernels for one instruction set. A file that includes this one defines LANES, the number of floats in a
// vector, and SET, the name of the table at the end.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

typedef float vec __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t bits __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

static inline vec load(const float *p) { return *(const vec *)p; }
static inline void store(float *p, vec v) { *(vec *)p = v; }
static inline vec all(float f) { return f - (vec){0}; }

static float total(vec v) {
	float s = 0;
	for (int i = 0; i < LANES; i++) s += v[i];
	return s;
}

static int64_t whole(int64_t n) { return (n + LANES - 1) / LANES * LANES; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

// blend writes dst[i] = start + Σ_t w[t]·src[t][i] for i < n. It may write up to one vector more.
static void blend(float *dst, int64_t n, float start, const float *const *src, const float *w, int taps) {
	int64_t i = 0;
	for (; i + 4 * LANES <= n; i += 4 * LANES) {
		vec a = all(start), b = a, c = a, d = a;
		for (int t = 0; t < taps; t++) {
			const float *s = src[t] + i;
			vec f = all(w[t]);
			a += f * load(s), b += f * load(s + LANES), c += f * load(s + 2 * LANES), d += f * load(s + 3 * LANES);
		}
		store(dst + i, a), store(dst + i + LANES, b), store(dst + i + 2 * LANES, c), store(dst + i + 3 * LANES, d);
	}
	for (; i < n; i += LANES) {
		vec a = all(start);
		for (int t = 0; t < taps; t++) a += all(w[t]) * load(src[t] + i);
		store(dst + i, a);
	}
}

// products adds Σ_i d[i]·src[t][i] to sums[t], where i runs to n rounded up to whole vectors.
static void products(float *sums, const float *d, int64_t n, const float *const *src, int taps) {
	int t = 0;
	for (; t + 3 <= taps; t += 3) {
		const float *p = src[t], *q = src[t + 1], *r = src[t + 2];
		vec a = {0}, b = {0}, c = {0}, e = {0}, f = {0}, g = {0};
		int64_t i = 0;
		for (; i + 2 * LANES <= n; i += 2 * LANES) {
			vec u = load(d + i), v = load(d + i + LANES);
			a += u * load(p + i), b += u * load(q + i), c += u * load(r + i);
			e += v * load(p + i + LANES), f += v * load(q + i + LANES), g += v * load(r + i + LANES);
		}
		for (; i < n; i += LANES) {
			vec u = load(d + i);
			a += u * load(p + i), b += u * load(q + i), c += u * load(r + i);
		}
		sums[t] += total(a + e), sums[t + 1] += total(b + f), sums[t + 2] += total(c + g);
	}
	for (; t < taps; t++) {
		vec a = {0};
		for (int64_t i = 0; i < n; i += LANES) a += load(d + i) * load(src[t] + i);
		sums[t] += total(a);
	}
}

// sum returns Σ_i d[i], where i runs to n rounded up to whole vectors.
static float sum(const float *d, int64_t n) {
	vec a = {0};
	for (int64_t i = 0; i < n; i += LANES) a += load(d + i);
	return total(a);
}

// passed returns d where y is strictly between the limits, and 0 elsewhere.
static inline vec passed(vec d, vec y, vec low, vec high) { return (vec)((bits)d & (bits)((y > low) & (y < high))); }

static int cut_planes(int64_t batch, int64_t channels, int64_t places, const float *dy, limits cut, float *dx, float *db, stretch range) {
	vec low = all(cut.low), high = all(cut.high);
	for (int64_t c = range.first; c < range.end; c++) {
		float rest = 0;
		vec s = {0};
		for (int64_t n = 0; n < batch; n++) {
			int64_t at = (n * channels + c) * places, i = 0;
			const float *d = dy + at, *y = cut.y + at;
			float *x = dx + at;
			for (; i + LANES <= places; i += LANES) {
				vec v = passed(load(d + i), load(y + i), low, high);
				store(x + i, v);
				s += v;
			}
			for (; i < places; i++) {
				x[i] = y[i] > cut.low && y[i] < cut.high ? d[i] : 0;
				rest += x[i];
			}
		}
		if (db) db[c] = total(s) + rest;
	}
	return 0;
}

#include "kernels_depthwise.h"
#include "kernels_pool.h"
#include "kernels_turn.h"
#include "kernels_winograd.h"
#include "kernels_winograd_filters.h"

const kernel_set SET = {depthwise, depthwise_grad, cut_planes, max_pool, max_pool_grad, conv3x3, conv3x3_filters};
