package ort

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// onnxruntime_go v1.35.0 offers the provider's options and IoBinding, but no memory other than the computer's pageable
// memory, and no way to ask how much of the device's memory is free, so that --batch auto needs --gpu-memory. Memory of
// the device comes from the library's own table (live_memory.go), copies and locked pages from CUDA's runtime (cuda.c).
//
// From pageable memory ResNet-50 reached .77 of its speed on an H200 (experiments/gpu). [Networks] therefore has two
// lanes on a GPU, and pins the memory of an extraction.

// CUDAState says how far computing on a GPU has been tested.
const CUDAState = "CUDA: tried on one NVIDIA H200 and one H100; other cards, and several at once, are untried"

// GPU is how the CUDA provider computes. The zero value gives the numbers nearest to the CPU's.
type GPU struct {
	// Memory is the most bytes of the device's memory that one session keeps, weights included; 0: no limit.
	// The provider's own libraries take some hundred megabytes more. A fine-tuned network has two sessions, or
	// three if a part of it is frozen.
	Memory int64
	// TF32 lets products and convolutions of float32 numbers keep 10 bits of the mantissa instead of 23. It is
	// faster on devices since Ampere, but the vectors no longer agree with the CPU's.
	TF32 bool
	// Host keeps the gradients and the memory of the solver of a fine-tuned network in the computer's memory, where
	// the solver then computes. It is slower, and there to compare with.
	Host bool
	// Operators writes the gradients of convolutions in ONNX's operators alone, as on a CPU without kernels, instead of
	// cuDNN's and winnow's own kernels.
	Operators bool
	// Tell prints the times by which each kind of layer's gradients were chosen.
	Tell bool
	// Search is how cuDNN finds the algorithm of a convolution.
	Search ConvSearch
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

// cudaOptions returns the CUDA provider's options, by ONNX Runtime's names. With a limit its arena grows by what is
// requested, not to the next power of two, which would reach the limit at half of it.
func (g GPU) cudaOptions(index int) map[string]string {
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

// deviceMarks returns a suffix for the device's name that tells which options can change a result: "+tf32".
func (g GPU) deviceMarks() string {
	text := ""
	if g.TF32 {
		text += "+tf32"
	}
	if s := g.search(); s != SearchHeuristic {
		text += "+" + string(s)
	}
	return text
}
