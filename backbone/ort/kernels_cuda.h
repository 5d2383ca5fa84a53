// The operators for CUDA: cuDNN computes the gradients of convolutions, and winnow's kernels (kernels_cuda.cu) the
// others. NVRTC compiles the kernels for the device in use. kernels.c includes this file.

#ifdef _WIN32
int winnow_cuda_kernels(table api, int flags, const char *source, void **domain, char *why, size_t room) {
	snprintf(why, room, "winnow has kernels for GPUs on Linux alone");
	return 1;
}
#else
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

enum { GPU_STREAM = 193, TF32 = 1, EXHAUSTIVE = 2, DEVICES = 16, SIZES_OF_FILTERS = 8, MOST_WORKSPACE = 1 << 30 };

// cuDNN's description of an algorithm: cudnnConvolutionBwdDataAlgoPerf_t, which equals that for the filters.
typedef struct {
	int algorithm, status;
	float time;
	size_t memory;
	int deterministic, math, reserved[3];
} algorithm;

enum { NCHW = 0, FLOATS = 0, CORRELATION = 1, TENSOR_MATH = 1, BY_CONVERSION = 2, PLAIN_MATH = 3, MOST_ALGORITHMS = 12 };

static struct {
	// cuDNN 9
	int (*create)(void **);
	int (*stream)(void *, void *);
	int (*tensor)(void **);
	int (*tensor4)(void *, int, int, int, int, int, int);
	int (*filter)(void **);
	int (*filter4)(void *, int, int, int, int, int, int);
	int (*convolution)(void **);
	int (*convolution2)(void *, int, int, int, int, int, int, int, int);
	int (*groups)(void *, int);
	int (*math)(void *, int);
	int (*end_tensor)(void *), (*end_filter)(void *), (*end_convolution)(void *);
	int (*data_list)(void *, void *, void *, void *, void *, int, int *, algorithm *);
	int (*filter_list)(void *, void *, void *, void *, void *, int, int *, algorithm *);
	int (*data_find)(void *, void *, const void *, void *, const void *, void *, void *, void *, int, int *, algorithm *, void *, size_t);
	int (*filter_find)(void *, void *, const void *, void *, const void *, void *, void *, void *, int, int *, algorithm *, void *, size_t);
	int (*data)(void *, const void *, void *, const void *, void *, const void *, void *, int, void *, size_t, const void *, void *, void *);
	int (*filters)(void *, const void *, void *, const void *, void *, const void *, void *, int, void *, size_t, const void *, void *, void *);
	const char *(*text)(int);
	// NVRTC 13
	int (*program)(void **, const char *, const char *, int, const char *const *, const char *const *);
	int (*compile)(void *, int, const char *const *);
	int (*log_size)(void *, size_t *);
	int (*log)(void *, char *);
	int (*code_size)(void *, size_t *);
	int (*code)(void *, char *);
	int (*end_program)(void **);
	// the driver
	int (*device)(int *);
	int (*attribute)(int *, int, int);
	int (*load)(void **, const void *);
	int (*function)(void **, void *, const char *);
	int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
} nv;

