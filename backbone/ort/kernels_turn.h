// Reads NCHW tensors so that one vector holds the values of LANES channels at one position, and writes them back.

// The lanes of two vectors interleaved: LOW takes their first halves, HIGH their second halves.
#if LANES == 4
#define LOW(a, b) {a[0], b[0], a[1], b[1]}
#define HIGH(a, b) {a[2], b[2], a[3], b[3]}
#elif LANES == 8
#define LOW(a, b) {a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3]}
#define HIGH(a, b) {a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7]}
#else
#define LOW(a, b) {a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3], a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7]}
#define HIGH(a, b) {a[8], b[8], a[9], b[9], a[10], b[10], a[11], b[11], a[12], b[12], a[13], b[13], a[14], b[14], a[15], b[15]}
#endif

// transpose swaps rows and columns. Interleaving the two halves of the rows log2(LANES) times does that.
static inline __attribute__((always_inline)) void transpose(vec *v) {
	vec w[LANES];
#pragma GCC unroll 4
	for (int times = LANES; times > 1; times /= 2) {
#pragma GCC unroll 8
		for (int i = 0; i < LANES / 2; i++) {
			vec a = v[i], b = v[i + LANES / 2];
			w[2 * i] = (vec)LOW(a, b), w[2 * i + 1] = (vec)HIGH(a, b);
		}
#pragma GCC unroll 16
		for (int i = 0; i < LANES; i++) v[i] = w[i];
	}
}

// load_before loads the part of a vector before the end, and zeros for the rest.
static vec load_before(const float *p, const float *end) {
	if (p + LANES <= end) return load(p);
	vec v = {0};
	if (p < end) memcpy(&v, p, (size_t)(end - p) * sizeof *p);
	return v;
}

// Planes to read, cut by the limits. `cut.y` has the same layout as `data`.
typedef struct {
	const float *data, *end;
	limits cut;
} planes;

// turn_in writes to[j·LANES + i] = data[at + i·apart + j], or zero if i ≥ rows, for j < n. It may write up to one
// vector of j more.
static inline __attribute__((always_inline)) void turn_in(float *to, const planes *p, int64_t at, int64_t apart, int64_t rows, int64_t n) {
	vec low = all(p->cut.low), high = all(p->cut.high);
	for (int64_t j = 0; j < n; j += LANES, to += LANES * LANES) {
		vec v[LANES];
		const float *from = p->data + at + j;
		if (rows >= LANES && from + (LANES - 1) * apart + LANES <= p->end) {
#pragma GCC unroll 16
			for (int i = 0; i < LANES; i++) v[i] = load(from + i * apart);
			if (p->cut.y) {
				const float *y = p->cut.y + at + j;
#pragma GCC unroll 16
				for (int i = 0; i < LANES; i++) v[i] = passed(v[i], load(y + i * apart), low, high);
			}
		} else {
			const float *end = p->cut.y + (p->end - p->data);
			for (int i = 0; i < LANES; i++) {
				v[i] = i < rows ? load_before(from + i * apart, p->end) : (vec){0};
				if (p->cut.y && i < rows) v[i] = passed(v[i], load_before(p->cut.y + at + j + i * apart, end), low, high);
			}
		}
		transpose(v);
#pragma GCC unroll 16
		for (int i = 0; i < LANES; i++) store(to + i * LANES, v[i]);
	}
}

// turn_out is the inverse: it writes to[i·apart + j] = from[j·LANES + i] for i < rows, j < n. It may read up to one
// vector of j more.
static void turn_out(float *to, const float *from, int64_t apart, int64_t rows, int64_t n) {
	for (int64_t j = 0; j < n; j += LANES) {
		int64_t at = n >= LANES ? smaller(j, n - LANES) : j; // the last vectors may overlap the previous ones
		vec v[LANES];
#pragma GCC unroll 16
		for (int i = 0; i < LANES; i++) v[i] = load(from + (at + i) * LANES);
		transpose(v);
		if (rows >= LANES && n >= LANES) {
#pragma GCC unroll 16
			for (int i = 0; i < LANES; i++) store(to + i * apart + at, v[i]);
			continue;
		}
		for (int i = 0; i < LANES && i < rows; i++) memcpy(to + i * apart + at, &v[i], (size_t)smaller(LANES, n) * sizeof *to);
	}
}
