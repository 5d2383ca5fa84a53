package ort

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	ortgo "github.com/yalue/onnxruntime_go"
)

// Device is where sessions run: the CPU (the zero value) or a CUDA device. A request may also be Auto.
type Device struct {
	CUDA  bool
	Index int  // number of the CUDA device
	Auto  bool // only in a request: CUDA if it works, otherwise the CPU
}

// String returns the device in the form that ParseDevice reads.
func (d Device) String() string {
	switch {
	case d.Auto:
		return "auto"
	case d.CUDA:
		return "cuda:" + strconv.Itoa(d.Index)
	}
	return "cpu"
}

// ParseDevice parses cpu, cuda, cuda:N or auto.
func ParseDevice(text string) (Device, error) {
	switch text {
	case "", "cpu":
		return Device{}, nil
	case "cuda":
		return Device{CUDA: true}, nil
	case "auto":
		return Device{Auto: true}, nil
	}
	if number, ok := strings.CutPrefix(text, "cuda:"); ok {
		if n, err := strconv.ParseUint(number, 10, 15); err == nil {
			return Device{CUDA: true, Index: int(n)}, nil
		}
	}
	return Device{}, fmt.Errorf("ort: device: found %q, expected cpu, cuda, cuda:N or auto", text)
}

// chooseDevice decides where to run. It accepts CUDA only after a test product has run on it.
func (r *Runtime) chooseDevice(want Device) error {
	if !want.CUDA && !want.Auto {
		return nil
	}
	err := r.CheckCUDA(want.Index)
	switch {
	case err == nil:
		r.device = Device{CUDA: true, Index: want.Index}
		return nil
	case want.Auto:
		r.Fallback = fmt.Sprintf("device auto: cuda cannot be used (%v); running on the cpu", err)
		return nil
	}
	return fmt.Errorf("ort: device %s: %w", want, err)
}

// CheckCUDA runs a test product on a CUDA device. It returns an error that gives the reason if CUDA cannot be used.
func (r *Runtime) CheckCUDA(index int) error {
	if missing := r.MissingCUDA(); len(missing) > 0 {
		return missingError(missing)
	}
	try := &Runtime{library: r.library, threads: 1, gpu: r.gpu, device: Device{CUDA: true, Index: index}}
	return inOneLine(try.probeDevice(SessionOptions{}))
}

// Check runs a test product on the CPU.
func (r *Runtime) Check() error { return r.probeDevice(SessionOptions{Threads: 1, CPU: true}) }

// probeDevice runs a 1×1 matrix product in a separate session.
func (r *Runtime) probeDevice(o SessionOptions) error {
	s, err := r.NewSession(gemmModel(Float, false, false), o)
	if err != nil {
		return err
	}
	y := []float32{0}
	in := []Tensor{Float32s([]float32{3}, 1, 1), Float32s([]float32{5}, 1, 1)}
	if err := errors.Join(s.Run(in, []Tensor{Float32s(y, 1, 1)}), s.Close()); err != nil {
		return err
	}
	if y[0] != 15 {
		return fmt.Errorf("ort: the test product 3·5 is %v, expected 15", y[0])
	}
	return nil
}

// Missing is a library that CUDA needs but that cannot be loaded.
type Missing struct {
	Name   string // file name, such as libcublasLt.so.13
	Reason string // the loader's message
}

func missingError(list []Missing) error {
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.Name
	}
	if len(names) == 1 {
		return fmt.Errorf("%s is missing (%s)", names[0], list[0].Reason)
	}
	return fmt.Errorf("these libraries are missing: %s", strings.Join(names, ", "))
}

// cudaProvider is ONNX Runtime's name for its CUDA provider.
const cudaProvider = "CUDAExecutionProvider"

// cudaNeeds lists the system libraries that the CUDA 13 build of the provider needs: NVIDIA's CUDA runtime, cuDNN and
// the driver.
var cudaNeeds = []string{"libcublasLt.so.13", "libcublas.so.13", "libcudart.so.13", "libcurand.so.10", "libcudnn.so.9",
	"libcuda.so.1"}

// The provider's files, in the folder of ONNX Runtime's library.
const (
	sharedProvider = "libonnxruntime_providers_shared.so"
	cudaLibrary    = "libonnxruntime_providers_cuda.so"
)

// MissingCUDA lists the libraries that the CUDA provider needs and that cannot be loaded: ONNX Runtime's provider
// libraries, in the folder of the shared library, and system libraries. The list is empty if all can be loaded.
// Whether a device works shows only when a product runs on it.
func (r *Runtime) MissingCUDA() []Missing {
	if !slices.Contains(r.providers, cudaProvider) {
		only := "this build of ONNX Runtime has only " + strings.Join(r.providers, ", ")
		return []Missing{{Name: cudaProvider, Reason: only}}
	}
	if runtime.GOOS != "linux" {
		return nil // the provider's own message is the only information
	}
	return missingIn(filepath.Dir(r.library))
}

// missingIn checks the provider's files in a folder and the system libraries that they need.
func missingIn(folder string) (missing []Missing) {
	for _, name := range []string{sharedProvider, cudaLibrary} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			missing = append(missing, Missing{name, "not in the folder of the runtime"})
		}
	}
	for _, name := range cudaNeeds {
		if err := openBeside(folder, name); err != nil {
			missing = append(missing, Missing{name, err.Error()})
		}
	}
	return missing
}

// appendCUDA adds the CUDA provider to opts.
func appendCUDA(opts *ortgo.SessionOptions, index int, gpu GPU) error {
	cuda, err := ortgo.NewCUDAProviderOptions()
	if err != nil {
		return err
	}
	defer cuda.Destroy()
	if err := cuda.Update(gpu.cudaOptions(index)); err != nil {
		return err
	}
	return opts.AppendExecutionProviderCUDA(cuda)
}
