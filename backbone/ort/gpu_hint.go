package ort

import (
	"fmt"
	"strings"
)

// memorySigns are parts of messages of ONNX Runtime and NVIDIA's libraries when memory of the device or host is
// exhausted.
var memorySigns = []string{"CUDA failure 2:", "cudaErrorMemoryAllocation", "CUBLAS_STATUS_ALLOC_FAILED",
	"CUDNN_STATUS_ALLOC_FAILED", "Failed to allocate memory for requested buffer", "Available memory of"}

// OutOfMemory reports whether a run failed because the GPU's or the computer's memory was too small.
func OutOfMemory(err error) bool {
	for _, sign := range memorySigns {
		if err != nil && strings.Contains(err.Error(), sign) {
			return true
		}
	}
	return false
}

// GPUHint returns advice for an error of a GPU, or otherwise if err is another error.
func GPUHint(err error, otherwise string) string {
	switch {
	case OutOfMemory(err):
		return "there is not enough memory: use a smaller --batch; on a GPU also a larger --gpu-memory, or stop " +
			"other programs that use the GPU (see nvidia-smi)"
	case err != nil && strings.Contains(err.Error(), "CUDA failure"):
		return "check that nvidia-smi lists the GPU and a driver of 580 or newer; or compute with --device cpu"
	}
	return otherwise
}

// inOneLine reduces an error of the library to one line of at most 300 bytes.
func inOneLine(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%.300s", strings.Join(strings.Fields(err.Error()), " "))
}
