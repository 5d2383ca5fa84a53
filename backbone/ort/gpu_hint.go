package ort

import "strings"

// gpuSigns are the words by which ONNX Runtime and NVIDIA's libraries tell why a GPU did not compute, and what to do. The
// first that fits is taken. ONNX Runtime 1.29's were seen where its provider ran on a stand-in for CUDA
// (internal/testing/nogpu); NVIDIA's are those of cudaGetErrorString's documentation, none seen on a GPU yet.
var gpuSigns = []struct {
	words []string
	hint  string
}{
	{[]string{"CUDA failure 2:", "cudaErrorMemoryAllocation", "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED", "Failed to allocate memory for requested buffer", "Available memory of"},
		outOfMemory},
	{[]string{"cuDNN is unavailable", "CUDNN_STATUS_NOT_INITIALIZED", "CUDNN_STATUS_SUBLIBRARY", "libcudnn_", "undefined symbol: cudnn", "Unable to load any of {libcudnn"},
		"cuDNN 9 is not whole: all of its libcudnn*.so.9 must lie in one folder that LD_LIBRARY_PATH names"},
	{[]string{"CUDA failure 35:", "driver version is insufficient", "driver is a stub library", "CUDA failure 34:", "undefined symbol: cu"},
		"NVIDIA's driver is too old for CUDA 13, or another library has its name: nvidia-smi shows the version, expected 580 or newer"},
	{[]string{"CUDA failure 100:", "no CUDA-capable device"},
		"the driver finds no GPU: see that nvidia-smi lists one and that CUDA_VISIBLE_DEVICES does not hide it"},
	{[]string{"CUDA failure 101:", "invalid device ordinal", "Invalid device ID"},
		"there is no GPU of that number: nvidia-smi -L lists them, the first is cuda:0"},
	{[]string{"CUDA failure 209:", "no kernel image is available"},
		"this GPU is of a generation that the CUDA provider was not built for: compute with --device cpu"},
	{[]string{"CUDA failure 802:", "system not yet initialized", "CUDA failure 804:", "forward compatibility was attempted"},
		"the GPU's driver and the system do not fit: see that nvidia-smi works and that no other libcuda.so.1 is found first (LD_LIBRARY_PATH)"},
	{[]string{"CUDA failure 46:", "devices are busy or unavailable", "CUDA-capable device(s) is/are busy"},
		"another program has the GPU to itself: nvidia-smi shows which"},
}

// outOfMemory speaks of both memories: the arena that tells so is the same on the CPU.
const outOfMemory = "there is not enough memory: take a smaller --batch; on a GPU also a larger --gpu-memory, or end what else computes there (nvidia-smi)"

// GPUHint says what to do about an error of a GPU, otherwise where it is none that is known. The library tells so in words
// only.
func GPUHint(err error, otherwise string) string {
	if err == nil {
		return otherwise
	}
	if _, hint := gpuSign(err.Error()); hint != "" {
		return hint
	}
	return otherwise
}

// gpuSign finds the first sign in a text: where it begins, and what to do.
func gpuSign(text string) (at int, hint string) {
	for _, sign := range gpuSigns {
		for _, words := range sign.words {
			if at := strings.Index(text, words); at >= 0 {
				return at, sign.hint
			}
		}
	}
	return 0, ""
}

// briefly returns an error of the library with its words alone, where they are a sign that is known: not the places in its
// sources before them, and not the host's name behind.
func briefly(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	at, hint := gpuSign(text)
	if hint == "" {
		return err
	}
	words, _, _ := strings.Cut(text[at:], " ; ")
	words, _, _ = strings.Cut(words, "\n")
	return brief{words, err}
}

// brief is an error whose text is a part of the library's.
type brief struct {
	words string
	err   error
}

func (b brief) Error() string { return b.words }
func (b brief) Unwrap() error { return b.err }

// OutOfMemory reports whether a run has failed for want of a GPU's memory, or of the computer's.
func OutOfMemory(err error) bool { return GPUHint(err, "") == outOfMemory }