static const struct { void *to; const char *library, *name; } nv_names[] = {
	{&nv.create, "libcudnn.so.9", "cudnnCreate"}, {&nv.stream, "libcudnn.so.9", "cudnnSetStream"},
	{&nv.tensor, "libcudnn.so.9", "cudnnCreateTensorDescriptor"}, {&nv.tensor4, "libcudnn.so.9", "cudnnSetTensor4dDescriptor"},
	{&nv.filter, "libcudnn.so.9", "cudnnCreateFilterDescriptor"}, {&nv.filter4, "libcudnn.so.9", "cudnnSetFilter4dDescriptor"},
	{&nv.convolution, "libcudnn.so.9", "cudnnCreateConvolutionDescriptor"}, {&nv.convolution2, "libcudnn.so.9", "cudnnSetConvolution2dDescriptor"},
	{&nv.groups, "libcudnn.so.9", "cudnnSetConvolutionGroupCount"}, {&nv.math, "libcudnn.so.9", "cudnnSetConvolutionMathType"},
	{&nv.end_tensor, "libcudnn.so.9", "cudnnDestroyTensorDescriptor"}, {&nv.end_filter, "libcudnn.so.9", "cudnnDestroyFilterDescriptor"},
	{&nv.end_convolution, "libcudnn.so.9", "cudnnDestroyConvolutionDescriptor"},
	{&nv.data_list, "libcudnn.so.9", "cudnnGetConvolutionBackwardDataAlgorithm_v7"},
	{&nv.filter_list, "libcudnn.so.9", "cudnnGetConvolutionBackwardFilterAlgorithm_v7"},
	{&nv.data_find, "libcudnn.so.9", "cudnnFindConvolutionBackwardDataAlgorithmEx"},
	{&nv.filter_find, "libcudnn.so.9", "cudnnFindConvolutionBackwardFilterAlgorithmEx"},
	{&nv.data, "libcudnn.so.9", "cudnnConvolutionBackwardData"}, {&nv.filters, "libcudnn.so.9", "cudnnConvolutionBackwardFilter"},
	{&nv.text, "libcudnn.so.9", "cudnnGetErrorString"},
	{&nv.program, "libnvrtc.so.13", "nvrtcCreateProgram"}, {&nv.compile, "libnvrtc.so.13", "nvrtcCompileProgram"},
	{&nv.log_size, "libnvrtc.so.13", "nvrtcGetProgramLogSize"}, {&nv.log, "libnvrtc.so.13", "nvrtcGetProgramLog"},
	{&nv.code_size, "libnvrtc.so.13", "nvrtcGetCUBINSize"}, {&nv.code, "libnvrtc.so.13", "nvrtcGetCUBIN"},
	{&nv.end_program, "libnvrtc.so.13", "nvrtcDestroyProgram"},
	{&nv.device, "libcuda.so.1", "cuCtxGetDevice"}, {&nv.attribute, "libcuda.so.1", "cuDeviceGetAttribute"},
	{&nv.load, "libcuda.so.1", "cuModuleLoadData"}, {&nv.function, "libcuda.so.1", "cuModuleGetFunction"},
	{&nv.launch, "libcuda.so.1", "cuLaunchKernel"},
};

// winnow's state for a device, created on first use. Only one thread at a time calls cuDNN and compiles.
typedef struct {
	int height, width;
	void *module;
} compiled;

static struct {
	void *dnn;
	compiled modules[SIZES_OF_FILTERS];
} devices[DEVICES];

static pthread_mutex_t nv_lock = PTHREAD_MUTEX_INITIALIZER;
static const char *cuda_source;

static status failed_with(table api, const char *what, int number, const char *text) {
	char line[300];
	snprintf(line, sizeof line, "winnow: %s: failure %d%s%s", what, number, text ? ": " : "", text ? text : "");
	return failed(api, FAIL, line);
}

// compile builds the kernels for depthwise filters of a given size, for the current device.
static status compile(table api, int device, int height, int width, void **module) {
	compiled *list = devices[device].modules;
	int i = 0;
	for (; i < SIZES_OF_FILTERS && list[i].module; i++)
		if (list[i].height == height && list[i].width == width) {
			*module = list[i].module;
			return NULL;
		}
	if (i == SIZES_OF_FILTERS) return failed(api, FAIL, "winnow: filters of too many sizes");
	int major = 0, minor = 0;
	nv.attribute(&major, 75, device), nv.attribute(&minor, 76, device);
	char arch[40], h[20], w[20];
	snprintf(arch, sizeof arch, "--gpu-architecture=sm_%d%d", major, minor);
	snprintf(h, sizeof h, "-DKH=%d", height), snprintf(w, sizeof w, "-DKW=%d", width);
	const char *const options[] = {arch, h, w};
	void *p = NULL;
	int e = nv.program(&p, cuda_source, "winnow.cu", 0, NULL, NULL);
	if (!e) e = nv.compile(p, 3, options);
	if (e) {
		char log[240] = "";
		size_t size = 0;
		if (p && !nv.log_size(p, &size)) {
			char *whole = calloc(1, size + 1);
			if (whole && !nv.log(p, whole)) snprintf(log, sizeof log, "%s", whole);
			free(whole);
		}
		if (p) nv.end_program(&p);
		return failed_with(api, "NVRTC", e, log);
	}
	size_t size = 0;
	e = nv.code_size(p, &size);
	char *code = e ? NULL : malloc(size);
	if (code) e = nv.code(p, code);
	if (code && !e) e = nv.load(&list[i].module, code);
	free(code);
	nv.end_program(&p);
	if (e || !list[i].module) return failed_with(api, "loading kernels", e, NULL);
	list[i].height = height, list[i].width = width;
	*module = list[i].module;
	return NULL;
}

