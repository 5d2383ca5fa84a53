// Memory of the kernels between runs: fresh pages cost more than what is computed in them. As many pieces as threads ran
// at once are kept, until no node that takes any is left.

#include <stdatomic.h>
#include <stdlib.h>

#include "kernels.h"

enum { LINE = 64 };

typedef struct piece piece;
struct piece {
	piece *next;
	int64_t size;
	void *whole; // as malloc gave it: the piece begins at a line of the cache, LINE before its floats
};

static atomic_flag held = ATOMIC_FLAG_INIT;
static piece *idle;
static int64_t users;

static void hold(void) {
	while (atomic_flag_test_and_set_explicit(&held, memory_order_acquire)) {}
}
static void release(void) { atomic_flag_clear_explicit(&held, memory_order_release); }

static piece *make(int64_t size) {
	void *whole = malloc((size_t)size * sizeof(float) + 2 * LINE);
	if (!whole) return NULL;
	piece *p = (piece *)(((uintptr_t)whole + LINE - 1) / LINE * LINE);
	*p = (piece){.size = size, .whole = whole};
	return p;
}

// winnow_take returns the smallest piece that is large enough, or puts a new one in the place of the largest.
float *winnow_take(int64_t n) {
	hold();
	piece **best = NULL;
	for (piece **p = &idle; *p; p = &(*p)->next) {
		int fits = (*p)->size >= n;
		if (!best || (fits ? (*best)->size < n || (*p)->size < (*best)->size : (*best)->size < n && (*p)->size > (*best)->size)) best = p;
	}
	piece *found = best ? *best : NULL;
	if (found) *best = found->next;
	release();
	if (found && found->size < n) {
		free(found->whole);
		found = NULL;
	}
	if (!found) found = make(n);
	return found ? (float *)((char *)found + LINE) : NULL;
}

void winnow_give(float *memory) {
	if (!memory) return;
	piece *p = (piece *)((char *)memory - LINE);
	hold();
	p->next = idle, idle = p;
	release();
}

// winnow_use counts the nodes that take memory: 1 for one more, -1 for one less.
void winnow_use(int change) {
	hold();
	users += change;
	piece *p = users ? NULL : idle;
	if (p) idle = NULL;
	release();
	while (p) {
		piece *next = p->next;
		free(p->whole);
		p = next;
	}
}
