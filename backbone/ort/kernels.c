// Custom operators for ONNX Runtime in the domain "winnow", built from winnow's kernels. kernels.h documents the
// operations. Package gradient, which writes the operators into models (kernels.go), documents their inputs, outputs
// and attributes.

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "kernels_choice.h"

// Indices in ONNX Runtime's function table. New versions only append to the table.
enum {
	CREATE_STATUS = 0, CREATE_DOMAIN = 26, DOMAIN_ADD = 27, ADD_DOMAIN = 28, DATA = 51, SIZES = 62, RANK = 61, SHAPE_OF = 65,
	MEMORY_INFO = 68, ALLOC = 75, FREE = 76, ATTRIBUTE_FLOAT = 85, INPUT_COUNT = 88, INPUT = 90, OUTPUT = 91, END_STATUS = 93,
	END_MEMORY_INFO = 94, END_SHAPE = 99, END_ALLOCATOR = 132, ATTRIBUTE_INTS = 163, ALLOCATOR = 253, PARALLEL = 274,
};

typedef const void *const *table;
typedef void *status; // NULL: success
enum { FLOAT = 1, BYTE = 2, WHOLE = 7, REQUIRED = 0, OPTIONAL = 1, FAIL = 1, INVALID = 2, ARENA = 1 };

// The description of an operator for ONNX Runtime: OrtCustomOp as of API version 18.
typedef struct op op;
struct op {
	uint32_t version;
	void *(*create_old)(const op *, table, const void *);
	const char *(*name)(const op *);
	const char *(*provider)(const op *);
	int (*input_type)(const op *, size_t);
	size_t (*input_count)(const op *);
	int (*output_type)(const op *, size_t);
	size_t (*output_count)(const op *);
	void (*compute_old)(void *, void *);
	void (*destroy)(void *);
	int (*input_kind)(const op *, size_t);
	int (*output_kind)(const op *, size_t);
	int (*input_memory)(const op *, size_t);
	int (*variadic[4])(const op *);
	status (*create)(const op *, table, const void *, void **);
	status (*compute)(void *, void *);
	status (*infer)(const op *, void *);
	int (*since)(const op *);
	int (*until)(const op *);
	size_t (*inplace)(int **, int **);
	void (*end_inplace)(int *, int *);
	size_t (*alias)(int **, int **);
	void (*end_alias)(int *, int *);

	// winnow's own fields, after those that ONNX Runtime reads.
	const char *called;
	const char *inputs, *outputs; // one letter each: f float32, b bytes, i int64, F an optional float32 input
	int flags;                    // flags of operators for CUDA
};

// A node of a model.
typedef struct {
	table api;
	int64_t strides[2], dilations[2], pads[4];
	int64_t kernel[2], in[2]; // of pools: the window, and the input's height and width
	float low, high;
	void *memory; // of convolutions: identifies the session's arena
} kernel;

static const kernel_set *set = &winnow_plain;

static status failed(table api, int code, const char *text) { return ((status (*)(int, const char *))api[CREATE_STATUS])(code, text); }

// Descriptions.

static const char *name(const op *o) { return o->called; }
static const char *provider(const op *o) { return NULL; } // the operator runs on the CPU
static int input_type(const op *o, size_t i) { return o->inputs[i] == 'b' ? BYTE : o->inputs[i] == 'i' ? WHOLE : FLOAT; }
static int output_type(const op *o, size_t i) { return o->outputs[i] == 'b' ? BYTE : FLOAT; }
static size_t input_count(const op *o) { return strlen(o->inputs); }
static size_t output_count(const op *o) { return strlen(o->outputs); }
static int input_kind(const op *o, size_t i) { return o->inputs[i] == 'F' ? OPTIONAL : REQUIRED; }
static int output_kind(const op *o, size_t i) { return OPTIONAL; }
static int memory(const op *o, size_t i) { return 0; }
static int never(const op *o) { return 0; }
static int since(const op *o) { return 1; }
static int until(const op *o) { return INT_MAX; }