// One run of an operator on a device.
typedef struct {
	table api;
	void *context, *stream, *module, *allocator, *room;
	int device;
} gpu;

static status open_gpu(const kernel *k, void *context, int height, int width, gpu *g) {
	*g = (gpu){.api = k->api, .context = context};
	status s = ((status (*)(const void *, void **))k->api[GPU_STREAM])(context, &g->stream);
	if (s) return s;
	int e = nv.device(&g->device);
	if (e || g->device >= DEVICES) return failed_with(k->api, "the current device", e, NULL);
	pthread_mutex_lock(&nv_lock);
	s = compile(k->api, g->device, height, width, &g->module);
	pthread_mutex_unlock(&nv_lock);
	return s;
}

// take_room allocates working memory; close_gpu frees it. Later work on the same stream may reuse the memory.
static status take_room(gpu *g, size_t bytes) {
	if (!bytes) return NULL;
	void *info = NULL;
	status s = ((status (*)(const char *, int, int, int, void **))g->api[MEMORY_INFO])("Cuda", ARENA, g->device, 0, &info);
	if (!s) s = ((status (*)(void *, const void *, void **))g->api[ALLOCATOR])(g->context, info, &g->allocator);
	if (info) ((void (*)(void *))g->api[END_MEMORY_INFO])(info);
	if (!s) s = ((status (*)(void *, size_t, void **))g->api[ALLOC])(g->allocator, bytes, &g->room);
	if (!s && !g->room) s = failed(g->api, FAIL, "winnow: memory is short");
	return s;
}

static void close_gpu(gpu *g) {
	status s = g->room ? ((status (*)(void *, void *))g->api[FREE])(g->allocator, g->room) : NULL;
	if (s) ((void (*)(void *))g->api[END_STATUS])(s);
	if (g->allocator) ((void (*)(void *))g->api[END_ALLOCATOR])(g->allocator);
	g->room = g->allocator = NULL;
}

enum { THREADS = 256, BLOCKS = 2048, ROW_BLOCKS = 512, COLUMN_THREADS = 128, MOST_BLOCKS = 65535 };

static status launch_by(gpu *g, const char *name, unsigned across, unsigned down, unsigned threads, void **arguments) {
	void *f = NULL;
	int e = nv.function(&f, g->module, name);
	if (!e) e = nv.launch(f, across, down, 1, threads, 1, 1, 0, g->stream, arguments, NULL);
	return e ? failed_with(g->api, name, e, NULL) : NULL;
}

static status launch(gpu *g, const char *name, unsigned across, unsigned down, void **arguments) {
	return launch_by(g, name, across, down, THREADS, arguments);
}

// threads_for returns whole warps for n places or columns, at most THREADS.
static unsigned threads_for(int64_t n) { return (unsigned)(n >= THREADS ? THREADS : (n + 31) / 32 * 32); }

static unsigned blocks_for(int64_t n) {
	int64_t blocks = (n + THREADS - 1) / THREADS;
	return (unsigned)(blocks < 1 ? 1 : blocks > MOST_BLOCKS ? MOST_BLOCKS : blocks);
}

// launch_rows starts a kernel that processes each row of a matrix with one warp.
static status launch_rows(gpu *g, const char *name, int rows, void **arguments) {
	return launch(g, name, blocks_for((int64_t)rows * 32), 1, arguments);
}

// shares returns the number of blocks that share the images of a channel.
static int shares(int64_t images, int64_t channels) {
	int64_t n = (BLOCKS + channels - 1) / channels;
	return (int)(n > images ? images : n < 1 ? 1 : n);
}

// add_up sums each of the n rows of part.
static status add_up(gpu *g, const float *part, int each, float *to, int n) {
	return launch_by(g, "part_sum", (unsigned)n, 1, 32, (void *[]){&part, &each, &to});
}

