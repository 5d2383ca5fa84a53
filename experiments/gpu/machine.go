package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"winnow/backbone/ort"
	"winnow/internal/ortlib"
)

// machine records the hardware and the versions of software and libraries.
func machine(b *bench) error {
	if err := b.note(fmt.Sprintf("%s, %s/%s, %d cores", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU()), "program"); err != nil {
		return err
	}
	for _, tool := range [][]string{
		{"GPU", "nvidia-smi", "--query-gpu=index,name,driver_version,memory.total,memory.used,compute_cap," +
			"clocks.max.sm,power.limit", "--format=csv,noheader"},
		{"CUDA of the driver", "nvidia-smi", "--version"},
		{"processor", "grep", "-m1", "model name", "/proc/cpuinfo"},
		{"libraries of NVIDIA", "sh", "-c", `echo "LD_LIBRARY_PATH=$LD_LIBRARY_PATH"`},
	} {
		err := b.measure(func() (Record, error) {
			out, err := exec.CommandContext(b.ctx, tool[1], tool[2:]...).Output()
			return Record{Text: oneLine(string(out))}, err
		}, tool[0])
		if err != nil {
			return err
		}
	}
	found, err := ortlib.Find(b.options.library)
	if err != nil {
		return err
	}
	rt, err := ort.Load(ort.Config{Library: found.Path})
	if err != nil {
		return err
	}
	if err := b.note(fmt.Sprintf("%s, %s (%s): %s", rt.Version(), found.Path, found.Source,
		strings.Join(rt.Providers(), ", ")), "ONNX Runtime"); err != nil {
		return err
	}
	missing := rt.MissingCUDA()
	for _, m := range missing {
		if err := b.note(m.Reason, "missing", m.Name); err != nil {
			return err
		}
	}
	if len(missing) == 0 {
		if err := b.note("none", "missing"); err != nil {
			return err
		}
	}
	return b.measure(func() (Record, error) {
		d, err := ort.ParseDevice(b.options.device)
		if err != nil {
			return Record{}, err
		}
		if !d.CUDA && !d.Auto {
			return Record{Text: "a product ran on the CPU"}, rt.Check()
		}
		return Record{Text: fmt.Sprintf("a product ran on %v", d)}, rt.CheckCUDA(d.Index)
	}, "device")
}

// probePart is the part that only reports whether a device works, in an environment made by the part messages.
const probePart = "probe"

// answer is the output of a probe.
type answer struct {
	Device   string // the device on which the probe computed
	Fallback string
	Error    string
	Hint     string
}

// probe loads the runtime on the device and runs a product.
func probe(o options, stdout io.Writer) int {
	var a answer
	found, err := ortlib.Find(o.library)
	if err == nil {
		var rt *ort.Runtime
		if rt, err = ort.Load(ort.Config{Library: found.Path, Device: o.device}); err == nil {
			a.Device, a.Fallback = rt.Device().String(), rt.Fallback
			if !rt.Device().CUDA {
				err = rt.Check()
			}
		}
	}
	if err != nil {
		a.Error, a.Hint = err.Error(), ort.GPUHint(err,
			"see what is missing with: winnow doctor; or compute without a GPU: --device cpu")
	}
	if err := json.NewEncoder(stdout).Encode(a); err != nil {
		return 1
	}
	return 0
}

// surroundings describes the environment of a probe and the expected answer.
type surroundings struct {
	name   string
	device string
	env    []string
	library,
	skip string // reason why the environment cannot be made on this machine
	works bool // a GPU that works on this machine may work in this environment
	must  bool // the GPU must work
}

// messages runs probes with the devices cuda and auto in environments that lack a part of CUDA.
func messages(b *bench) error {
	found, err := ortlib.Find(b.options.library)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "winnow-gpu-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	bare, err := copyInto(filepath.Join(work, "bare"), found.Path, filepath.Base(found.Path))
	if err != nil {
		return err
	}
	path := os.Getenv("LD_LIBRARY_PATH")
	list := []surroundings{
		{name: "as it is here", works: true, must: b.options.device != "cpu"},
		{name: "a number that no GPU has", device: "cuda:99"},
		{name: "CUDA_VISIBLE_DEVICES hides all GPUs", env: []string{"CUDA_VISIBLE_DEVICES=-1"}},
		// the system may find the libraries in its default folders
		{name: "without CUDA's libraries", env: []string{"LD_LIBRARY_PATH="}, works: true},
		{name: "without ONNX Runtime's provider for CUDA", library: bare},
	}
	// An arbitrary library with the driver's file name simulates a wrong driver.
	wrong := surroundings{name: "another library by the driver's name",
		env: []string{"LD_LIBRARY_PATH=" + filepath.Join(work, "wrong") + string(os.PathListSeparator) + path}}
	if _, err := copyInto(filepath.Join(work, "wrong"),
		filepath.Join(filepath.Dir(found.Path), "libonnxruntime_providers_shared.so"), "libcuda.so.1"); err != nil {
		wrong.skip = err.Error()
	}
	for _, s := range append(list, wrong) {
		for _, device := range []string{cmp.Or(s.device, "cuda"), "auto"} {
			if s.device != "" && device == "auto" {
				continue
			}
			ask := func() (Record, error) { return b.ask(s, device, cmp.Or(s.library, found.Path)) }
			if err := b.measure(ask, s.name, device); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask runs a probe. ok is 1 if its answer is as expected.
func (b *bench) ask(s surroundings, device, library string) (Record, error) {
	if s.skip != "" {
		return Record{Text: "not run: " + s.skip}, nil
	}
	exe, err := os.Executable()
	if err != nil {
		return Record{}, err
	}
	ctx, stop := context.WithTimeout(b.ctx, time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, exe, "-part", probePart, "-device", device, "-ort-lib", library)
	cmd.Env = append(append(os.Environ(), childMark+"=1"), s.env...)
	out, err := cmd.Output()
	if err != nil {
		if code := new(exec.ExitError); errors.As(err, &code) {
			err = fmt.Errorf("%w: %s", err, oneLine(string(code.Stderr)))
		}
		return Record{}, err
	}
	var a answer
	if err := json.Unmarshal(out, &a); err != nil {
		return Record{}, err
	}
	ok := 0.0
	switch {
	case s.works && a.Error == "" && a.Device != "cpu":
		ok = 1
	case s.must:
	case device == "auto":
		if a.Error == "" && a.Device == "cpu" && a.Fallback != "" {
			ok = 1
		}
	case a.Error != "" && a.Hint != "":
		ok = 1
	}
	text := "computes on " + a.Device
	switch {
	case a.Error != "":
		text = a.Error + " → " + a.Hint
	case a.Fallback != "":
		text = a.Fallback
	}
	return Record{Text: oneLine(strings.ReplaceAll(text, filepath.Dir(library), "…")),
		Values: map[string]float64{"ok": ok}}, nil
}

// copyInto copies a file to a new folder and returns its path there.
func copyInto(dir, file, name string) (string, error) {
	in, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer in.Close()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	out, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, in)
	return out.Name(), errors.Join(err, out.Close())
}