// The first output may reuse the memory of the first input.
static size_t first_in_place(int **in, int **out) {
	*in = calloc(1, sizeof **in), *out = calloc(1, sizeof **out);
	return *in && *out ? 1 : 0;
}
static void end_in_place(int *in, int *out) { free(in), free(out); }

// Attributes.

static status ints(table api, const void *info, const char *name, int64_t *to, size_t n) {
	return ((status (*)(const void *, const char *, int64_t *, size_t *))api[ATTRIBUTE_INTS])(info, name, to, &n);
}

static status number(table api, const void *info, const char *name, float *to) {
	return ((status (*)(const void *, const char *, float *))api[ATTRIBUTE_FLOAT])(info, name, to);
}

static status create_cut(const op *o, table api, const void *info, void **to) {
	kernel *k = calloc(1, sizeof *k);
	if (!k) return failed(api, FAIL, "winnow: memory is short");
	k->api = api;
	status s = number(api, info, "low", &k->low);
	if (!s) s = number(api, info, "high", &k->high);
	if (s) free(k);
	else *to = k;
	return s;
}

static status create_windows(const op *o, table api, const void *info, void **to) {
	status s = create_cut(o, api, info, to);
	if (s) return s;
	kernel *k = *to;
	s = ints(api, info, "strides", k->strides, 2);
	if (!s) s = ints(api, info, "dilations", k->dilations, 2);
	if (!s) s = ints(api, info, "pads", k->pads, 4);
	if (s) free(k);
	return s;
}

static status create_pool(const op *o, table api, const void *info, void **to) {
	status s = create_windows(o, api, info, to);
	if (s) return s;
	kernel *k = *to;
	s = ints(api, info, "kernel", k->kernel, 2);
	if (!s) s = ints(api, info, "in", k->in, 2);
	if (!s && k->kernel[0] * k->kernel[1] > 256)
		s = failed(api, INVALID, "winnow: a window has more than 256 positions");
	if (s) free(k);
	return s;
}

static void destroy(void *k) { free(k); }

// Tensors.

typedef struct {
	float *data; // NULL: the tensor is omitted
	size_t rank;
	int64_t dims[4]; // 1 for missing axes
} tensor;

static status input(table api, void *context, size_t i, tensor *t) {
	size_t count = 0;
	const void *value = NULL;
	void *shape = NULL;
	*t = (tensor){.dims = {1, 1, 1, 1}};
	status s = ((status (*)(void *, size_t *))api[INPUT_COUNT])(context, &count);
	if (!s && i < count) s = ((status (*)(void *, size_t, const void **))api[INPUT])(context, i, &value);
	if (s || !value) return s;
	s = ((status (*)(const void *, void **))api[SHAPE_OF])(value, &shape);
	if (!s) s = ((status (*)(void *, size_t *))api[RANK])(shape, &t->rank);
	if (!s && t->rank > 4) s = failed(api, INVALID, "winnow: a tensor has more than 4 axes");
	if (!s) s = ((status (*)(void *, int64_t *, size_t))api[SIZES])(shape, t->dims, t->rank);
	if (!s) s = ((status (*)(const void *, void **))api[DATA])(value, (void **)&t->data);
	if (shape) ((void (*)(void *))api[END_SHAPE])(shape);
	return s;
}

static int64_t elements(const tensor *t) { return t->dims[0] * t->dims[1] * t->dims[2] * t->dims[3]; }

// output creates an output of the given shape. data is NULL if the model does not use the output.
static status output(table api, void *context, size_t i, const int64_t *dims, size_t rank, void *to) {
	void *value = NULL, **data = to;
	*data = NULL;
	status s = ((status (*)(void *, size_t, const int64_t *, size_t, void **))api[OUTPUT])(context, i, dims, rank, &value);
	if (!s && value) s = ((status (*)(void *, void **))api[DATA])(value, data);
	return s;
}

