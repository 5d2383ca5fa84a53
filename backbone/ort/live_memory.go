package ort

/*
#include <stdint.h>
#include <stdlib.h>

// Positions in ONNX Runtime's table of functions, which only ever grows at its end.
enum {
	ORT_ERROR_MESSAGE = 2, ORT_TENSOR_WITH_DATA = 49, ORT_CREATE_MEMORY_INFO = 68, ORT_ALLOC = 75, ORT_FREE = 76,
	ORT_DEFAULT_ALLOCATOR = 78, ORT_RELEASE_STATUS_ = 93, ORT_RELEASE_MEMORY_INFO = 94, ORT_RELEASE_VALUE = 96,
	ORT_CREATE_ALLOCATOR = 131, ORT_RELEASE_ALLOCATOR = 132,
};

static void *memory_info(void *const *api, const char *name, int kind, int id, void **out) {
	return ((void *(*)(const char *, int, int, int, void **))api[ORT_CREATE_MEMORY_INFO])(name, kind, id, 0, out);
}
static void *default_allocator(void *const *api, void **out) {
	return ((void *(*)(void **))api[ORT_DEFAULT_ALLOCATOR])(out);
}
static void *session_allocator(void *const *api, void *session, void *info, void **out) {
	return ((void *(*)(void *, void *, void **))api[ORT_CREATE_ALLOCATOR])(session, info, out);
}
static void *alloc(void *const *api, void *allocator, size_t size, void **out) {
	return ((void *(*)(void *, size_t, void **))api[ORT_ALLOC])(allocator, size, out);
}
static void *release(void *const *api, void *allocator, void *p) {
	return ((void *(*)(void *, void *))api[ORT_FREE])(allocator, p);
}
static void *tensor(void *const *api, void *info, void *p, size_t size, const int64_t *shape, size_t rank, int type, void **out) {
	return ((void *(*)(void *, void *, size_t, const int64_t *, size_t, int, void **))api[ORT_TENSOR_WITH_DATA])(info, p, size, shape, rank, type, out);
}
static void end(void *const *api, int which, void *p) { ((void (*)(void *))api[which])(p); }
static const char *message_of(void *const *api, void *status) { return ((const char *(*)(void *))api[ORT_ERROR_MESSAGE])(status); }
*/
import "C"

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	ortgo "github.com/yalue/onnxruntime_go"
)

// memory is where the runtime keeps tensors that never come to Go: the computer's own, or a device's. The
// wrapper has only values in Go's memory, and copies what the runtime allocates.
type memory struct {
	api       *unsafe.Pointer // the table
	info      unsafe.Pointer
	allocator unsafe.Pointer
	owned     bool // the allocator is released with this
}

// OrtAllocatorType.
const (
	deviceAllocator = 0
	arenaAllocator  = 1
)