// sum_cut sums dY over all axes except the channels. Unless Y is NULL, dY is first cut by Y; unless dX is NULL, it
// receives the cut dY.
static status sum_cut(gpu *g, const float *dy, const float *y, float low, float high, float *dx, const int64_t *dims, float *db) {
	int images = (int)dims[0], channels = (int)dims[1], places = (int)(dims[2] * dims[3]), each = shares(images, channels);
	status s = take_room(g, (size_t)channels * each * sizeof(float));
	float *part = g->room;
	if (!s) s = launch(g, "cut_sum", each, channels, (void *[]){&dy, &y, &low, &high, &dx, &images, &channels, &places, &part});
	if (!s) s = add_up(g, part, each, db, channels);
	close_gpu(g);
	return s;
}

// Cut: dY, Y → dX, dB.
static status compute_cut_gpu(void *of, void *context) {
	kernel *k = of;
	gpu g;
	tensor dy, y;
	float *dx, *db;
	status s = input(k->api, context, 0, &dy);
	if (!s) s = input(k->api, context, 1, &y);
	if (!s) s = output(k->api, context, 0, dy.dims, dy.rank, &dx);
	if (!s) s = output(k->api, context, 1, dy.dims + 1, 1, &db);
	if (!s) s = open_gpu(k, context, 3, 3, &g);
	if (s) return s;
	int64_t n = elements(&dy);
	if (n != elements(&y)) return failed(k->api, INVALID, "winnow: dY and Y differ in size");
	if (!n) return NULL;
	if (db) return sum_cut(&g, dy.data, y.data, k->low, k->high, dx, dy.dims, db);
	return launch(&g, "cut", blocks_for(n), 1, (void *[]){&dy.data, &y.data, &k->low, &k->high, &dx, &n});
}

// The description of windows over planes for the kernels.
typedef struct {
	int images, channels, in[2], out[2], stride[2], dilation[2], before[2];
} places;

static places places_of(const windows *w) {
	places p = {.images = (int)w->batch, .channels = (int)w->channels};
	for (int i = 0; i < 2; i++) {
		p.in[i] = (int)w->in[i], p.out[i] = (int)w->out[i], p.stride[i] = (int)w->stride[i];
		p.dilation[i] = (int)w->dilation[i], p.before[i] = (int)w->before[i];
	}
	return p;
}

// DepthwiseGrad: dY, X, W → dX, dW, dB.
static status compute_depthwise_grad_gpu(void *of, void *context) {
	kernel *k = of;
	gpu g;
	tensor dy, x, w;
	windows at;
	float *dx, *dw, *db;
	status s = input(k->api, context, 0, &dy);
	if (!s) s = input(k->api, context, 1, &x);
	if (!s) s = input(k->api, context, 2, &w);
	if (!s) s = read_windows(k, &x, &w, &at);
	if (!s) s = output(k->api, context, 0, x.dims, 4, &dx);
	if (!s) s = output(k->api, context, 1, w.dims, 4, &dw);
	if (!s) s = output(k->api, context, 2, x.dims + 1, 1, &db);
	if (s) return s;
	if (dy.dims[2] != at.out[0] || dy.dims[3] != at.out[1]) return failed(k->api, INVALID, "winnow: dY does not have the size of the windows");
	s = open_gpu(k, context, (int)w.dims[2], (int)w.dims[3], &g);
	if (s) return s;
	places d = places_of(&at);
	if (dx) s = launch_by(&g, "depthwise_input", (unsigned)(at.batch * at.channels), 1, threads_for(at.in[0] * at.in[1]), (void *[]){&d, &dy.data, &w.data, &dx});
	if (!s && dw) {
		int taps = (int)(w.dims[2] * w.dims[3]), each = shares(d.images, d.channels);
		s = take_room(&g, (size_t)d.channels * taps * each * sizeof(float));
		float *part = g.room;
		if (!s) s = launch(&g, "depthwise_filters", each, d.channels, (void *[]){&d, &dy.data, &x.data, &part});
		if (!s) s = add_up(&g, part, each, dw, d.channels * taps);
		close_gpu(&g);
	}
	if (!s && db) s = sum_cut(&g, dy.data, NULL, 0, 0, NULL, dy.dims, db);
	return s;
}

// A convolution for cuDNN, with the algorithms chosen for the latest shapes.
typedef struct {
	kernel k;
	int64_t group;
	int flags;
	void *x, *w, *dy, *how[2]; // descriptors; how[0] and how[1] are for the gradients by X and by W, whose math types may differ
	int64_t dims[8];           // shapes of X and W for which they were made
	algorithm by[2];
} convolution;

