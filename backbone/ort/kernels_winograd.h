// Convolutions with 3×3 filters and stride 1: Winograd's F(2×2, 3×3), Lavin & Gray 2016, section 4.1. A tile of 2×2
// outputs reads 4×4 inputs d. The transforms are called lifting: the filter is lifted to the 4×4 matrix G g Gᵀ, the
// inputs to Bᵀ d B. The tile is Aᵀ [ (G g Gᵀ) ⊙ (Bᵀ d B) ] A, which needs 16 multiplications instead of 36. Summed
// over channels, these are 16 matrix products.
//
// Lifted inputs are stored in blocks of LANES channels: [16][blocks][tiles][LANES]. Tile rows are counted across all
// images.

enum { TALL = LANES == 16 ? 14 : 6, SHORT = LANES == 16 ? 8 : 4, WIDE = 2, BROAD = WIDE * LANES };

// The tile rows of a group.
typedef struct {
	int64_t across, down; // the tiles of an image
	stretch rows;
	int64_t tiles, room; // tiles of the group; the same number, rounded up to whole products
	int64_t width;       // of a strip, in positions
} tiling;

static tiling tile(const windows *g, stretch rows, int64_t tall) {
	tiling t = {.across = (g->out[1] + 1) / 2, .down = (g->out[0] + 1) / 2, .rows = rows};
	t.tiles = (rows.end - rows.first) * t.across;
	t.room = (t.tiles + tall - 1) / tall * tall;
	t.width = 2 * t.across + 2 + LANES;
	return t;
}

// cut_off takes n floats, rounded up to whole cache lines, from the front of a piece of memory.
static float *cut_off(float **memory, int64_t n) {
	float *front = *memory;
	*memory += (n + 15) / 16 * 16;
	return front;
}

// read_row copies a row of LANES channels, from c on, into a strip, position by position, with zeros on both sides.
static void read_row(float *to, const planes *p, const int64_t *in, int64_t channels, int64_t n, int64_t c, int64_t row, int64_t before, int64_t width) {
	if (row < 0 || row >= in[0]) {
		memset(to, 0, (size_t)(width * LANES) * sizeof *to);
		return;
	}
	memset(to, 0, (size_t)(before * LANES) * sizeof *to);
	int64_t places = in[0] * in[1];
	turn_in(to + before * LANES, p, (n * channels + c) * places + row * in[1], places, channels - c, in[1]);
	if (width > before + in[1]) memset(to + (before + in[1]) * LANES, 0, (size_t)((width - before - in[1]) * LANES) * sizeof *to);
}

// lift_row lifts a row of input tiles: Bᵀ d B. The 16 numbers of a tile are `apart` floats from each other.
static void lift_row(float *to, int64_t apart, float *const *rows, int64_t across) {
	vec d[4][4];
	for (int64_t x = 0; x < 2 * across + 2; x += 2) {
#pragma GCC unroll 2
		for (int i = 0; i < 2; i++) {
			int64_t at = (x + i) * LANES;
			vec p = load(rows[0] + at), q = load(rows[1] + at), r = load(rows[2] + at), s = load(rows[3] + at);
			d[0][2 + i] = p - r, d[1][2 + i] = q + r, d[2][2 + i] = r - q, d[3][2 + i] = q - s;
		}
		if (x) {
#pragma GCC unroll 4
			for (int i = 0; i < 4; i++) {
				float *at = to + 4 * i * apart;
				store(at, d[i][0] - d[i][2]), store(at + apart, d[i][1] + d[i][2]);
				store(at + 2 * apart, d[i][2] - d[i][1]), store(at + 3 * apart, d[i][1] - d[i][3]);
			}
			to += LANES;
		}
#pragma GCC unroll 4
		for (int i = 0; i < 4; i++) d[i][0] = d[i][2], d[i][1] = d[i][3];
	}
}

