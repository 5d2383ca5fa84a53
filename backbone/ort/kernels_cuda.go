package ort

/*
#include <stdlib.h>
int winnow_cuda_kernels(void *const *api, int flags, const char *source, void **domain, char *why, size_t room);
*/
import "C"

import (
	_ "embed"
	"errors"
	"unsafe"

	"winnow/backbone/graph/gradient"
)

//go:embed kernels_cuda.cu
var cudaSource string

// cudaDomain holds the operators for CUDA sessions, or the error that prevented them.
type cudaDomain struct {
	domain unsafe.Pointer
	err    error
}

// flagTF32 is a flag of the operators with the value in kernels_cuda.h.
const flagTF32 = 1

// cudaKernels returns the operators for sessions with this precision. They are created once per process.
func (r *Runtime) cudaKernels() cudaDomain {
	flags := 0
	if r.gpu.TF32 {
		flags |= flagTF32
	}
	process.Lock()
	defer process.Unlock()
	if found, ok := process.cuda[flags]; ok {
		return found
	}
	var made cudaDomain
	table, err := apiTable(r.library)
	if err != nil {
		made.err = err
	} else {
		var why [300]C.char
		source := C.CString(cudaSource) // not freed: the source is compiled later
		if C.winnow_cuda_kernels((*unsafe.Pointer)(table), C.int(flags), source, &made.domain, &why[0],
			C.size_t(len(why))) != 0 {
			made.err = errors.New(C.GoString(&why[0]))
		}
	}
	if process.cuda == nil {
		process.cuda = map[int]cudaDomain{}
	}
	process.cuda[flags] = made
	return made
}

// WithoutKernels returns why gradients on this device are computed without winnow's operators, or "" if they are used.
func (r *Runtime) WithoutKernels() string {
	switch {
	case !r.device.CUDA && process.kernels == nil:
		return "the library rejected them"
	case r.device.CUDA:
		if err := r.cudaKernels().err; err != nil {
			return err.Error()
		}
	}
	return ""
}

// Kernels returns the set of winnow's operators ([gradient.Options]) available in this runtime's sessions.
func (r *Runtime) Kernels() gradient.Kernels {
	switch {
	case r.WithoutKernels() != "":
		return gradient.NoKernels
	case r.device.CUDA:
		return gradient.ForCUDA
	}
	return gradient.ForCPU
}
