package ort

// #include "cuda.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// pins are slices of Go's memory whose pages are locked, so that a device copies them without a detour: 40 GB/s
// instead of 6. Go does not move its memory, and pins keep it alive. Memory that cannot be locked is copied slowly.
type pins struct {
	list map[unsafe.Pointer][]float32
	kept runtime.Pinner
}

// mostPins bounds the slices that pins lock: a caller with new ones all the time gains nothing.
const mostPins = 64

// add locks a slice that will be copied often. On the CPU it does nothing.
func (p *pins) add(m *memory, x []float32) {
	if len(x) == 0 || m == nil || !m.device.CUDA || len(p.list) >= mostPins {
		return
	}
	at := first(x)
	if old, ok := p.list[at]; ok {
		if len(old) >= len(x) {
			return
		}
		C.winnow_cuda_unpin(at)
		delete(p.list, at)
	}
	if C.winnow_cuda_pin(at, C.size_t(4*cap(x))) != 0 {
		return
	}
	if p.list == nil {
		p.list = map[unsafe.Pointer][]float32{}
	}
	p.list[at] = x[:cap(x)]
	p.kept.Pin(at)
}

func (p *pins) free() {
	for at := range p.list {
		C.winnow_cuda_unpin(at)
	}
	p.list = nil
	p.kept.Unpin()
}