// parallel divides n into at most 64 pieces for the session's threads. The pieces do not depend on the threads, and
// one thread computes each piece.
static status parallel(table api, void *context, void (*piece)(void *, size_t), int64_t n, void *job, int64_t *pieces) {
	*pieces = n < 64 ? n : 64;
	return ((status (*)(void *, void (*)(void *, size_t), size_t, size_t, void *))api[PARALLEL])(context, piece, (size_t)*pieces, (size_t)*pieces, job);
}

static stretch part(int64_t n, int64_t pieces, size_t i) {
	return (stretch){n * (int64_t)i / pieces, n * ((int64_t)i + 1) / pieces};
}

// The state of one run of a node, shared by its threads.
typedef struct {
	windows g;
	int64_t places, pieces;
	limits cut;
	tensor x, w, b, dy, y;
	uint8_t *tap;
	float *to, *dx, *dw, *db;
	int failed; // a thread did not get enough memory
} job;

// lay_windows computes the windows over an input that has the batch size and channels of the given tensor.
static void lay_windows(const kernel *k, const tensor *like, const int64_t *in, const int64_t *size, windows *g) {
	g->batch = like->dims[0], g->channels = like->dims[1];
	for (int i = 0; i < 2; i++) {
		g->in[i] = in[i], g->kernel[i] = size[i];
		g->stride[i] = k->strides[i], g->dilation[i] = k->dilations[i], g->before[i] = k->pads[i];
		g->out[i] = (g->in[i] + k->pads[i] + k->pads[2 + i] - g->dilation[i] * (g->kernel[i] - 1) - 1) / g->stride[i] + 1;
	}
}

// read_windows derives the geometry from the attributes, the input, the filters and the output's height and width.
static status read_windows(const kernel *k, const tensor *x, const tensor *w, windows *g) {
	if (x->rank != 4 || w->rank != 4 || w->dims[0] != x->dims[1] || w->dims[1] != 1)
		return failed(k->api, INVALID, "winnow: expected the shapes X [N,C,h,w] and W [C,1,kh,kw]");
	lay_windows(k, x, x->dims + 2, w->dims + 2, g);
	return NULL;
}

static void cut_piece(void *of, size_t i) {
	job *j = of;
	if (set->cut(j->g.batch, j->g.channels, j->places, j->dy.data, j->cut, j->dx, j->db, part(j->g.channels, j->pieces, i))) j->failed = 1;
}

static void depthwise_piece(void *of, size_t i) {
	job *j = of;
	if (set->depthwise(&j->g, j->x.data, j->w.data, j->b.data, j->cut.low, j->cut.high, j->to, part(j->g.batch * j->g.channels, j->pieces, i))) j->failed = 1;
}

static void depthwise_grad_piece(void *of, size_t i) {
	job *j = of;
	if (set->depthwise_grad(&j->g, j->dy.data, j->cut, j->x.data, j->w.data, j->dx, j->dw, j->db, part(j->g.channels, j->pieces, i))) j->failed = 1;
}

static void max_pool_piece(void *of, size_t i) {
	job *j = of;
	if (set->max_pool(&j->g, j->x.data, j->to, j->tap, part(j->g.batch * j->g.channels, j->pieces, i))) j->failed = 1;
}

static void max_pool_grad_piece(void *of, size_t i) {
	job *j = of;
	if (set->max_pool_grad(&j->g, j->dy.data, j->cut, j->tap, j->dx, part(j->g.batch * j->g.channels, j->pieces, i))) j->failed = 1;
}

static status run(const kernel *k, void *context, void (*piece)(void *, size_t), int64_t n, job *j) {
	status s = parallel(k->api, context, piece, n, j, &j->pieces);
	return s || !j->failed ? s : failed(k->api, FAIL, "winnow: memory is short");
}

