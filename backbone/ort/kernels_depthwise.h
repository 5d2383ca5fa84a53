// Depthwise convolutions. A plane, including its padding, is split into stride·stride parts so that the values that
// one tap reads for successive windows are adjacent: along each axis, position u of the padded plane is in part u mod
// stride, at index u / stride. The rows of the parts and the rows of windows have the same pitch. Each tap therefore
// reads one contiguous run of memory for a whole plane of windows. The few surplus columns are dropped; in the
// gradient they are zero.

typedef struct {
	int64_t rows, pitch; // of each part
	int64_t size;        // floats in each part, including space for vectors that begin inside it
	int64_t run;         // the length of a run of all windows
	int64_t reach;       // the largest shift
	int parts, taps;
	int64_t *shift; // of each tap, within its part
	int *part;
	const float **src;
	float *memory, *image, *windows; // the parts; a run of windows after `reach` zeros
	float *sums;
} deal;

static int deal_new(deal *l, const windows *g) {
	int64_t far[2];
	for (int i = 0; i < 2; i++) far[i] = (g->kernel[i] - 1) * g->dilation[i] / g->stride[i];
	l->rows = g->out[0] + far[0], l->pitch = g->out[1] + far[1];
	l->run = g->out[0] * l->pitch, l->reach = far[0] * l->pitch + far[1];
	l->size = whole((l->rows + 1) * l->pitch) + 5 * LANES;
	l->parts = (int)(g->stride[0] * g->stride[1]), l->taps = (int)(g->kernel[0] * g->kernel[1]);
	int64_t image = l->parts * l->size, around = l->reach + l->size;
	l->memory = calloc((size_t)(image + around + 2 * l->taps), sizeof(float));
	l->shift = malloc((size_t)l->taps * (sizeof *l->shift + sizeof *l->src + sizeof *l->part));
	if (!l->memory || !l->shift) {
		free(l->memory), free(l->shift);
		return -1;
	}
	l->src = (const float **)(l->shift + l->taps), l->part = (int *)(l->src + l->taps);
	l->image = l->memory, l->windows = l->image + image, l->sums = l->windows + around;
	for (int t = 0; t < l->taps; t++) {
		int64_t y = t / g->kernel[1] * g->dilation[0], x = t % g->kernel[1] * g->dilation[1];
		l->shift[t] = y / g->stride[0] * l->pitch + x / g->stride[1];
		l->part[t] = (int)(y % g->stride[0] * g->stride[1] + x % g->stride[1]);
	}
	return 0;
}

static void deal_free(deal *l) { free(l->memory), free(l->shift); }

// span returns the range of j with 0 ≤ j·stride + part - before < in and j < limit.
static stretch span(int64_t in, int64_t stride, int64_t before, int64_t part, int64_t limit) {
	stretch s = {larger(0, (before - part + stride - 1) / stride), (in + before - part + stride - 1) / stride};
	s.end = larger(s.first, smaller(s.end, limit));
	s.first = smaller(s.first, s.end);
	return s;
}

// deal_out copies a plane into the parts. The gaps between and after the rows are zero already and stay zero.
static void deal_out(deal *l, const windows *g, const float *x) {
	int64_t s = g->stride[1];
	for (int p = 0; p < l->parts; p++) {
		int64_t a = p / s, b = p % s;
		stretch rows = span(g->in[0], g->stride[0], g->before[0], a, l->rows), cols = span(g->in[1], s, g->before[1], b, l->pitch);
		for (int64_t i = rows.first; i < rows.end; i++) {
			const float *from = x + (i * g->stride[0] + a - g->before[0]) * g->in[1] + b - g->before[1];
			float *to = l->image + p * l->size + i * l->pitch;
			if (s == 1) memcpy(to + cols.first, from + cols.first, (size_t)(cols.end - cols.first) * sizeof *to);
			else if (s == 2) for (int64_t j = cols.first; j < cols.end; j++) to[j] = from[2 * j];
			else for (int64_t j = cols.first; j < cols.end; j++) to[j] = from[s * j];
		}
	}
}

