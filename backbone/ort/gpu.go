package ort

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// What onnxruntime_go v1.35.0 offers for a GPU: the provider's options, which are used here, and IoBinding. But
// the values to bind are in the computer's pageable memory: the only memory description that it makes
// (GetMemoryInfo) is the CPU's, and its functions for allocators (CreateAndRegisterAllocatorV2) take a
// description as a C type that no other package can make. So the wrapper has no pinned memory, no tensors on
// the device and no way to ask how much of the device's memory is free; GetEpDevices only names devices.
// Therefore pictures go to the device from pageable memory, and --batch auto needs --gpu-memory.
//
// The library itself has a "CudaPinned" allocator, which could be reached past the wrapper, as live_memory.go reaches
// the device's for [Resident]. That, and two sessions at the same time, are not built into the commands.
// experiments/gpu measured on an H200 what they gain: from pageable memory, ResNet-50 reaches .77 of its speed.

// CUDAState says how far computing on a GPU has been tested.
const CUDAState = "CUDA: tried on one NVIDIA H200; other cards, and several at once, are untried"

// GPU is how the CUDA provider computes. The zero value gives the numbers nearest to the CPU's.
type GPU struct {
	// Memory is the most bytes of the device's memory that one session keeps, weights included; 0: no limit.
	// The provider's own libraries take some hundred megabytes more. A fine-tuned network has two sessions, or
	// three if a part of it is frozen.
	Memory int64
	// TF32 lets products and convolutions of float32 numbers keep 10 bits of the mantissa instead of 23. It is
	// faster on devices since Ampere, but the vectors no longer agree with the CPU's.
	TF32 bool
	// Search is how cuDNN finds the algorithm of a convolution.
	Search ConvSearch
	// Host keeps weights, gradients and the solver's state of a fine-tuned network in the computer's memory, from
	// which they are copied at every step. Otherwise they stay on the device.
	Host bool
	// Operators computes the gradients of convolutions by ONNX's operators alone, without cuDNN's own functions.
	Operators bool
}

// ConvSearch is how cuDNN chooses an algorithm for a convolution.
type ConvSearch string

const (
	// SearchHeuristic, or "", follows cuDNN's rules: the same algorithm in every run.
	SearchHeuristic ConvSearch = "heuristic"
	// SearchExhaustive times all algorithms on the first images of each shape. The choice, and the last bits of
	// the result, may differ from run to run. It is ONNX Runtime's own default.
	SearchExhaustive ConvSearch = "exhaustive"
	// SearchDefault takes an algorithm that always works and is mostly slower.
	SearchDefault ConvSearch = "default"
)

// ConvSearches returns all values, the default first.
func ConvSearches() []ConvSearch {
	return []ConvSearch{SearchHeuristic, SearchExhaustive, SearchDefault}
}

// leastMemory is less than any network needs: a smaller number is missing its unit.
const leastMemory = 16 << 20

// Check returns an error if a value is out of range.
func (g GPU) Check() error {
	if g.Memory < 0 || g.Memory > 0 && g.Memory < leastMemory {
		return fmt.Errorf("ort: gpu memory: found %d bytes, expected at least %d, or 0 for no limit",
			g.Memory, leastMemory)
	}
	if g.Search != "" && !slices.Contains(ConvSearches(), g.Search) {
		return fmt.Errorf("ort: cudnn search: found %q, expected one of %q", g.Search, ConvSearches())
	}
	return nil
}

// search returns Search, or its default.
func (g GPU) search() ConvSearch {
	if g.Search == "" {
		return SearchHeuristic
	}
	return g.Search
}

// options returns the CUDA provider's options, by ONNX Runtime's names. With a limit its arena grows by what is
// requested, not to the next power of two, which would reach the limit at half of it.
func (g GPU) options(index int) map[string]string {
	o := map[string]string{
		"device_id":              strconv.Itoa(index),
		"cudnn_conv_algo_search": strings.ToUpper(string(g.search())),
		"use_tf32":               "0",
	}
	if g.TF32 {
		o["use_tf32"] = "1"
	}
	if g.Memory > 0 {
		o["gpu_mem_limit"] = strconv.FormatInt(g.Memory, 10)
		o["arena_extend_strategy"] = "kSameAsRequested"
	}
	return o
}

// marks returns a suffix for the device's name that tells which options can change a result: "+tf32".
func (g GPU) marks() string {
	text := ""
	if g.TF32 {
		text += "+tf32"
	}
	if s := g.search(); s != SearchHeuristic {
		text += "+" + string(s)
	}
	return text
}
