// MaxPool, which also outputs the tap of each window's maximum. Planes are split as for depthwise convolutions.

// highest writes, for each i < n, the largest of src[t][i] over t and the first t that reaches it.
static void highest(float *dst, int32_t *which, int64_t n, const float *const *src, int taps) {
	for (int64_t i = 0; i < n; i += LANES) {
		vec best = load(src[0] + i);
		bits at = {0};
		for (int t = 1; t < taps; t++) {
			vec v = load(src[t] + i);
			bits over = (bits)(v > best);
			best = (vec)(((bits)v & over) | ((bits)best & ~over));
			at = (((bits){0} + t) & over) | (at & ~over);
		}
		store(dst + i, best);
		*(bits *)(which + i) = at;
	}
}

static int max_pool(const windows *g, const float *x, float *y, uint8_t *tap, stretch planes) {
	deal l;
	if (deal_new(&l, g)) return -1;
	int32_t *which = malloc((size_t)(l.run + LANES) * sizeof *which);
	if (!which) {
		deal_free(&l);
		return -1;
	}
	for (int64_t i = 0; i < l.parts * l.size; i++) l.image[i] = -INFINITY;
	aim(&l);
	for (int64_t p = planes.first; p < planes.end; p++) {
		deal_out(&l, g, x + p * g->in[0] * g->in[1]);
		highest(l.windows, which, l.run, l.src, l.taps);
		for (int64_t r = 0; r < g->out[0]; r++) {
			int64_t at = (p * g->out[0] + r) * g->out[1];
			memcpy(y + at, l.windows + r * l.pitch, (size_t)g->out[1] * sizeof *y);
			for (int64_t i = 0; i < g->out[1]; i++) tap[at + i] = (uint8_t)which[r * l.pitch + i];
		}
	}
	free(which), deal_free(&l);
	return 0;
}

static int max_pool_grad(const windows *g, const float *dy, limits cut, const uint8_t *tap, float *dx, stretch planes) {
	int64_t taps = g->kernel[0] * g->kernel[1], down[256], right[256];
	for (int64_t t = 0; t < taps; t++) down[t] = t / g->kernel[1] * g->dilation[0], right[t] = t % g->kernel[1] * g->dilation[1];
	memset(dx + planes.first * g->in[0] * g->in[1], 0, (size_t)((planes.end - planes.first) * g->in[0] * g->in[1]) * sizeof *dx);
	for (int64_t p = planes.first; p < planes.end; p++) {
		for (int64_t r = 0; r < g->out[0]; r++) {
			for (int64_t i = 0; i < g->out[1]; i++) {
				int64_t at = (p * g->out[0] + r) * g->out[1] + i;
				if (cut.y && !(cut.y[at] > cut.low && cut.y[at] < cut.high)) continue;
				int64_t v = r * g->stride[0] - g->before[0] + down[tap[at]], h = i * g->stride[1] - g->before[1] + right[tap[at]];
				if (v < 0 || v >= g->in[0] || h < 0 || h >= g->in[1]) continue; // the window contains only padding
				dx[(p * g->in[0] + v) * g->in[1] + h] += dy[at];
			}
		}
	}
	return 0;
}
