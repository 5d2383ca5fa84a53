// The derivative of Winograd's convolutions with respect to their filters. If the gradient of a tile is lifted as
// well, to D = A ∂Y Aᵀ, the derivative is Gᵀ [ Σ_tiles D ⊙ (Bᵀ d B) ] G: 16 matrix products over all tiles.

// lift_grad_row lifts a row of gradient tiles: A ∂Y Aᵀ.
static void lift_grad_row(float *to, int64_t apart, const float *top, const float *bottom, int64_t across) {
	for (int64_t t = 0; t < across; t++, to += BROAD, top += 2 * LANES, bottom += 2 * LANES) {
		vec p = load(top), q = load(top + LANES), r = load(bottom), s = load(bottom + LANES);
		vec a[4] = {p, p + r, p - r, -r}, b[4] = {q, q + s, q - s, -s};
#pragma GCC unroll 4
		for (int i = 0; i < 4; i++) {
			float *at = to + 4 * i * apart;
			store(at, a[i]), store(at + apart, a[i] + b[i]), store(at + 2 * apart, a[i] - b[i]), store(at + 3 * apart, -b[i]);
		}
	}
}

// lift_grads lifts the gradients of a group of tiles, for the channels in the stretch, to
// [16][panels][tiles][BROAD]. It adds the sum of the gradients to `sums`, unless that is NULL.
static void lift_grads(float *to, const tiling *t, const windows *g, const planes *p, int64_t channels, stretch range, float *sums, float *strip) {
	int64_t panels = (range.end - range.first + BROAD - 1) / BROAD, apart = panels * t->tiles * BROAD;
	float *bottom = strip + t->width * LANES;
	for (int64_t k = 0; k < panels * BROAD; k += LANES) {
		float *panel = to + k / BROAD * t->tiles * BROAD + k % BROAD;
		for (int64_t r = t->rows.first; r < t->rows.end; r++) {
			int64_t n = r / t->down, row = r % t->down * 2;
			read_row(strip, p, g->out, channels, n, range.first + k, row, 0, 2 * t->across);
			read_row(bottom, p, g->out, channels, n, range.first + k, row + 1, 0, 2 * t->across);
			lift_grad_row(panel + (r - t->rows.first) * t->across * BROAD, apart, strip, bottom, t->across);
			if (!sums) continue;
			vec s = {0};
			for (int64_t x = 0; x < g->out[1]; x++) s += load(strip + x * LANES) + load(bottom + x * LANES);
			store(sums + k, load(sums + k) + s);
		}
	}
}

// accumulate adds the products of SHORT channels of lifted inputs and BROAD channels of gradients, summed over tiles.
static void accumulate(float *sums, int64_t pitch, const float *v, const float *d, int64_t tiles) {
	vec s[SHORT][WIDE] = {0};
	for (int64_t t = 0; t < tiles; t++, v += LANES, d += BROAD) {
		vec e = load(d), f = load(d + LANES);
#pragma GCC unroll 8
		for (int i = 0; i < SHORT; i++) {
			vec a = all(v[i]);
			s[i][0] += a * e, s[i][1] += a * f;
		}
	}
#pragma GCC unroll 8
	for (int i = 0; i < SHORT; i++) {
		float *to = sums + i * pitch;
		store(to, load(to) + s[i][0]), store(to + LANES, load(to + LANES) + s[i][1]);
	}
}

// lower_filter turns the sums into a vector of filters (9 vectors): Gᵀ m G.
static void lower_filter(float *taps, const float *m, int64_t apart) {
	vec a[3][4];
#pragma GCC unroll 4
	for (int j = 0; j < 4; j++) {
		vec p = load(m + j * apart), q = load(m + (4 + j) * apart), r = load(m + (8 + j) * apart), s = load(m + (12 + j) * apart);
		vec t = (q + r) * 0.5f;
		a[0][j] = p + t, a[1][j] = (q - r) * 0.5f, a[2][j] = t + s;
	}
#pragma GCC unroll 3
	for (int i = 0; i < 3; i++) {
		vec t = (a[i][1] + a[i][2]) * 0.5f;
		store(taps + 3 * i * LANES, a[i][0] + t);
		store(taps + (3 * i + 1) * LANES, (a[i][1] - a[i][2]) * 0.5f);
		store(taps + (3 * i + 2) * LANES, t + a[i][3]);
	}
}

// lower_filters writes ∂W [outputs, channels, 3, 3] for a slice of the outputs and of the channels.
static void lower_filters(float *dw, const windows *g, stretch from, stretch to, const float *sums, int64_t pitch) {
	int64_t apart = whole(from.end - from.first) * pitch;
	float taps[9 * LANES * LANES];
	for (int64_t k = to.first; k < to.end; k += LANES) {
		for (int64_t c = from.first; c < from.end; c += LANES) {
			int64_t n = smaller(LANES, from.end - c);
			for (int64_t i = 0; i < n; i++) lower_filter(taps + 9 * i * LANES, sums + (c - from.first + i) * pitch + k - to.first, apart);
			turn_out(dw + (k * g->channels + c) * 9, taps, g->channels * 9, to.end - k, 9 * n);
		}
	}
}

static int conv3x3_filters(const arena *a, const windows *g, int64_t outputs, const float *dy, limits cut, const float *x, float *dw, float *db, stretch rows, stretch from, stretch to) {
	tiling t = tile(g, rows, 1);
	int64_t group = smaller(larger(1, 56 / t.across), rows.end - rows.first), tiles = group * t.across;
	int64_t channels = whole(from.end - from.first), pitch = (to.end - to.first + BROAD - 1) / BROAD * BROAD;
	planes in = {.data = x, .end = x + g->batch * g->channels * g->in[0] * g->in[1]};
	planes out = {.data = dy, .end = dy + g->batch * outputs * g->out[0] * g->out[1], .cut = cut};
	int64_t sizes[] = {16 * channels * tiles, 16 * pitch * tiles, 4 * t.width * LANES + LANES * LANES, (16 * channels + 1) * pitch};
	float *memory = winnow_take(a, sizes[0] + sizes[1] + sizes[2] + sizes[3] + 64), *rest = memory;
	if (!memory) return -1;
	float *v = cut_off(&rest, sizes[0]), *d = cut_off(&rest, sizes[1]), *strip = cut_off(&rest, sizes[2]);
	float *sums = cut_off(&rest, sizes[3]), *level = sums + 16 * channels * pitch;
	memset(sums, 0, (size_t)sizes[3] * sizeof *sums);
	for (int64_t r = rows.first; r < rows.end; r += group) {
		t = tile(g, (stretch){r, smaller(r + group, rows.end)}, 1);
		lift_grads(d, &t, g, &out, outputs, to, db ? level : NULL, strip);
		if (!dw) continue;
		lift(v, &t, g, &in, g->channels, from, strip);
		for (int64_t i = 0; i < 16; i++)
			for (int64_t k = 0; k < pitch; k += BROAD)
				for (int64_t c = 0; c < channels; c += SHORT)
					accumulate(sums + (i * channels + c) * pitch + k, pitch, v + (i * channels + c / LANES * LANES) * t.tiles + c % LANES, d + (i * pitch + k) * t.tiles, t.tiles);
	}
	if (dw) lower_filters(dw, g, from, to, sums, pitch);
	if (db) memcpy(db + to.first, level, (size_t)(to.end - to.first) * sizeof *db);
	winnow_give(a, memory);
	return 0;
}
