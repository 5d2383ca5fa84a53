package ort

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// What onnxruntime_go v1.35.0 has for a GPU, and what not: the provider's options, which are used here, and IoBinding,
// but the values to bind lie in the computer's pageable memory, as the only memory description it makes (GetMemoryInfo)
// is that of the CPU, and its functions for allocators (CreateAndRegisterAllocatorV2) take such a description as a C type
// that no other package can make. So it has no pinned memory, no tensors on the device of its own and no word on how much of the
// device's memory is free; GetEpDevices names devices only. Pictures therefore go to the device from pageable memory, and
// --batch auto asks for --gpu-memory. The library itself could be asked for its "CudaPinned" allocator, past the wrapper
// as live_memory.go does it for the device's, where [Resident] gets its memory; that, and two sessions at the same time,
// are not built into the commands, as no GPU was at hand to see what they bring: experiments/gpu measures the latter.

// CUDAState says how far computing on a GPU can be trusted.
const CUDAState = "CUDA: built and checked against the API, never run by us"

// GPU is how the CUDA provider computes; the zero value gives the numbers that are nearest to the CPU's.
type GPU struct {
	// Memory is the most bytes that one session keeps of the device's memory, weights included; 0: whatever there is.
	// The provider's own libraries take some hundred megabytes more. A fine-tuned network has two sessions, or three
	// where a part of it is frozen.
	Memory int64
	// TF32 lets products and convolutions of float32 numbers keep 10 bits of the mantissa instead of 23: faster on
	// devices since Ampere, and the vectors no longer agree with the CPU's.
	TF32 bool
	// Search is how the algorithm of a convolution is found.
	Search ConvSearch
}

// ConvSearch is cuDNN's way to an algorithm for a convolution.
type ConvSearch string

const (
	// SearchHeuristic, also "", takes what cuDNN's rules name: the same algorithm in every run.
	SearchHeuristic ConvSearch = "heuristic"
	// SearchExhaustive times all of them on the first images of each shape, and may so choose differently, to the last
	// bits of the result, from run to run. It is ONNX Runtime's own default.
	SearchExhaustive ConvSearch = "exhaustive"
	// SearchDefault takes one that always works, mostly slower.
	SearchDefault ConvSearch = "default"
)

// ConvSearches returns the ways there are, the usual one first.
func ConvSearches() []ConvSearch {
	return []ConvSearch{SearchHeuristic, SearchExhaustive, SearchDefault}
}

// leastMemory is less than any network can do with: a smaller number is a forgotten unit.
const leastMemory = 16 << 20

// Check returns an error where the options contradict each other.
func (g GPU) Check() error {
	if g.Memory < 0 || g.Memory > 0 && g.Memory < leastMemory {
		return fmt.Errorf("ort: gpu memory: found %d bytes, expected at least %d, or 0 for no limit", g.Memory, leastMemory)
	}
	if g.Search != "" && !slices.Contains(ConvSearches(), g.Search) {
		return fmt.Errorf("ort: cudnn search: found %q, expected one of %q", g.Search, ConvSearches())
	}
	return nil
}

// search returns the way with its default.
func (g GPU) search() ConvSearch {
	if g.Search == "" {
		return SearchHeuristic
	}
	return g.Search
}

// options returns the CUDA provider's, by ONNX Runtime's names. With a limit its arena takes what is asked for instead
// of the next power of two, which would meet the limit at half of it.
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

// marks returns what of the options can change a result, to be written behind the device: "+tf32".
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
