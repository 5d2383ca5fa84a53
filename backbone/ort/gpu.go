package ort

import (
	"fmt"
	"strconv"
)

// onnxruntime_go v1.35.0 offers the provider's options, but no memory other than the computer's pageable memory, and no
// way to ask how much of the device's memory is free, so that --batch auto needs --gpu-memory. Memory of the device
// comes from the library's own table (live_memory.go), copies and locked pages from CUDA's runtime (cuda.c).
//
// From pageable memory ResNet-50 reached .77 of its speed on an H200. [Networks] therefore has two lanes on a GPU, and
// pins the memory of an extraction.

// CUDAState says how far computing on a GPU has been tested.
const CUDAState = "CUDA: tried on one NVIDIA H200 and one H100; other cards are untried"

// GPU is how the CUDA provider computes. The zero value gives the numbers nearest to the CPU's.
type GPU struct {
	// Memory is the most bytes of the device's memory that one session keeps, weights included; 0: no limit.
	// The provider's own libraries take some hundred megabytes more. A fine-tuned network has two sessions, or
	// three if a part of it is frozen.
	Memory int64
	// TF32 lets products and convolutions of float32 numbers keep 10 bits of the mantissa instead of 23. It is
	// faster on devices since Ampere, but the vectors no longer agree with the CPU's.
	TF32 bool
}

// leastMemory is less than any network needs: a smaller number is missing its unit.
const leastMemory = 16 << 20

// Check returns an error if a value is out of range.
func (g GPU) Check() error {
	if g.Memory < 0 || g.Memory > 0 && g.Memory < leastMemory {
		return fmt.Errorf("ort: gpu memory: found %d bytes, expected at least %d, or 0 for no limit",
			g.Memory, leastMemory)
	}
	return nil
}

// cudaOptions returns the CUDA provider's options, by ONNX Runtime's names. With a limit its arena grows by what is
// requested, not to the next power of two, which would reach the limit at half of it.
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