static status dnn_failed(const convolution *c, const char *what, int e) { return failed_with(c->k.api, what, e, nv.text(e)); }

static status create_convolution(const op *o, table api, const void *info, void **to) {
	void *windows = NULL;
	status s = create_windows(o, api, info, &windows);
	if (s) return s;
	convolution *c = calloc(1, sizeof *c);
	if (!c) {
		free(windows);
		return failed(api, FAIL, "winnow: memory is short");
	}
	c->k = *(kernel *)windows, c->flags = o->flags;
	free(windows);
	s = ints(api, info, "groups", &c->group, 1);
	int e = s ? 0 : nv.tensor(&c->x) || nv.tensor(&c->dy) || nv.filter(&c->w) || nv.convolution(&c->how[0]) || nv.convolution(&c->how[1]);
	if (e) s = failed(api, FAIL, "winnow: cuDNN does not start");
	*to = c;
	return s;
}

static void destroy_convolution(void *of) {
	convolution *c = of;
	if (c->x) nv.end_tensor(c->x);
	if (c->dy) nv.end_tensor(c->dy);
	if (c->w) nv.end_filter(c->w);
	for (int i = 0; i < 2; i++)
		if (c->how[i]) nv.end_convolution(c->how[i]);
	free(c);
}

// describe passes the shapes to cuDNN.
static status describe(convolution *c, const tensor *x, const tensor *w, const tensor *dy) {
	int e = nv.tensor4(c->x, NCHW, FLOATS, (int)x->dims[0], (int)x->dims[1], (int)x->dims[2], (int)x->dims[3]);
	if (!e) e = nv.tensor4(c->dy, NCHW, FLOATS, (int)dy->dims[0], (int)dy->dims[1], (int)dy->dims[2], (int)dy->dims[3]);
	if (!e) e = nv.filter4(c->w, FLOATS, NCHW, (int)w->dims[0], (int)w->dims[1], (int)w->dims[2], (int)w->dims[3]);
	for (int i = 0; i < 2 && !e; i++) {
		const kernel *k = &c->k;
		e = nv.convolution2(c->how[i], (int)k->pads[0], (int)k->pads[1], (int)k->strides[0], (int)k->strides[1], (int)k->dilations[0], (int)k->dilations[1],
			CORRELATION, FLOATS);
		if (!e) e = nv.groups(c->how[i], (int)c->group);
		if (!e) e = nv.math(c->how[i], c->flags & TF32 ? 0 : PLAIN_MATH);
	}
	return e ? dnn_failed(c, "cuDNN: the shapes of a convolution", e) : NULL;
}

// choose takes the first (fastest) algorithm in a list that is deterministic and does not need too much working
// memory.
static int choose(const convolution *c, const algorithm *list, int n, algorithm *to) {
	for (int i = 0; i < n; i++) {
		int rough = list[i].math == BY_CONVERSION || (list[i].math == TENSOR_MATH && !(c->flags & TF32)); // less precise than requested
		if (list[i].status || !list[i].deterministic || list[i].memory > MOST_WORKSPACE || rough) continue;
		*to = list[i];
		if (!(c->flags & TF32)) to->math = PLAIN_MATH;
		return 1;
	}
	return 0;
}

// plan chooses the algorithms for the shapes, by cuDNN's heuristics or by trying them.
static status plan(convolution *c, gpu *g, void *dnn, const tensor *x, const tensor *w, const tensor *dy, float *dx, float *dw) {
	algorithm list[MOST_ALGORITHMS];
	int n[2] = {0, 0}, e[2] = {0, 0};
	status s = NULL;
	for (int i = 0; i < 2; i++) {
		void *to = i ? (void *)dw : (void *)dx;
		if (!to) continue;
		if (c->flags & EXHAUSTIVE) {
			s = take_room(g, MOST_WORKSPACE / 4);
			if (!s) e[i] = i ? nv.filter_find(dnn, c->x, x->data, c->dy, dy->data, c->how[1], c->w, to, MOST_ALGORITHMS, &n[1], list, g->room, MOST_WORKSPACE / 4)
				: nv.data_find(dnn, c->w, w->data, c->dy, dy->data, c->how[0], c->x, to, MOST_ALGORITHMS, &n[0], list, g->room, MOST_WORKSPACE / 4);
			close_gpu(g);
		} else {
			e[i] = i ? nv.filter_list(dnn, c->x, c->dy, c->how[1], c->w, MOST_ALGORITHMS, &n[1], list)
				: nv.data_list(dnn, c->w, c->dy, c->how[0], c->x, MOST_ALGORITHMS, &n[0], list);
		}
		if (s) return s;
		if (e[i]) return dnn_failed(c, "cuDNN: algorithms", e[i]);
		if (!choose(c, list, n[i], &c->by[i])) return failed(c->k.api, FAIL, "winnow: cuDNN has no algorithm for a convolution");
		int bad = nv.math(c->how[i], c->by[i].math);
		if (bad) return dnn_failed(c, "cuDNN: mathematics", bad);
	}
	return NULL;
}

