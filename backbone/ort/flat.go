package ort

/*
#include <string.h>
#include "cuda.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	ortgo "github.com/yalue/onnxruntime_go"

	"winnow/features"
)

// flat is a float32 vector in a device's memory that holds many tensors one after another. One copy moves all of them,
// and one program changes all of them.
type flat struct {
	m     *memory
	p     unsafe.Pointer
	n     int
	views map[span]*view
}

// span is a part of a flat.
type span struct{ at, n int }

// newFlat allocates a flat of n zeros.
func (m *memory) newFlat(n int) (*flat, error) {
	f := &flat{m: m, n: n, views: map[span]*view{}}
	var err error
	if f.p, err = m.take(4 * int64(n)); err != nil {
		return nil, err
	}
	return f, m.zero(f.p, 4*n)
}

// view returns a part of the flat as a tensor of rank 1.
func (f *flat) view(s span) (*view, error) {
	if v := f.views[s]; v != nil {
		return v, nil
	}
	v, err := f.tensor(s.at, []int64{int64(s.n)})
	if err == nil {
		f.views[s] = v
	}
	return v, err
}

// tensor returns a tensor of the given shape whose first number is number at of the flat. The caller frees the tensor.
func (f *flat) tensor(at int, shape []int64) (*view, error) {
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	v := &view{m: f.m}
	var err error
	if v.value, err = f.m.tensor(f.at(at), Float, shape, 4*n); err != nil {
		return nil, err
	}
	v.internals = internalsOf(v.value)
	return v, nil
}

func (f *flat) at(i int) unsafe.Pointer { return unsafe.Add(f.p, 4*i) }

// put copies numbers into the flat, starting at the given index; get copies numbers out of it.
func (f *flat) put(at int, from []float32) error { return f.m.copy(f.at(at), first(from), 4*len(from)) }
func (f *flat) get(at int, to []float32) error   { return f.m.copy(first(to), f.at(at), 4*len(to)) }

func first(x []float32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }

func (f *flat) free() {
	if f.p == nil {
		return
	}
	for _, v := range f.views {
		v.free()
	}
	f.m.give(f.p)
	f.p, f.views = nil, nil
}

// view is a tensor whose memory belongs to another object.
type view struct {
	ortgo.Value // nil: the methods that Run does not call
	internals   *ortgo.ValueInternalData
	m           *memory
	value       unsafe.Pointer
}

// GetInternals returns the internal fields that the wrapper needs to run with a value.
func (v *view) GetInternals() *ortgo.ValueInternalData { return v.internals }

func (v *view) free() {
	if v.value != nil {
		v.m.release(v.value)
		v.value, v.internals = nil, nil
	}
}

// copy copies bytes between host and device memory, in either direction, and waits until they have arrived.
func (m *memory) copy(to, from unsafe.Pointer, bytes int) error {
	if bytes == 0 {
		return nil
	}
	if !m.device.CUDA {
		C.memcpy(to, from, C.size_t(bytes))
		return nil
	}
	return cudaError("copy", C.winnow_cuda_copy(to, from, C.size_t(bytes)))
}

func (m *memory) zero(at unsafe.Pointer, bytes int) error {
	if !m.device.CUDA {
		C.memset(at, 0, C.size_t(bytes))
		return nil
	}
	return cudaError("clear", C.winnow_cuda_zero(at, C.size_t(bytes)))
}

// openCUDA loads the functions of the CUDA runtime from this process.
func openCUDA() error {
	if missing := C.winnow_cuda(); missing != nil {
		return errors.New("ort: cuda: " + C.GoString(missing))
	}
	return nil
}

func cudaError(what string, e C.int) error {
	if e == 0 {
		return nil
	}
	return fmt.Errorf("ort: memory: %s: CUDA failure %d: %s", what, int(e), C.GoString(C.winnow_cuda_error(e)))
}

// layout describes the place of each of several parameters in a flat: those with weight decay come first. Each of both
// parts is a whole number of rows, so that sums over a flat can be taken row by row. Each tensor starts at an address
// where vector instructions and matrix products are fast. The gaps between tensors are zero and stay zero.
type layout struct {
	params []*features.Param
	at     []int // index of each parameter in the flat
	parts  [2]span
	n      int
}

const (
	flatRow   = 4096 // numbers
	flatAlign = 64
)

func layOut(params []*features.Param) layout {
	l := layout{params: params, at: make([]int, len(params))}
	for part, skip := range []bool{false, true} {
		from := l.n
		for i, p := range params {
			if p.NoDecay == skip {
				l.at[i] = l.n
				l.n += (len(p.Data) + flatAlign - 1) / flatAlign * flatAlign
			}
		}
		l.n = (l.n + flatRow - 1) / flatRow * flatRow
		l.parts[part] = span{from, l.n - from}
	}
	return l
}

// whole returns the span of the whole flat.
func (l layout) whole() span { return span{0, l.n} }