// Cut: dY, Y → dX, dB.
static status compute_cut(void *of, void *context) {
	kernel *k = of;
	job j = {.cut = {.low = k->low, .high = k->high}};
	status s = input(k->api, context, 0, &j.dy);
	if (!s) s = input(k->api, context, 1, &j.y);
	if (!s) s = output(k->api, context, 0, j.dy.dims, j.dy.rank, &j.dx);
	if (!s) s = output(k->api, context, 1, j.dy.dims + 1, 1, &j.db);
	if (s) return s;
	if (elements(&j.dy) != elements(&j.y)) return failed(k->api, INVALID, "winnow: dY and Y differ in size");
	j.cut.y = j.y.data;
	j.g.batch = j.dy.dims[0], j.g.channels = j.dy.dims[1], j.places = j.dy.dims[2] * j.dy.dims[3];
	return run(k, context, cut_piece, j.g.channels, &j);
}

// Depthwise: X, W, B → Y.
static status compute_depthwise(void *of, void *context) {
	kernel *k = of;
	job j = {.cut = {.low = k->low, .high = k->high}};
	status s = input(k->api, context, 0, &j.x);
	if (!s) s = input(k->api, context, 1, &j.w);
	if (!s) s = input(k->api, context, 2, &j.b);
	if (!s) s = read_windows(k, &j.x, &j.w, &j.g);
	if (!s) s = output(k->api, context, 0, (int64_t[]){j.g.batch, j.g.channels, j.g.out[0], j.g.out[1]}, 4, &j.to);
	return s ? s : run(k, context, depthwise_piece, j.g.batch * j.g.channels, &j);
}

// DepthwiseGrad: dY, X, W, Y → dX, dW, dB.
static status compute_depthwise_grad(void *of, void *context) {
	kernel *k = of;
	job j = {.cut = {.low = k->low, .high = k->high}};
	status s = input(k->api, context, 0, &j.dy);
	if (!s) s = input(k->api, context, 1, &j.x);
	if (!s) s = input(k->api, context, 2, &j.w);
	if (!s) s = input(k->api, context, 3, &j.y);
	if (!s) s = read_windows(k, &j.x, &j.w, &j.g);
	if (!s) s = output(k->api, context, 0, j.x.dims, 4, &j.dx);
	if (!s) s = output(k->api, context, 1, j.w.dims, 4, &j.dw);
	if (!s) s = output(k->api, context, 2, j.x.dims + 1, 1, &j.db);
	if (s) return s;
	if (j.dy.dims[2] != j.g.out[0] || j.dy.dims[3] != j.g.out[1])
		return failed(k->api, INVALID, "winnow: dY does not have the size of the windows");
	if (j.y.data && elements(&j.dy) != elements(&j.y)) return failed(k->api, INVALID, "winnow: dY and Y differ in size");
	j.cut.y = j.y.data;
	return run(k, context, depthwise_grad_piece, j.g.channels, &j);
}

// MaxPool: X → Y, tap.
static status compute_max_pool(void *of, void *context) {
	kernel *k = of;
	job j = {0};
	status s = input(k->api, context, 0, &j.x);
	if (s) return s;
	lay_windows(k, &j.x, j.x.dims + 2, k->kernel, &j.g);
	int64_t dims[] = {j.g.batch, j.g.channels, j.g.out[0], j.g.out[1]};
	s = output(k->api, context, 0, dims, 4, &j.to);
	if (!s) s = output(k->api, context, 1, dims, 4, &j.tap);
	return s ? s : run(k, context, max_pool_piece, j.g.batch * j.g.channels, &j);
}

