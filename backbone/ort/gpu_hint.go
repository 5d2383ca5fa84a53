package ort

import (
	"regexp"
	"strings"
)

// gpuSigns map messages of ONNX Runtime and NVIDIA's libraries that say why a GPU did not compute to a hint. The
// first match is taken. Those of ONNX Runtime 1.29 were seen when its provider ran on a stand-in for CUDA
// (internal/testing/nogpu); NVIDIA's are from the documentation of cudaGetErrorString and were not yet seen on a GPU.
var gpuSigns = []struct {
	words []string
	hint  string
}{
	{[]string{"CUDA failure 2:", "cudaErrorMemoryAllocation", "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED",
		"Failed to allocate memory for requested buffer", "Available memory of"},
		outOfMemory},
	{[]string{"cuDNN is unavailable", "CUDNN_STATUS_NOT_INITIALIZED", "CUDNN_STATUS_SUBLIBRARY", "libcudnn_",
		"undefined symbol: cudnn", "Unable to load any of {libcudnn"},
		"cuDNN 9 is incomplete: all of its libcudnn*.so.9 must be in one folder that LD_LIBRARY_PATH names"},
	{[]string{"CUDA failure 35:", "driver version is insufficient", "driver is a stub library", "CUDA failure 34:",
		"undefined symbol: cu"},
		"NVIDIA's driver is too old for CUDA 13, or another library has its name: " +
			"nvidia-smi shows the version, expected 580 or newer"},
	{[]string{"CUDA failure 100:", "no CUDA-capable device"},
		"the driver finds no GPU: check that nvidia-smi lists one and that CUDA_VISIBLE_DEVICES does not hide it"},
	{[]string{"CUDA failure 101:", "invalid device ordinal", "Invalid device ID"},
		"there is no GPU with that number: nvidia-smi -L lists them, the first is cuda:0"},
	{[]string{"CUDA failure 209:", "no kernel image is available"},
		"the CUDA provider was not built for this generation of GPU: compute with --device cpu"},
	{[]string{"CUDA failure 802:", "system not yet initialized", "CUDA failure 804:",
		"forward compatibility was attempted"},
		"the GPU's driver does not fit the system: check that nvidia-smi works " +
			"and that no other libcuda.so.1 is found first (LD_LIBRARY_PATH)"},
	{[]string{"CUDA failure 46:", "devices are busy or unavailable", "CUDA-capable device(s) is/are busy"},
		"another program uses the GPU exclusively: nvidia-smi shows which"},
}

// outOfMemory covers the GPU's and the computer's memory: both arenas report it in the same words.
const outOfMemory = "there is not enough memory: take a smaller --batch; " +
	"on a GPU also a larger --gpu-memory, or end other programs that compute there (nvidia-smi)"

// GPUHint returns what to do about a GPU's error, which the libraries report only as text, or otherwise if unknown.
func GPUHint(err error, otherwise string) string {
	if err == nil {
		return otherwise
	}
	if _, hint := gpuSign(err.Error()); hint != "" {
		return hint
	}
	return otherwise
}

// gpuSign finds the first known sign in a text and returns where it begins and its hint.
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

// briefly reduces a known error of the library to its message, without the library's source positions before it
// and the host's name after it. It returns other errors unchanged.
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

// position is where in its sources the library found a fault.
var position = regexp.MustCompile(`\S+\.(?:cc|cpp|h|cu):\d+ |\bonnxruntime::[\w:~<>]*(?:\([^)]*\))?(?: const)? `)

// advice is what the library and its bindings write around the fault.
var advice = strings.NewReplacer("Error running network: ", "", "Non-zero status code returned while running ", "",
	"Please fix either the inputs/outputs or the model.", "", "Please fix either the inputs or the model.", "")

// inOneLine reduces the text of a run that failed to one line, without the library's source positions.
func inOneLine(err error) error {
	text := strings.Join(strings.Fields(position.ReplaceAllString(advice.Replace(err.Error()), "")), " ")
	const most = 300
	if cut := []rune(text); len(cut) > most {
		text = string(cut[:most]) + "…"
	}
	if text == err.Error() {
		return err
	}
	return brief{text, err}
}

// brief is an error whose text is a part of the library's text.
type brief struct {
	words string
	err   error
}

func (b brief) Error() string { return b.words }
func (b brief) Unwrap() error { return b.err }

// OutOfMemory reports whether a run failed because the GPU's or the computer's memory was too small.
func OutOfMemory(err error) bool { return GPUHint(err, "") == outOfMemory }
