// The operators Conv3x3 and Conv3x3Grad. kernels.c includes this file.

static status create_conv(const op *o, table api, const void *info, void **to) {
	status s = create_windows(o, api, info, to);
	if (s) return s;
	kernel *k = *to;
	int simple = k->strides[0] == 1 && k->strides[1] == 1 && k->dilations[0] == 1 && k->dilations[1] == 1;
	for (int i = 0; i < 4; i++) simple = simple && k->pads[i] >= 0 && k->pads[i] <= 2;
	if (!simple) {
		free(k);
		return failed(api, INVALID, "winnow: expected 3x3 windows with stride 1, dilation 1 and pads of 0 to 2");
	}
	s = ((status (*)(const char *, int, int, int, void **))api[MEMORY_INFO])("Cpu", ARENA, 0, 0, &k->memory);
	if (s) free(k);
	return s;
}

static void destroy_conv(void *of) {
	kernel *k = of;
	((void (*)(void *))k->api[END_MEMORY_INFO])(k->memory);
	free(k);
}

struct arena {
	table api;
	void *allocator;
};

static status open_arena(const kernel *k, void *context, arena *a) {
	*a = (arena){.api = k->api};
	return ((status (*)(void *, const void *, void **))k->api[ALLOCATOR])(context, k->memory, &a->allocator);
}

static void close_arena(const arena *a) {
	if (a->allocator) ((void (*)(void *))a->api[END_ALLOCATOR])(a->allocator);
}

float *winnow_take(const arena *a, int64_t n) {
	void *memory = NULL;
	status s = ((status (*)(void *, size_t, void **))a->api[ALLOC])(a->allocator, (size_t)n * sizeof(float), &memory);
	if (s) ((void (*)(void *))a->api[END_STATUS])(s);
	return memory;
}

void winnow_give(const arena *a, float *memory) {
	status s = memory ? ((status (*)(void *, void *))a->api[FREE])(a->allocator, memory) : NULL;
	if (s) ((void (*)(void *))a->api[END_STATUS])(s);
}

// The work of a convolution is divided into groups of tile rows times slices of channels. With about this many tiles
// per group, the transformed tiles stay in the cache, and transforming the filters for each group costs relatively
// little.
enum { GROUP = 200, FROM = 128, TO = 256, SLICE = 32, SHARES = 8 };

typedef struct {
	job *j;
	arena memory;
	windows g;
	int64_t outputs, rows, groups, froms, tos; // tile rows; groups of tile rows; slices of the channels of X and of Y
	int turned;
	const float *x;
	float *part; // the sums of all groups except the first
} conv_job;