// lift lifts all tiles of a group for the channels in the stretch.
static void lift(float *to, const tiling *t, const windows *g, const planes *p, int64_t channels, stretch range, float *strip) {
	int64_t blocks = whole(range.end - range.first) / LANES, apart = blocks * t->room * LANES;
	for (int64_t b = 0; b < blocks; b++) {
		int64_t known = -1; // the last row of the image that the strips contain
		for (int64_t r = t->rows.first; r < t->rows.end; r++) {
			int64_t n = r / t->down, top = r % t->down * 2 - g->before[0];
			float *rows[4];
			if (r == t->rows.first || r % t->down == 0) known = top - 1;
			for (int64_t i = 0; i < 4; i++) {
				rows[i] = strip + ((top + i) & 3) * t->width * LANES;
				if (top + i <= known) continue;
				read_row(rows[i], p, g->in, channels, n, range.first + b * LANES, top + i, g->before[1], 2 * t->across + 2);
				known = top + i;
			}
			lift_row(to + (b * t->room + (r - t->rows.first) * t->across) * LANES, apart, rows, t->across);
		}
	}
}

// lift_filter lifts a vector of filters (9 vectors, one for each tap; in reverse order if turned): G g Gᵀ.
static inline __attribute__((always_inline)) void lift_filter(float *to, int64_t apart, const float *taps, int turned) {
	vec a[4][3];
#pragma GCC unroll 3
	for (int j = 0; j < 3; j++) {
		vec p = load(taps + (turned ? 8 - j : j) * LANES), q = load(taps + (turned ? 5 - j : 3 + j) * LANES), r = load(taps + (turned ? 2 - j : 6 + j) * LANES);
		vec s = (p + r) * 0.5f, m = q * 0.5f;
		a[0][j] = p, a[1][j] = s + m, a[2][j] = s - m, a[3][j] = r;
	}
#pragma GCC unroll 4
	for (int i = 0; i < 4; i++) {
		vec s = (a[i][0] + a[i][2]) * 0.5f, m = a[i][1] * 0.5f;
		float *at = to + 4 * i * apart;
		store(at, a[i][0]), store(at + apart, s + m), store(at + 2 * apart, s - m), store(at + 3 * apart, a[i][2]);
	}
}

// lift_filters lifts the filters of the outputs k … k + BROAD - 1: [16][from, rounded up to whole vectors][BROAD].
static void lift_filters(float *to, const float *w, int turned, int64_t from, int64_t outputs, int64_t k) {
	planes p = {.data = w, .end = w + outputs * from * 9};
	int64_t apart = whole(from) * BROAD;
	memset(to, 0, (size_t)(16 * apart) * sizeof *to);
	float taps[10 * LANES * LANES];
	for (int j = 0; j < WIDE && k < outputs; j++, k += LANES) {
		for (int64_t c = 0; c < from; c++) {
			int64_t at = turned ? 0 : c % LANES * 9; // several channels are adjacent, unless the filters are turned
			if (turned) turn_in(taps, &p, (c * outputs + k) * 9, 9, outputs - k, 9);
			else if (at == 0) turn_in(taps, &p, (k * from + c) * 9, from * 9, outputs - k, 9 * smaller(LANES, from - c));
			lift_filter(to + c * BROAD + j * LANES, apart, taps + at * LANES, turned);
		}
	}
}

// multiply writes the products of TALL tiles and BROAD filters, summed over the blocks of channels.
static void multiply(float *m, const float *v, int64_t apart, int64_t blocks, const float *u) {
	vec s[TALL][WIDE] = {0};
	for (int64_t b = 0; b < blocks; b++, v += apart) {
		for (int c = 0; c < LANES; c++, u += BROAD) {
			vec f = load(u), e = load(u + LANES);
#pragma GCC unroll 14
			for (int i = 0; i < TALL; i++) {
				vec a = all(v[i * LANES + c]);
				s[i][0] += a * f, s[i][1] += a * e;
			}
		}
	}
#pragma GCC unroll 14
	for (int i = 0; i < TALL; i++) store(m + i * BROAD, s[i][0]), store(m + i * BROAD + LANES, s[i][1]);
}