// newMemory returns the memory of a device. A device's allocator is the one of a session that runs there and must
// not outlive it; the computer's is the process's and gives memory back at once.
func newMemory(library string, device Device, run *ortgo.DynamicAdvancedSession) (*memory, error) {
	table, err := apiTable(library)
	if err != nil {
		return nil, err
	}
	m := &memory{api: (*unsafe.Pointer)(table)}
	if err := checkInternals(); err != nil {
		return nil, err
	}
	name, kind := "Cpu", deviceAllocator
	if device.CUDA {
		name, kind = "Cuda", arenaAllocator
	}
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	if err := m.check(C.memory_info(m.api, cname, C.int(kind), C.int(device.Index), &m.info)); err != nil {
		return nil, err
	}
	if !device.CUDA {
		err = m.check(C.default_allocator(m.api, &m.allocator))
	} else {
		m.owned = true
		err = m.check(C.session_allocator(m.api, sessionOf(run), m.info, &m.allocator))
	}
	if err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

// check turns a status into an error.
func (m *memory) check(status unsafe.Pointer) error {
	if status == nil {
		return nil
	}
	text := C.GoString(C.message_of(m.api, status))
	C.end(m.api, C.ORT_RELEASE_STATUS_, status)
	return fmt.Errorf("ort: memory: %w", briefly(errors.New(strings.TrimSpace(text))))
}

func (m *memory) close() error {
	if m.allocator != nil && m.owned {
		C.end(m.api, C.ORT_RELEASE_ALLOCATOR, m.allocator)
	}
	if m.info != nil {
		C.end(m.api, C.ORT_RELEASE_MEMORY_INFO, m.info)
	}
	m.allocator, m.info = nil, nil
	return nil
}

// block is memory of the runtime's that one tensor after the other is kept in, whatever its shape.
type block struct {
	ortgo.Value // nil: the methods that Run does not call
	internals   *ortgo.ValueInternalData

	m     *memory
	p     unsafe.Pointer
	size  int64 // bytes there are
	value unsafe.Pointer
	shape []int64
	typ   ElementType
}

// GetInternals returns what the wrapper asks of a value to run with.
func (b *block) GetInternals() *ortgo.ValueInternalData { return b.internals }

// hold makes the block a tensor of a shape. The memory is allocated again only where it has no room.
func (b *block) hold(m *memory, t ElementType, shape []int64) error {
	if b.value != nil && b.typ == t && slices.Equal(b.shape, shape) {
		return nil
	}
	width := widths[t]
	if width == 0 {
		return fmt.Errorf("ort: memory: elements %v are none that can be kept", t)
	}
	need := width
	for _, d := range shape {
		need *= d
	}
	b.release()
	if need > b.size {
		b.free()
		if err := m.check(C.alloc(m.api, m.allocator, C.size_t(need), &b.p)); err != nil {
			return err
		}
		if b.p == nil {
			return fmt.Errorf("ort: memory: no room for a tensor %v of %d bytes", shape, need)
		}
		b.m, b.size = m, need
	}
	var first *C.int64_t
	if len(shape) > 0 {
		first = (*C.int64_t)(unsafe.Pointer(&shape[0]))
	}
	if err := m.check(C.tensor(m.api, m.info, b.p, C.size_t(need), first, C.size_t(len(shape)), C.int(t), &b.value)); err != nil {
		return err
	}
	b.typ, b.shape = t, slices.Clone(shape)
	b.internals = internalsOf(b.value)
	return nil
}

// widths is the number of bytes of an element, by ONNX's number of its type.
var widths = map[ElementType]int64{1: 4, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 8, 9: 1, 10: 2, 11: 8, 12: 4, 13: 8, 16: 2}

// release ends the tensor and keeps the memory.
func (b *block) release() {
	if b.value != nil {
		C.end(b.m.api, C.ORT_RELEASE_VALUE, b.value)
		b.value, b.internals = nil, nil
	}
}

// free gives the memory back.
func (b *block) free() {
	b.release()
	if b.p != nil {
		// The allocator's own free cannot fail; a status would be about the arguments.
		_ = b.m.check(C.release(b.m.api, b.m.allocator, b.p))
		b.p, b.size = nil, 0
	}
}

// checkInternals holds what follows against the wrapper: it hides its pointers, and another version may hide
// them elsewhere.
func checkInternals() error {
	inner := reflect.TypeFor[ortgo.ValueInternalData]()
	outer, ok := reflect.TypeFor[ortgo.DynamicAdvancedSession]().FieldByName("s")
	if inner.NumField() != 1 || inner.Field(0).Type.Kind() != reflect.Pointer || !ok || outer.Type.Kind() != reflect.Pointer {
		return errors.New("ort: memory: this version of the wrapper keeps its values otherwise than expected")
	}
	if run, ok := outer.Type.Elem().FieldByName("ortSession"); !ok || run.Type.Kind() != reflect.Pointer {
		return errors.New("ort: memory: this version of the wrapper keeps its sessions otherwise than expected")
	}
	return nil
}

// internalsOf wraps a value of the library's as the wrapper does.
func internalsOf(value unsafe.Pointer) *ortgo.ValueInternalData {
	in := new(ortgo.ValueInternalData)
	*(*unsafe.Pointer)(unsafe.Pointer(in)) = value
	return in
}

// sessionOf returns the library's session inside the wrapper's.
func sessionOf(run *ortgo.DynamicAdvancedSession) unsafe.Pointer {
	return reflect.ValueOf(run).Elem().FieldByName("s").Elem().FieldByName("ortSession").UnsafePointer()
}
