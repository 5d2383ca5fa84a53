package ort

import (
	"fmt"
	"strconv"
)

// onnxruntime_go v1.35.0 offers the provider's options, but only pageable host memory and no query of the device's
// free memory; --batch auto therefore needs --gpu-memory. winnow allocates device memory through ONNX Runtime's
// function table (live_memory.go), and copies and pins memory through the CUDA runtime (cuda.c).
//
// With pageable memory, ResNet-50 reached .77 of its speed on an H200. Therefore [Networks] uses two lanes on a GPU
// and pins the memory of an extraction.

// CUDAState describes how far computing on a GPU has been tested.
const CUDAState = "CUDA: tried on one NVIDIA H200 and one H100; other cards are untried"

// GPU holds the settings of the CUDA provider. The zero value gives the numbers nearest to the CPU's.
type GPU struct {
	// Memory is the largest amount of device memory in bytes that one session keeps, including weights; 0: no limit.
	// The provider's libraries take several hundred megabytes in addition. A fine-tuned network has two sessions, or
	// three if a part of the network is frozen.
	Memory int64
	// TF32 allows products and convolutions of float32 numbers to keep 10 bits of the mantissa instead of 23. It is
	// faster on devices since Ampere, but the vectors then differ from the CPU's.
	TF32 bool
}

// leastMemory is less than any network needs: a smaller number probably lacks its unit.
const leastMemory = 16 << 20

// Check returns an error if a value is out of range.
func (g GPU) Check() error {
	if g.Memory < 0 || g.Memory > 0 && g.Memory < leastMemory {
		return fmt.Errorf("ort: gpu memory: found %d bytes, expected at least %d, or 0 for no limit",
			g.Memory, leastMemory)
	}
	return nil
}

// cudaOptions returns the CUDA provider's options by ONNX Runtime's names. With a limit, the provider's arena grows by
// the requested size; growing to the next power of two would exceed the limit when only half of it is in use.
func (g GPU) cudaOptions(index int) map[string]string {
	o := map[string]string{"device_id": strconv.Itoa(index), "cudnn_conv_algo_search": "HEURISTIC", "use_tf32": "0"}
	if g.TF32 {
		o["use_tf32"] = "1"
	}
	if g.Memory > 0 {
		o["gpu_mem_limit"] = strconv.FormatInt(g.Memory, 10)
		o["arena_extend_strategy"] = "kSameAsRequested"
	}
	return o
}