// lower_row turns the products into a row of tiles, as two rows of outputs: Aᵀ m A plus a bias, clipped.
static void lower_row(float *top, float *bottom, const float *m, int64_t apart, int64_t across, vec bias, vec low, vec high) {
	for (int64_t t = 0; t < across; t++, m += BROAD, top += 2 * LANES, bottom += 2 * LANES) {
		vec a[4], b[4];
#pragma GCC unroll 4
		for (int j = 0; j < 4; j++) {
			vec p = load(m + j * apart), q = load(m + (4 + j) * apart), r = load(m + (8 + j) * apart), s = load(m + (12 + j) * apart);
			a[j] = p + q + r, b[j] = q - r - s;
		}
		vec y[4] = {a[0] + a[1] + a[2], a[1] - a[2] - a[3], b[0] + b[1] + b[2], b[1] - b[2] - b[3]};
#pragma GCC unroll 4
		for (int i = 0; i < 4; i++) {
			y[i] += bias;
			bits under = (bits)(y[i] < low), over = (bits)(y[i] > high); // both are false if y[i] is NaN
			y[i] = (vec)(((bits)y[i] & ~(under | over)) | ((bits)low & under) | ((bits)high & over));
		}
		store(top, y[0]), store(top + LANES, y[1]), store(bottom, y[2]), store(bottom + LANES, y[3]);
	}
}

// lower writes the outputs k … k + BROAD - 1 of a group of tiles.
static void lower(float *y, const tiling *t, const windows *g, int64_t outputs, int64_t k, const float *m, const float *b, float low, float high, float *strip) {
	int64_t places = g->out[0] * g->out[1];
	for (int j = 0; j < WIDE && k + j * LANES < outputs; j++) {
		int64_t first = k + j * LANES, count = smaller(LANES, outputs - first);
		vec bias = {0};
		if (b) memcpy(&bias, b + first, (size_t)count * sizeof *b);
		for (int64_t r = t->rows.first; r < t->rows.end; r++) {
			int64_t n = r / t->down, row = r % t->down * 2, rows = smaller(2, g->out[0] - row);
			// If the width is odd, the first row has one surplus position, which the second row then overwrites.
			float *bottom = strip + 2 * (t->across + 1) * LANES;
			lower_row(strip, bottom, m + (r - t->rows.first) * t->across * BROAD + j * LANES, t->room * BROAD, t->across, bias, all(low), all(high));
			if (rows == 2) memmove(strip + g->out[1] * LANES, bottom, (size_t)(g->out[1] * LANES) * sizeof *strip);
			turn_out(y + (n * outputs + first) * places + row * g->out[1], strip, places, count, rows * g->out[1]);
		}
	}
}

static int conv3x3(const arena *a, const windows *g, int64_t outputs, int turned, const float *x, limits cut, const float *w, const float *b, float low, float high, float *y, stretch rows, stretch to) {
	tiling t = tile(g, rows, TALL);
	int64_t from = whole(g->channels), blocks = from / LANES, apart = t.room * LANES;
	planes p = {.data = x, .end = x + g->batch * g->channels * g->in[0] * g->in[1], .cut = cut};
	int64_t sizes[] = {16 * blocks * apart, 16 * from * BROAD, 16 * t.room * BROAD, 4 * t.width * LANES + LANES * LANES};
	float *memory = winnow_take(a, sizes[0] + sizes[1] + sizes[2] + sizes[3] + 64), *rest = memory;
	if (!memory) return -1;
	float *v = cut_off(&rest, sizes[0]), *u = cut_off(&rest, sizes[1]), *m = cut_off(&rest, sizes[2]), *strip = cut_off(&rest, sizes[3]);
	lift(v, &t, g, &p, g->channels, (stretch){0, g->channels}, strip);
	for (int64_t k = to.first; k < to.end; k += BROAD) {
		lift_filters(u, w, turned, g->channels, outputs, k);
		for (int64_t i = 0; i < 16; i++)
			for (int64_t at = 0; at < t.tiles; at += TALL)
				multiply(m + (i * t.room + at) * BROAD, v + i * blocks * apart + at * LANES, apart, blocks, u + i * from * BROAD);
		lower(y, &t, g, outputs, k, m, b, low, high, strip);
	}
	winnow_give(a, memory);
	return 0;
}
