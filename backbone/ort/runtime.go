// Package ort runs ONNX models with ONNX Runtime. It loads the shared library, chooses the device, opens sessions, and
// provides the library's matrix product as gonum's BLAS. It is the only package with cgo.
//
// Conventions: tensors are row-major slices owned by Go and shared with the library without a copy. The library holds
// no pointer to Go memory after the tensor that wraps it is destroyed. Worker threads do not spin between runs unless
// a session requests it (see [SessionOptions]).
package ort

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
	"unsafe"

	ortgo "github.com/yalue/onnxruntime_go"
)

// Config selects the library to load and the device where models run.
type Config struct {
	Library string // path of the shared library
	Device  string // cpu, cuda, cuda:N or auto ("" is cpu)
	Threads int    // threads of one session; 0: as many as Go may use
	GPU     GPU    // settings of CUDA
	Kernels string // instruction set of winnow's kernels: plain, avx2, avx512 or none; "": the best available
}

// Runtime is a loaded ONNX Runtime. Its methods are safe for concurrent use.
type Runtime struct {
	// Fallback is one line with the reason why "auto" runs on the CPU, or empty.
	Fallback string

	library   string
	version   string
	providers []string
	device    Device
	threads   int
	gpu       GPU

	mu     sync.Mutex
	blas   *BLAS
	pinned pins
}

// process holds the state of the library in this process. ONNX Runtime and its wrapper have one environment per
// process, so this is one variable. The library is never unloaded, because its worker threads and CUDA contexts
// outlive a shutdown.
var process struct {
	sync.Mutex
	library string
	version string
	live    int            // live networks that share the arena
	kernels unsafe.Pointer // domain of winnow's operators; nil: the library rejected them
	cuda    map[int]cudaDomain
}

// Load loads the library once per process, and checks that it fits the wrapper and the device. A second Load of the
// same library is cheap; loading a different library is an error.
func Load(cfg Config) (*Runtime, error) {
	device, err := ParseDevice(cfg.Device)
	if err != nil {
		return nil, err
	}
	if cfg.Threads < 0 {
		return nil, fmt.Errorf("ort: threads: found %d, expected 0 (all cores) or more", cfg.Threads)
	}
	if err := cfg.GPU.Check(); err != nil {
		return nil, err
	}
	r := &Runtime{library: cfg.Library, threads: cmp.Or(cfg.Threads, runtime.GOMAXPROCS(0)), gpu: cfg.GPU}
	if r.version, err = loadLibrary(cfg.Library, cfg.Kernels); err != nil {
		return nil, err
	}
	if r.providers, err = libraryProviders(cfg.Library); err != nil {
		return nil, err
	}
	if err := r.chooseDevice(device); err != nil {
		return nil, err
	}
	return r, nil
}

func loadLibrary(path, kernels string) (version string, err error) {
	process.Lock()
	defer process.Unlock()
	if process.library != "" {
		if process.library != path {
			return "", fmt.Errorf("ort: %s: this process has already loaded %s", path, process.library)
		}
		return process.version, nil
	}
	if version, err = libraryVersion(path); err != nil {
		return "", err
	}
	if !atLeast(version, oldestVersion) {
		return "", fmt.Errorf("ort: %s: found ONNX Runtime %s, expected %s or newer", path, version, oldestVersion)
	}
	// Since 1.29 the library collects usage data, also on Linux and macOS, tries to send it to Microsoft and stores a
	// database of it in the user's cache. Only this variable prevents that; winnow must not send data anywhere.
	if err := os.Setenv("ORT_DISABLE_TELEMETRY", "1"); err != nil {
		return "", fmt.Errorf("ort: %w", err)
	}
	ortgo.SetSharedLibraryPath(path)
	if err := ortgo.InitializeEnvironment(ortgo.WithLogLevelFatal()); err != nil {
		return "", fmt.Errorf("ort: %s: ONNX Runtime %s does not start: %w", path, version, err)
	}
	process.library, process.version = path, version
	return version, loadKernels(path, kernels)
}

// Library returns the path of the shared library.
func (r *Runtime) Library() string { return r.library }

// Version returns the library's version, such as "1.29.0".
func (r *Runtime) Version() string { return r.version }

// Providers lists the execution providers compiled into the library, by ONNX Runtime's names. A provider may still
// lack libraries that it loads on use.
func (r *Runtime) Providers() []string { return r.providers }

// Device returns the device on which sessions run. It is never Auto.
func (r *Runtime) Device() Device { return r.device }

// TF32 reports whether products on this device may be rounded to TF32.
func (r *Runtime) TF32() bool { return r.device.CUDA && r.gpu.TF32 }

// Where names the device and the option that can change results, for example "cuda:0+tf32". Files store this name, so
// that a computation is continued only on an equivalent device.
func (r *Runtime) Where() string {
	if r.TF32() {
		return r.device.String() + "+tf32"
	}
	return r.device.String()
}

// Threads returns the number of CPU threads per session.
func (r *Runtime) Threads() int { return r.threads }

// Close closes the BLAS, which then computes in Go. Open sessions stay valid; their owners close them.
func (r *Runtime) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.blas == nil {
		return nil
	}
	return r.blas.closeBLAS()
}

// newSessionOptions returns the wrapper's session options. The caller must destroy them.
func (r *Runtime) newSessionOptions(o SessionOptions) (_ *ortgo.SessionOptions, err error) {
	opts, err := ortgo.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, opts.Destroy())
		}
	}()
	threads := cmp.Or(o.Threads, r.threads)
	if err := opts.SetIntraOpNumThreads(threads); err != nil {
		return nil, err
	}
	// errors are returned; logging them to standard error would only repeat them
	if err := opts.SetLogSeverityLevel(ortgo.LoggingLevelFatal); err != nil {
		return nil, err
	}
	if err := opts.SetInterOpNumThreads(1); err != nil {
		return nil, err
	}
	if err := setSpin(opts, o.Spin); err != nil {
		return nil, err
	}
	if o.Folder != "" {
		err := opts.AddSessionConfigEntry("session.model_external_initializers_file_folder_path", o.Folder)
		if err != nil {
			return nil, err
		}
	}
	if device := r.sessionDevice(o); device.CUDA {
		gpu := r.gpu
		gpu.Memory = cmp.Or(o.memory, gpu.Memory)
		keepSignals(func() { err = appendCUDA(opts, device.Index, gpu) })
		if made := r.cudaKernels(); err == nil && made.err == nil {
			err = addKernels(r.library, opts, made.domain)
		}
	} else if process.kernels != nil {
		err = addKernels(r.library, opts, process.kernels)
	}
	return opts, err
}

// sessionDevice returns the device on which a session with these options runs.
func (r *Runtime) sessionDevice(o SessionOptions) Device {
	if o.CPU {
		return Device{}
	}
	return r.device
}

// setSpin sets how long idle worker threads stay awake; 0: they sleep at once.
func setSpin(opts *ortgo.SessionOptions, d time.Duration) error {
	if d <= 0 {
		return opts.AddSessionConfigEntry("session.intra_op.allow_spinning", "0")
	}
	us := strconv.FormatInt(max(d.Microseconds(), 1), 10)
	return opts.AddSessionConfigEntry("session.intra_op.spin_duration_us", us)
}