// deal_in is the inverse of deal_out: it copies the parts to a plane, with zeros where no window reads.
static void deal_in(const deal *l, const windows *g, float *x) {
	int64_t s = g->stride[1];
	int covered = l->rows * g->stride[0] >= g->in[0] + g->before[0] && l->pitch * s >= g->in[1] + g->before[1];
	if (!covered) memset(x, 0, (size_t)(g->in[0] * g->in[1]) * sizeof *x);
	for (int p = 0; p < l->parts; p++) {
		int64_t a = p / s, b = p % s;
		stretch rows = span(g->in[0], g->stride[0], g->before[0], a, l->rows), cols = span(g->in[1], s, g->before[1], b, l->pitch);
		for (int64_t i = rows.first; i < rows.end; i++) {
			float *to = x + (i * g->stride[0] + a - g->before[0]) * g->in[1] + b - g->before[1];
			const float *from = l->image + p * l->size + i * l->pitch;
			if (s == 1) memcpy(to + cols.first, from + cols.first, (size_t)(cols.end - cols.first) * sizeof *to);
			else if (s == 2) for (int64_t j = cols.first; j < cols.end; j++) to[2 * j] = from[j];
			else for (int64_t j = cols.first; j < cols.end; j++) to[s * j] = from[j];
		}
	}
}

// aim sets the source of each tap to the values that the tap reads in the parts.
static void aim(deal *l) {
	for (int t = 0; t < l->taps; t++) l->src[t] = l->image + l->part[t] * l->size + l->shift[t];
}

static int depthwise(const windows *g, const float *x, const float *w, const float *b, float low, float high, float *y, stretch planes) {
	deal l;
	if (deal_new(&l, g)) return -1;
	aim(&l);
	for (int64_t p = planes.first; p < planes.end; p++) {
		int64_t c = p % g->channels;
		deal_out(&l, g, x + p * g->in[0] * g->in[1]);
		blend(l.windows, l.run, b ? b[c] : 0, l.src, w + c * l.taps, l.taps);
		for (int64_t r = 0; r < g->out[0]; r++) {
			const float *from = l.windows + r * l.pitch;
			float *to = y + (p * g->out[0] + r) * g->out[1];
			for (int64_t i = 0; i < g->out[1]; i++) {
				float v = from[i] > low ? from[i] : low;
				to[i] = v < high ? v : high;
			}
		}
	}
	deal_free(&l);
	return 0;
}

// fill copies the gradient of a plane of windows into its run, cut by the limits. The surplus columns stay zero.
static void fill(deal *l, const windows *g, const float *dy, limits cut, int64_t at) {
	for (int64_t r = 0; r < g->out[0]; r++) {
		float *to = l->windows + l->reach + r * l->pitch;
		const float *d = dy + at + r * g->out[1], *y = cut.y ? cut.y + at + r * g->out[1] : NULL;
		if (y) for (int64_t i = 0; i < g->out[1]; i++) to[i] = y[i] > cut.low && y[i] < cut.high ? d[i] : 0;
		else memcpy(to, d, (size_t)g->out[1] * sizeof *to);
	}
}

// spread computes the parts of ∂X: each part is a weighted sum of the windows' gradients, shifted like its taps.
static void spread(deal *l, const float *w) {
	const float *run = l->windows + l->reach;
	float *weights = l->sums + l->taps;
	for (int p = 0; p < l->parts; p++) {
		int taps = 0;
		for (int t = 0; t < l->taps; t++) {
			if (l->part[t] != p) continue;
			l->src[taps] = run - l->shift[t], weights[taps++] = w[t];
		}
		blend(l->image + p * l->size, l->rows * l->pitch, 0, l->src, weights, taps);
	}
}

static int depthwise_grad(const windows *g, const float *dy, limits cut, const float *x, const float *w, float *dx, float *dw, float *db, stretch channels) {
	deal image, back; // parts of X with the windows' gradients; parts of ∂X
	if (deal_new(&image, g)) return -1;
	if (dx && deal_new(&back, g)) {
		deal_free(&image);
		return -1;
	}
	int64_t in = g->in[0] * g->in[1], out = g->out[0] * g->out[1];
	aim(&image);
	for (int64_t c = channels.first; c < channels.end; c++) {
		float level = 0;
		memset(image.sums, 0, (size_t)image.taps * sizeof(float));
		for (int64_t n = 0; n < g->batch; n++) {
			int64_t plane = n * g->channels + c;
			fill(&image, g, dy, cut, plane * out);
			float *run = image.windows + image.reach;
			if (db) level += sum(run, image.run);
			if (dw) {
				deal_out(&image, g, x + plane * in);
				products(image.sums, run, image.run, image.src, image.taps);
			}
			if (dx) {
				float *own = back.windows;
				back.windows = image.windows;
				spread(&back, w + c * image.taps);
				back.windows = own;
				deal_in(&back, g, dx + plane * in);
			}
		}
		if (db) db[c] = level;
		if (dw) memcpy(dw + c * image.taps, image.sums, (size_t)image.taps * sizeof(float));
	}
	deal_free(&image);
	if (dx) deal_free(&back);
	return 0;
}