static int64_t ceiling(int64_t n, int64_t by) { return (n + by - 1) / by; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

// slice returns one of several slices of the channels. Slices consist of whole vectors.
static stretch slice(int64_t channels, int64_t slices, int64_t i) {
	stretch s = part(ceiling(channels, SLICE), slices, (size_t)i);
	return (stretch){least(s.first * SLICE, channels), least(s.end * SLICE, channels)};
}

static int64_t tiles_across(const windows *g) { return ceiling(g->out[1], 2); }

static void conv_piece(void *of, size_t i) {
	conv_job *c = of;
	job *j = c->j;
	stretch items = part(c->groups * c->tos, j->pieces, i);
	for (int64_t at = items.first; at < items.end; at++) {
		stretch rows = part(c->rows, c->groups, (size_t)(at / c->tos)), to = slice(c->outputs, c->tos, at % c->tos);
		int short_of = c->turned ? set->conv3x3(&c->memory, &c->g, c->outputs, 1, j->dy.data, j->cut, j->w.data, NULL, -INFINITY, INFINITY, j->dx, rows, to)
		                         : set->conv3x3(&c->memory, &c->g, c->outputs, 0, j->x.data, (limits){0}, j->w.data, j->b.data, j->cut.low, j->cut.high, j->to, rows, to);
		if (short_of) j->failed = 1;
	}
}

static status run_conv(const kernel *k, void *context, conv_job *c) {
	c->rows = c->g.batch * ceiling(c->g.out[0], 2);
	c->groups = least(c->rows, ceiling(c->rows * tiles_across(&c->g), GROUP));
	c->tos = c->groups ? least(ceiling(c->outputs, SLICE), ceiling(SHARES, c->groups)) : 0;
	status s = parallel(k->api, context, conv_piece, c->groups * c->tos, c, &c->j->pieces);
	return s || !c->j->failed ? s : failed(k->api, FAIL, "winnow: memory is short");
}

// read_conv derives the geometry from the attributes, the input and the filters.
static status read_conv(const kernel *k, const tensor *x, const tensor *w, windows *g) {
	if (x->rank != 4 || w->rank != 4 || w->dims[1] != x->dims[1] || w->dims[2] != 3 || w->dims[3] != 3)
		return failed(k->api, INVALID, "winnow: expected the shapes X [N,C,h,w] and W [K,C,3,3]");
	lay_windows(k, x, x->dims + 2, w->dims + 2, g);
	if (g->out[0] < 1 || g->out[1] < 1) return failed(k->api, INVALID, "winnow: X is smaller than the windows");
	return NULL;
}

// Conv3x3: X, W, B → Y.
static status compute_conv(void *of, void *context) {
	kernel *k = of;
	job j = {.cut = {.low = k->low, .high = k->high}};
	conv_job c = {.j = &j};
	status s = input(k->api, context, 0, &j.x);
	if (!s) s = input(k->api, context, 1, &j.w);
	if (!s) s = input(k->api, context, 2, &j.b);
	if (!s) s = read_conv(k, &j.x, &j.w, &c.g);
	c.outputs = j.w.dims[0];
	if (!s) s = output(k->api, context, 0, (int64_t[]){c.g.batch, c.outputs, c.g.out[0], c.g.out[1]}, 4, &j.to);
	if (!s) s = open_arena(k, context, &c.memory);
	if (s) return s;
	s = run_conv(k, context, &c);
	close_arena(&c.memory);
	return s;
}

// filters_piece computes the groups' shares of ∂W and ∂B. The share of the first group is written directly to the
// outputs; the shares of the others are stored one after the other in working memory.
static void filters_piece(void *of, size_t i) {
	conv_job *c = of;
	job *j = c->j;
	int64_t weights = c->outputs * c->g.channels * 9, each = c->froms * c->tos;
	stretch items = part(c->groups * each, j->pieces, i);
	for (int64_t at = items.first; at < items.end; at++) {
		int64_t group = at / each;
		stretch from = slice(c->g.channels, c->froms, at % each / c->tos), to = slice(c->outputs, c->tos, at % c->tos);
		float *dw = j->dw, *db = from.first ? NULL : j->db;
		if (group) {
			float *share = c->part + (group - 1) * (weights + c->outputs);
			dw = dw ? share : NULL, db = db ? share + weights : NULL;
		}
		if (set->conv3x3_filters(&c->memory, &c->g, c->outputs, j->dy.data, j->cut, j->x.data, dw, db, part(c->rows, c->groups, (size_t)group), from, to)) j->failed = 1;
	}
}

// sum_piece adds up the shares of all groups.
static void sum_piece(void *of, size_t i) {
	conv_job *c = of;
	int64_t weights = c->outputs * c->g.channels * 9;
	stretch w = part(weights, c->j->pieces, i), b = part(c->outputs, c->j->pieces, i);
	for (int64_t group = 1; group < c->groups; group++) {
		const float *share = c->part + (group - 1) * (weights + c->outputs);
		if (c->j->dw) for (int64_t at = w.first; at < w.end; at++) c->j->dw[at] += share[at];
		if (c->j->db) for (int64_t at = b.first; at < b.end; at++) c->j->db[at] += share[weights + at];
	}
}

static status run_filters(const kernel *k, void *context, conv_job *c) {
	c->rows = c->g.batch * ceiling(c->g.out[0], 2);
	c->froms = c->j->dw ? ceiling(c->g.channels, FROM) : 1, c->tos = ceiling(c->outputs, TO);
	c->groups = most(1, least(least(c->rows, ceiling(c->rows * tiles_across(&c->g), GROUP / 2)), ceiling(SHARES, c->froms * c->tos)));
	while (c->groups * c->froms * c->tos < SHARES && c->outputs / c->tos > SLICE) c->tos *= 2;
	if (c->groups > 1 && !(c->part = winnow_take(&c->memory, (c->groups - 1) * c->outputs * (c->g.channels * 9 + 1))))
		return failed(k->api, FAIL, "winnow: memory is short");
	status s = parallel(k->api, context, filters_piece, c->groups * c->froms * c->tos, c, &c->j->pieces);
	if (!s && c->groups > 1) s = parallel(k->api, context, sum_piece, most(c->outputs, 1), c, &c->j->pieces);
	winnow_give(&c->memory, c->part);
	return s || !c->j->failed ? s : failed(k->api, FAIL, "winnow: memory is short");
}

// run_input computes ∂X: a convolution of ∂Y with the filters rotated by 180° and their two channel axes swapped.
static status run_input(const kernel *k, void *context, conv_job *c) {
	windows back = c->g;
	back.channels = c->outputs;
	for (int i = 0; i < 2; i++) back.in[i] = c->g.out[i], back.out[i] = c->g.in[i], back.before[i] = 2 - c->g.before[i];
	c->outputs = c->g.channels, c->g = back, c->turned = 1;
	return run_conv(k, context, c);
}

// Conv3x3Grad: dY, X, W, Y → dX, dW, dB.
static status compute_conv_grad(void *of, void *context) {
	kernel *k = of;
	job j = {.cut = {.low = k->low, .high = k->high}};
	conv_job c = {.j = &j};
	status s = input(k->api, context, 0, &j.dy);
	if (!s) s = input(k->api, context, 1, &j.x);
	if (!s) s = input(k->api, context, 2, &j.w);
	if (!s) s = input(k->api, context, 3, &j.y);
	if (!s) s = read_conv(k, &j.x, &j.w, &c.g);
	if (!s) s = output(k->api, context, 0, j.x.dims, 4, &j.dx);
	if (!s) s = output(k->api, context, 1, j.w.dims, 4, &j.dw);
	if (!s) s = output(k->api, context, 2, j.w.dims, 1, &j.db);
	if (s) return s;
	c.outputs = j.w.dims[0];
	int64_t n = c.g.batch * c.outputs * c.g.out[0] * c.g.out[1];
	if (elements(&j.dy) != n || (j.y.data && elements(&j.y) != n))
		return failed(k->api, INVALID, "winnow: dY or Y does not have the size of the windows");
	j.cut.y = j.y.data;
	s = open_arena(k, context, &c.memory);
	if (!s && (j.dw || j.db)) s = run_filters(k, context, &c);
	if (!s && j.dx) s = run_input(k, context, &c);
	close_arena(&c.memory);
	return s;
}
