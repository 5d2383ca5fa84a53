package ort

/*
#include <stdint.h>
#include <stdlib.h>

// Indices in ONNX Runtime's function table, which grows only at its end.
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
static void *tensor(void *const *api, void *info, void *p, size_t size, const int64_t *shape, size_t rank, int type,
		void **out) {
	return ((void *(*)(void *, void *, size_t, const int64_t *, size_t, int, void **))api[ORT_TENSOR_WITH_DATA])(
		info, p, size, shape, rank, type, out);
}
static void end(void *const *api, int which, void *p) { ((void (*)(void *))api[which])(p); }
static const char *message_of(void *const *api, void *status) {
	return ((const char *(*)(void *))api[ORT_ERROR_MESSAGE])(status);
}
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

// memory allocates tensors in the runtime's memory, on the host or a device, for data that Go does not access. The
// wrapper cannot do this: its values are in Go's memory, and it copies the tensors that the runtime allocates.
type memory struct {
	api       *unsafe.Pointer // ONNX Runtime's table of functions
	info      unsafe.Pointer
	allocator unsafe.Pointer
	owned     bool // whether close must release the allocator
	device    Device
}

// Values of OrtAllocatorType.
const (
	deviceAllocator = 0
	arenaAllocator  = 1
)

// newMemory returns the memory of a device. A device's allocator belongs to a session on that device and must not
// outlive it. The host's allocator belongs to the process and frees memory at once.
func newMemory(library string, device Device, run *ortgo.DynamicAdvancedSession) (*memory, error) {
	table, err := apiTable(library)
	if err != nil {
		return nil, err
	}
	m := &memory{api: (*unsafe.Pointer)(table), device: device}
	if err := checkInternals(); err != nil {
		return nil, err
	}
	if device.CUDA {
		if err := openCUDA(); err != nil {
			return nil, err
		}
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

// check turns a status into an error and releases it.
func (m *memory) check(status unsafe.Pointer) error {
	if status == nil {
		return nil
	}
	text := C.GoString(C.message_of(m.api, status))
	C.end(m.api, C.ORT_RELEASE_STATUS_, status)
	return fmt.Errorf("ort: memory: %w", inOneLine(errors.New(strings.TrimSpace(text))))
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

// take allocates memory; give frees it.
func (m *memory) take(bytes int64) (p unsafe.Pointer, err error) {
	if err := m.check(C.alloc(m.api, m.allocator, C.size_t(bytes), &p)); err != nil {
		return nil, err
	}
	if p == nil {
		return nil, fmt.Errorf("ort: memory: no room for %d bytes", bytes)
	}
	return p, nil
}

func (m *memory) give(p unsafe.Pointer) {
	// the allocator's free cannot fail for a pointer from take
	_ = m.check(C.release(m.api, m.allocator, p))
}

// tensor returns a value of the library that uses the memory at p. release ends the value.
func (m *memory) tensor(p unsafe.Pointer, t ElementType, shape []int64, bytes int64) (v unsafe.Pointer, err error) {
	var first *C.int64_t
	if len(shape) > 0 {
		first = (*C.int64_t)(unsafe.Pointer(&shape[0]))
	}
	err = m.check(C.tensor(m.api, m.info, p, C.size_t(bytes), first, C.size_t(len(shape)), C.int(t), &v))
	return v, err
}

func (m *memory) release(value unsafe.Pointer) { C.end(m.api, C.ORT_RELEASE_VALUE, value) }

// block is memory of the runtime that is reused for tensors of any shape.
type block struct {
	ortgo.Value // nil: the methods that Run does not call
	internals   *ortgo.ValueInternalData

	m     *memory
	p     unsafe.Pointer
	size  int64 // bytes allocated
	value unsafe.Pointer
	shape []int64
	typ   ElementType
}

// GetInternals returns the internal fields that the wrapper needs to run with a value.
func (b *block) GetInternals() *ortgo.ValueInternalData { return b.internals }

// hold makes the block a tensor of this type and shape. It allocates memory only if the block is too small.
func (b *block) hold(m *memory, t ElementType, shape []int64) error {
	if b.value != nil && b.typ == t && slices.Equal(b.shape, shape) {
		return nil
	}
	width := widths[t]
	if width == 0 {
		return fmt.Errorf("ort: memory: elements of type %v cannot be kept", t)
	}
	need := width
	for _, d := range shape {
		need *= d
	}
	b.release()
	var err error
	if need > b.size {
		b.free()
		if b.p, err = m.take(need); err != nil {
			return err
		}
		b.m, b.size = m, need
	}
	if b.value, err = m.tensor(b.p, t, shape, need); err != nil {
		return err
	}
	b.typ, b.shape = t, slices.Clone(shape)
	b.internals = internalsOf(b.value)
	return nil
}

// widths maps ONNX's number of an element type to the type's size in bytes.
var widths = map[ElementType]int64{1: 4, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 8, 9: 1, 10: 2, 11: 8, 12: 4, 13: 8, 16: 2}

// release ends the tensor but keeps the memory for the next one.
func (b *block) release() {
	if b.value != nil {
		b.m.release(b.value)
		b.value, b.internals = nil, nil
	}
}

func (b *block) free() {
	b.release()
	if b.p != nil {
		b.m.give(b.p)
		b.p, b.size = nil, 0
	}
}

// checkInternals checks that the wrapper has the hidden fields that are read below. Another version may lack them.
func checkInternals() error {
	inner := reflect.TypeFor[ortgo.ValueInternalData]()
	outer, ok := reflect.TypeFor[ortgo.DynamicAdvancedSession]().FieldByName("s")
	known := inner.NumField() == 1 && inner.Field(0).Type.Kind() == reflect.Pointer
	if !known || !ok || outer.Type.Kind() != reflect.Pointer {
		return errors.New("ort: memory: this version of onnxruntime_go stores its values in an unexpected way")
	}
	if run, ok := outer.Type.Elem().FieldByName("ortSession"); !ok || run.Type.Kind() != reflect.Pointer {
		return errors.New("ort: memory: this version of onnxruntime_go stores its sessions in an unexpected way")
	}
	return nil
}

// internalsOf wraps a value of the library in the wrapper's internal type.
func internalsOf(value unsafe.Pointer) *ortgo.ValueInternalData {
	in := new(ortgo.ValueInternalData)
	*(*unsafe.Pointer)(unsafe.Pointer(in)) = value
	return in
}

// sessionOf returns the library's session inside the wrapper's session.
func sessionOf(run *ortgo.DynamicAdvancedSession) unsafe.Pointer {
	return reflect.ValueOf(run).Elem().FieldByName("s").Elem().FieldByName("ortSession").UnsafePointer()
}
