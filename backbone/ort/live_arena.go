package ort

/*
#include <stdint.h>
#include <stdlib.h>

// Indices in ONNX Runtime's function table.
enum {
	ARENA_STATUS_TEXT = 2, ARENA_ENV = 3, ARENA_MEMORY_INFO = 68, ARENA_END_ENV = 92, ARENA_END_STATUS = 93,
	ARENA_END_MEMORY_INFO = 94, ARENA_REGISTER = 144, ARENA_END_CONFIG = 157, ARENA_CONFIG = 164,
	ARENA_UNREGISTER = 177,
};

static void arena_end(void *const *api, int which, void *p) {
	if (p) ((void (*)(void *))api[which])(p);
}

// arena_set gives the environment an arena in host memory whose first block has the given size, or removes the arena.
// It acquires and releases another handle to the process's only environment.
static void *arena_set(void *const *api, int there, size_t first) {
	void *env = NULL, *info = NULL, *config = NULL;
	const char *keys[] = {"max_mem", "arena_extend_strategy", "initial_chunk_size_bytes"};
	const size_t values[] = {0, 0, first};
	void *status = ((void *(*)(int, const char *, void **))api[ARENA_ENV])(4, "winnow", &env);
	if (!status)
		status = ((void *(*)(const char *, int, int, int, void **))api[ARENA_MEMORY_INFO])("Cpu", 1, 0, 0, &info);
	if (!status && there)
		status = ((void *(*)(const char **, const size_t *, size_t, void **))api[ARENA_CONFIG])(
			keys, values, 3, &config);
	if (!status && there) status = ((void *(*)(void *, void *, void *))api[ARENA_REGISTER])(env, info, config);
	if (!status && !there) status = ((void *(*)(void *, void *))api[ARENA_UNREGISTER])(env, info);
	arena_end(api, ARENA_END_CONFIG, config);
	arena_end(api, ARENA_END_MEMORY_INFO, info);
	arena_end(api, ARENA_END_ENV, env);
	return status;
}

static const char *arena_text(void *const *api, void *status) {
	return ((const char *(*)(void *))api[ARENA_STATUS_TEXT])(status);
}
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// All sessions of live networks on the CPU share one arena, which exists while there is such a network. With separate
// arenas the forward and the backward pass would each keep their peak memory. The arena's first block is larger than a
// step needs: only pages that are written take memory, and tensors fit better into one long block than into many
// blocks made for other tensors (ResNet-18 at batch 8: 1.4 times its activations instead of 1.9).
const firstPiece = 1 << 30

// joinArena creates the arena for the first live network.
func joinArena(library string) error {
	process.Lock()
	defer process.Unlock()
	if process.live == 0 {
		if err := setArena(library, true); err != nil {
			return err
		}
	}
	process.live++
	return nil
}

// leaveArena frees the arena after the last live network. The network's sessions must be closed before.
func leaveArena(library string) error {
	process.Lock()
	defer process.Unlock()
	process.live--
	if process.live > 0 {
		return nil
	}
	return setArena(library, false)
}

func setArena(library string, there bool) error {
	table, err := apiTable(library)
	if err != nil {
		return err
	}
	api, flag := (*unsafe.Pointer)(table), C.int(0)
	if there {
		flag = 1
	}
	if status := C.arena_set(api, flag, firstPiece); status != nil {
		text := C.GoString(C.arena_text(api, status))
		C.arena_end(api, C.ARENA_END_STATUS, status)
		return fmt.Errorf("ort: live: arena: %s", text)
	}
	return nil
}
