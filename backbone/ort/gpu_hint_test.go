package ort

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// The messages have the form in which ONNX Runtime's CudaCall and its arena write them.
func TestGPUHint(t *testing.T) {
	call := func(number int, words string) string {
		return fmt.Sprintf("CUDA failure %d: %s ; GPU=0 ; hostname=box ; file=cuda_allocator.cc ; line=74 ; "+
			"expr=cudaMalloc((void**)&p, size);", number, words)
	}
	parse := `/onnxruntime_src/onnxruntime/core/providers/cuda/cuda_execution_provider_info.cc:62 static onnxruntime::CUDAExecutionProviderInfo onnxruntime::CUDAExecutionProviderInfo::FromProviderOptions(const onnxruntime::ProviderOptions&) [ONNXRuntimeError] : 1 : FAIL : provider_options_utils.h:187 Parse Failed to parse provider option "device_id": `
	for text, want := range map[string]string{
		call(2, "out of memory"): "smaller --batch",
		"BFCArena::AllocateRawInternal Failed to allocate memory for requested buffer of size 1048576":  "smaller --batch",
		"BFCArena::AllocateRawInternal Available memory of 512 is smaller than requested bytes of 1024": "smaller --batch",
		"CUBLAS failure 3: CUBLAS_STATUS_ALLOC_FAILED ; GPU=0":                                          "smaller --batch",
		call(35, "CUDA driver version is insufficient for CUDA runtime version"):                        "580 or newer",
		parse + call(35, "CUDA driver version is insufficient for CUDA runtime version"):                "580 or newer",
		parse + "cuda_execution_provider_info.cc:70 operator() Invalid device ID: 7, must be between 0 " +
			"(inclusive) and 1 (exclusive).": "nvidia-smi -L",
		"Non-zero status code returned while running Conv node. Name:'Conv' Status Message: cuDNN is " +
			"unavailable or disabled for CUDA Execution Provider: dlsym failed for cudnnCreateFilterDescriptor": "cuDNN 9 is incomplete",
		call(100, "no CUDA-capable device is detected"):                                                               "CUDA_VISIBLE_DEVICES",
		call(101, "invalid device ordinal"):                                                                           "nvidia-smi -L",
		call(209, "no kernel image is available for execution on the device"):                                         "generation",
		call(804, "forward compatibility was attempted on non supported HW"):                                          "no other libcuda.so.1",
		call(46, "CUDA-capable device(s) is/are busy or unavailable"):                                                 "uses the GPU exclusively",
		"CUDNN failure 1001: CUDNN_STATUS_NOT_INITIALIZED ; GPU=0":                                                    "cuDNN 9 is incomplete",
		"libcublasLt.so.13 is missing (libcublasLt.so.13: cannot open shared object file: No such file or directory)": "",
		"libcudnn.so.9: undefined symbol: cudnnCreate":                                                                "cuDNN 9 is incomplete",
		"libonnxruntime_providers_cuda.so: undefined symbol: cuMemCreate":                                             "580 or newer",
		"train: step 412 (epoch 3): loss is NaN":                                                                      "",
		"datasets: list.csv:17: label \"x7\" is not an integer":                                                       "",
		"CUDA failure 700: an illegal memory access was encountered ; GPU=0 ; hostname=box ; " +
			"expr=cudaStreamSynchronize(stream_);": "",
	} {
		got := GPUHint(fmt.Errorf("ort: run: %w", errors.New(text)), "")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: found %q, expected %q", text, got, want)
		}
		if OutOfMemory(errors.New(text)) != (want == "smaller --batch") {
			t.Errorf("%s: out of memory: found %v", text, want != "smaller --batch")
		}
	}
	if GPUHint(nil, "") != "" || OutOfMemory(nil) {
		t.Error("no error has a hint")
	}
}

// The brief error has only the library's message; an unknown error stays as it is.
func TestBriefly(t *testing.T) {
	for text, want := range map[string]string{
		`x.cc:62 f(int) Failed to parse provider option "device_id": CUDA failure 100: no CUDA-capable device is detected ; GPU=0 ; hostname=box ; file=a ; line=69 ; expr=cudaGetDeviceCount(&n);`: "CUDA failure 100: no CUDA-capable device is detected",
		"bfc_arena.cc:359 void* f(size_t) Failed to allocate memory for requested buffer of size 163840000\n":                                                                                       "Failed to allocate memory for requested buffer of size 163840000",
		"Non-zero status code returned while running Conv node.":                                                                                                                                    "Non-zero status code returned while running Conv node.",
	} {
		cause := errors.New(text)
		if err := briefly(cause); err.Error() != want || !errors.Is(err, cause) {
			t.Errorf("found %q, expected %q", err, want)
		}
	}
	if briefly(nil) != nil {
		t.Error("no error has become one")
	}
}

// A run that fails says why in one line, in the library's words without its sources.
func TestInOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"Error running network: Got invalid dimensions for output: f for the following indices\n index: 0 Got: 32 " +
			"Expected: 2\n Please fix either the inputs/outputs or the model.": "Got invalid dimensions for output: f for " +
			"the following indices index: 0 Got: 32 Expected: 2",
		"Error running network: Non-zero status code returned while running Reshape node. Name:'/r' Status Message: " +
			"/src/onnxruntime/core/providers/cpu/tensor/reshape_helper.h:45 onnxruntime::ReshapeHelper::ReshapeHelper(" +
			"const onnxruntime::TensorShape&, onnxruntime::TensorShapeVector&, bool) size was false. Input " +
			"shape:{2,512}, requested shape:{3,512}\n": "Reshape node. Name:'/r' Status Message: size was false. Input " +
			"shape:{2,512}, requested shape:{3,512}",
		strings.Repeat("x", 400): strings.Repeat("x", 300) + "…",
		"said":                   "said",
	} {
		cause := errors.New(text)
		if err := inOneLine(cause); err.Error() != want || !errors.Is(err, cause) {
			t.Errorf("found %q, expected %q", err, want)
		}
	}
}