static status gradients(convolution *c, gpu *g, const tensor *x, const tensor *w, const tensor *dy, float *dx, float *dw) {
	void **dnn = &devices[g->device].dnn;
	int e = *dnn ? 0 : nv.create(dnn);
	if (!e) e = nv.stream(*dnn, g->stream);
	if (e) return dnn_failed(c, "cuDNN", e);
	int64_t dims[8];
	memcpy(dims, x->dims, sizeof x->dims), memcpy(dims + 4, w->dims, sizeof w->dims);
	status s = NULL;
	if (memcmp(dims, c->dims, sizeof dims)) {
		memset(c->dims, 0, sizeof dims);
		s = describe(c, x, w, dy);
		if (!s) s = plan(c, g, *dnn, x, w, dy, dx, dw);
		if (s) return s;
		memcpy(c->dims, dims, sizeof dims);
	}
	const float one = 1, none = 0;
	size_t room = 0;
	for (int i = 0; i < 2; i++)
		if ((i ? dw : dx) && c->by[i].memory > room) room = c->by[i].memory;
	s = take_room(g, room);
	if (!s && dx && (e = nv.data(*dnn, &one, c->w, w->data, c->dy, dy->data, c->how[0], c->by[0].algorithm, g->room, c->by[0].memory, &none, c->x, dx)))
		s = dnn_failed(c, "cuDNN: gradient by the input", e);
	if (!s && dw && (e = nv.filters(*dnn, &one, c->x, x->data, c->dy, dy->data, c->how[1], c->by[1].algorithm, g->room, c->by[1].memory, &none, c->w, dw)))
		s = dnn_failed(c, "cuDNN: gradient by the filters", e);
	close_gpu(g);
	return s;
}

// ConvGrad: dY, X, W → dX, dW, dB.
static status compute_convolution_grad(void *of, void *context) {
	convolution *c = of;
	table api = c->k.api;
	gpu g;
	tensor dy, x, w;
	float *dx, *dw, *db;
	status s = input(api, context, 0, &dy);
	if (!s) s = input(api, context, 1, &x);
	if (!s) s = input(api, context, 2, &w);
	if (!s) s = output(api, context, 0, x.dims, 4, &dx);
	if (!s) s = output(api, context, 1, w.dims, 4, &dw);
	if (!s) s = output(api, context, 2, dy.dims + 1, 1, &db);
	if (!s) s = open_gpu(&c->k, context, 3, 3, &g);
	if (s) return s;
	if (dx || dw) {
		pthread_mutex_lock(&nv_lock);
		s = gradients(c, &g, &x, &w, &dy, dx, dw);
		pthread_mutex_unlock(&nv_lock);
	}
	if (!s && db) s = sum_cut(&g, dy.data, NULL, 0, 0, NULL, dy.dims, db);
	return s;
}

// Operators without attributes.
static status create_plain(const op *o, table api, const void *info, void **to) {
	kernel *k = calloc(1, sizeof *k);
	if (!k) return failed(api, FAIL, "winnow: memory is short");
	k->api = api;
	*to = k;
	return NULL;
}

// rows_of treats a tensor as a matrix whose columns are its last axis.
static void rows_of(const tensor *t, int *rows, int *columns) {
	*columns = t->rank ? (int)t->dims[t->rank - 1] : 1;
	*rows = *columns ? (int)(elements(t) / *columns) : 0;
}