// MaxPoolGrad: dY, tap, Y → dX.
static status compute_max_pool_grad(void *of, void *context) {
	kernel *k = of;
	job j = {.cut = {.low = k->low, .high = k->high}};
	tensor tap;
	status s = input(k->api, context, 0, &j.dy);
	if (!s) s = input(k->api, context, 1, &tap);
	if (!s) s = input(k->api, context, 2, &j.y);
	if (s) return s;
	lay_windows(k, &j.dy, k->in, k->kernel, &j.g);
	int64_t n = j.g.batch * j.g.channels * j.g.out[0] * j.g.out[1];
	if (elements(&j.dy) != n || elements(&tap) != n || (j.y.data && elements(&j.y) != n))
		return failed(k->api, INVALID, "winnow: dY, tap or Y does not have the size of the windows");
	j.tap = (uint8_t *)tap.data, j.cut.y = j.y.data;
	s = output(k->api, context, 0, (int64_t[]){j.g.batch, j.g.channels, k->in[0], k->in[1]}, 4, &j.dx);
	return s ? s : run(k, context, max_pool_grad_piece, j.g.batch * j.g.channels, &j);
}

#include "kernels_conv.h"

#define OP(NAME, IN, OUT, CREATE, COMPUTE, DESTROY, INPLACE) OP_ON(provider, NAME, IN, OUT, CREATE, COMPUTE, DESTROY, INPLACE)
#define OP_ON(PROVIDER, NAME, IN, OUT, CREATE, COMPUTE, DESTROY, INPLACE) \
	{.version = 18, .name = name, .provider = PROVIDER, .input_type = input_type, .input_count = input_count, .output_type = output_type, \
	.output_count = output_count, .destroy = DESTROY, .input_kind = input_kind, .output_kind = output_kind, .input_memory = memory, \
	.variadic = {never, never, never, never}, .create = CREATE, .compute = COMPUTE, .since = since, .until = until, \
	.inplace = INPLACE, .end_inplace = end_in_place, .called = NAME, .inputs = IN, .outputs = OUT}

static op all_ops[] = {
	OP("Cut", "ff", "ff", create_cut, compute_cut, destroy, first_in_place),
	OP("Depthwise", "ffF", "f", create_windows, compute_depthwise, destroy, NULL),
	OP("DepthwiseGrad", "fffF", "fff", create_windows, compute_depthwise_grad, destroy, NULL),
	OP("Conv3x3", "ffF", "f", create_conv, compute_conv, destroy_conv, NULL),
	OP("Conv3x3Grad", "fffF", "fff", create_conv, compute_conv_grad, destroy_conv, NULL),
	OP("MaxPool", "f", "fb", create_pool, compute_max_pool, destroy, NULL),
	OP("MaxPoolGrad", "fbF", "f", create_pool, compute_max_pool_grad, destroy, NULL),
};

// create_domain creates the domain of some operators, which lives as long as the process.
static status create_domain(table api, const op *ops, size_t n, void **domain) {
	status s = ((status (*)(const char *, void **))api[CREATE_DOMAIN])("winnow", domain);
	for (size_t i = 0; !s && i < n; i++) s = ((status (*)(void *, const op *))api[DOMAIN_ADD])(*domain, &ops[i]);
	return s;
}

#include "kernels_cuda.h"

// winnow_instructions returns the number of floats in the widest vectors that this processor supports: 4, 8 or 16.
int winnow_instructions(void) {
#ifdef WINNOW_X86
	__builtin_cpu_init();
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 4;
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) return 16;
	return 8;
#endif
	return 4;
}

// winnow_kernels creates the domain of the operators for the CPU, whose kernels use vectors of the given number of floats.
void *winnow_kernels(table api, int lanes, void **domain) {
#ifdef WINNOW_X86
	if (lanes == 8) set = &winnow_avx2;
	if (lanes == 16) set = &winnow_avx512;
#endif
	return create_domain(api, all_ops, sizeof all_ops / sizeof *all_ops, domain);
}

// winnow_add_kernels makes the operators available to the models of a session.
void *winnow_add_kernels(table api, void *options, void *domain) { return ((status (*)(void *, void *))api[ADD_DOMAIN])(options, domain); }