// sum_rows sums dY over all axes except the last, and dY·(X - mean)·r as well unless X is NULL. If X is not NULL, dB
// may be NULL.
static status sum_rows(gpu *g, const tensor *dy, const tensor *x, const tensor *mean, const tensor *r, float *dscale, float *db) {
	const float *data[4] = {dy->data, x ? x->data : NULL, x ? mean->data : NULL, x ? r->data : NULL};
	int rows, columns;
	rows_of(dy, &rows, &columns);
	int down = (columns + COLUMN_THREADS - 1) / COLUMN_THREADS, each = rows < 1 ? 1 : rows < ROW_BLOCKS ? rows : ROW_BLOCKS;
	status s = take_room(g, 2 * sizeof(float) * (size_t)columns * each);
	float *biases = g->room, *scales = biases + (size_t)columns * each;
	if (!s) s = launch_by(g, "norm_columns", each, down, COLUMN_THREADS, (void *[]){&data[0], &data[1], &data[2], &data[3], &scales, &biases, &rows, &columns});
	if (!s && dscale) s = add_up(g, scales, each, dscale, columns);
	if (!s && db) s = add_up(g, biases, each, db, columns);
	close_gpu(g);
	return s;
}

// SoftmaxGrad: dY, Y → dX.
static status compute_softmax_grad(void *of, void *context) {
	kernel *k = of;
	gpu g;
	tensor dy, y;
	float *dx;
	int rows, columns;
	status s = input(k->api, context, 0, &dy);
	if (!s) s = input(k->api, context, 1, &y);
	if (!s) s = output(k->api, context, 0, dy.dims, dy.rank, &dx);
	if (!s) s = open_gpu(k, context, 3, 3, &g);
	if (s) return s;
	rows_of(&dy, &rows, &columns);
	return rows ? launch_rows(&g, "softmax_sum", rows, (void *[]){&dy.data, &y.data, &dx, &rows, &columns}) : NULL;
}

// LayerNormGrad: dY, X, mean, r, scale → dX, dscale, dbias.
static status compute_norm_grad(void *of, void *context) {
	kernel *k = of;
	gpu g;
	tensor dy, x, mean, r, scale;
	float *dx, *dscale, *dbias;
	int rows, columns;
	status s = input(k->api, context, 0, &dy);
	if (!s) s = input(k->api, context, 1, &x);
	if (!s) s = input(k->api, context, 2, &mean);
	if (!s) s = input(k->api, context, 3, &r);
	if (!s) s = input(k->api, context, 4, &scale);
	if (!s) s = output(k->api, context, 0, x.dims, x.rank, &dx);
	if (!s) s = output(k->api, context, 1, scale.dims, scale.rank, &dscale);
	if (!s) s = output(k->api, context, 2, scale.dims, scale.rank, &dbias);
	if (!s) s = open_gpu(k, context, 3, 3, &g);
	if (s) return s;
	rows_of(&x, &rows, &columns);
	if (elements(&scale) != columns || elements(&mean) != rows || elements(&r) != rows)
		return failed(k->api, INVALID, "winnow: expected a layer normalisation over the last axis");
	if (rows && dx) s = launch_rows(&g, "norm_sum", rows, (void *[]){&dy.data, &x.data, &mean.data, &r.data, &scale.data, &dx, &rows, &columns});
	if (!s && dscale) s = sum_rows(&g, &dy, &x, &mean, &r, dscale, dbias);
	if (!s && dbias && !dscale) s = sum_rows(&g, &dy, NULL, NULL, NULL, NULL, dbias);
	return s;
}

// SumRows: dY → dB.
static status compute_sum_rows(void *of, void *context) {
	kernel *k = of;
	gpu g;
	tensor dy;
	float *db;
	status s = input(k->api, context, 0, &dy);
	if (!s) s = output(k->api, context, 0, dy.dims + dy.rank - 1, 1, &db);
	if (!s) s = open_gpu(k, context, 3, 3, &g);
	return s ? s : sum_rows(&g, &dy, NULL, NULL, NULL, NULL, db);
}

// GeluGrad: dY, X → dX.
static status compute_gelu_grad(void *of, void *context) {
	kernel *k = of;
	gpu g;
	tensor dy, x;
	float *dx;
	status s = input(k->api, context, 0, &dy);
	if (!s) s = input(k->api, context, 1, &x);
	if (!s) s = output(k->api, context, 0, dy.dims, dy.rank, &dx);
	if (!s) s = open_gpu(k, context, 3, 3, &g);
	if (s) return s;
	int64_t n = elements(&dy);
	return n ? launch(&g, "gelu", blocks_for(n), 1, (void *[]){&dy.data, &x.data, &dx, &n}) : NULL;
}

// MaxPoolGradAt: dY, places → dX.
static status compute_max_pool_grad_gpu(void *of, void *context) {
	kernel *k = of;
	gpu g;
	tensor dy, at;
	windows w;
	float *dx;
	status s = input(k->api, context, 0, &dy);
	if (!s) s = input(k->api, context, 1, &at);
	if (s) return s;
	lay_windows(k, &dy, k->in, k->kernel, &w);
	if (elements(&dy) != elements(&at) || dy.dims[2] != w.out[0] || dy.dims[3] != w.out[1])
		return failed(k->api, INVALID, "winnow: dY or its places do not have the size of the windows");
	s = output(k->api, context, 0, (int64_t[]){w.batch, w.channels, w.in[0], w.in[1]}, 4, &dx);
	if (!s) s = open_gpu(k, context, (int)k->kernel[0], (int)k->kernel[1], &g);
	if (s) return s;
	places p = places_of(&w);
	unsigned planes = (unsigned)(w.batch * w.channels);
	return planes ? launch_by(&g, "max_pool", planes, 1, threads_for(w.in[0] * w.in[1]), (void *[]){&p, &dy.data, &at.data, &dx}) : NULL;
}

static const char *on_cuda(const op *o) { return "CUDAExecutionProvider"; }

#define GPU_OP(NAME, IN, OUT, CREATE, COMPUTE, DESTROY, INPLACE) OP_ON(on_cuda, NAME, IN, OUT, CREATE, COMPUTE, DESTROY, INPLACE)

static const op gpu_ops[] = {
	GPU_OP("Cut", "ff", "ff", create_cut, compute_cut_gpu, destroy, first_in_place),
	GPU_OP("DepthwiseGrad", "fffF", "fff", create_windows, compute_depthwise_grad_gpu, destroy, NULL),
	GPU_OP("SoftmaxGrad", "ff", "f", create_plain, compute_softmax_grad, destroy, first_in_place),
	GPU_OP("LayerNormGrad", "fffff", "fff", create_plain, compute_norm_grad, destroy, NULL),
	GPU_OP("SumRows", "f", "f", create_plain, compute_sum_rows, destroy, NULL),
	GPU_OP("GeluGrad", "ff", "f", create_plain, compute_gelu_grad, destroy, first_in_place),
	GPU_OP("MaxPoolGradAt", "fi", "f", create_pool, compute_max_pool_grad_gpu, destroy, NULL),
	GPU_OP("ConvGrad", "fff", "fff", create_convolution, compute_convolution_grad, destroy_convolution, NULL),
};
enum { GPU_OPS = sizeof gpu_ops / sizeof *gpu_ops };

// winnow_cuda_kernels creates the operators' domain for sessions on CUDA, one for each combination of flags. It
// returns 0, or 1 and the reason why the domain could not be created.
int winnow_cuda_kernels(table api, int flags, const char *source, void **domain, char *why, size_t room) {
	static op ops[4][GPU_OPS];
	cuda_source = source;
	for (size_t i = 0; i < sizeof nv_names / sizeof *nv_names; i++) {
		void *library = dlopen(nv_names[i].library, RTLD_LAZY | RTLD_LOCAL);
		void *f = library ? dlsym(library, nv_names[i].name) : NULL;
		if (!f) {
			snprintf(why, room, library ? "%s has no %s" : "%s cannot be loaded", nv_names[i].library, nv_names[i].name);
			return 1;
		}
		memcpy(nv_names[i].to, &f, sizeof f);
	}
	for (size_t i = 0; i < GPU_OPS; i++) ops[flags & 3][i] = gpu_ops[i], ops[flags & 3][i].flags = flags;
	status s = create_domain(api, ops[flags & 3], GPU_OPS, domain);
	if (!s) return 0;
	snprintf(why, room, "%s", ((const char *(*)(void *))api[2])(s));
	((void (*)(void *))api[END_STATUS])(s);
	*domain = NULL;
	return 1;
}
#endif
