// Package diagnosis checks what winnow needs on this machine, and names the command that provides what is
// missing.
package diagnosis

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"winnow/backbone/ort"
	"winnow/internal/ortlib"
	"winnow/run/config"
)

// Diagnosis is the result of all checks.
type Diagnosis struct {
	Winnow  string  `json:"winnow"`
	Go      string  `json:"go"`
	System  string  `json:"system"` // OS/processor
	Cores   int     `json:"cores"`
	Threads int     `json:"threads"` // threads that winnow would use
	OK      bool    `json:"ok"`      // the main job can run
	Checks  []Check `json:"checks"`

	Runtime *Library `json:"runtime"` // null: none was found
}

// Check is the result for one thing.
type Check struct {
	Name     string   `json:"name"`
	OK       bool     `json:"ok"`
	Required bool     `json:"required"` // the main job needs it
	Found    string   `json:"found"`
	Missing  []string `json:"missing,omitempty"`
	Fix      string   `json:"fix,omitempty"` // the command that fixes it
}

// Library is the ONNX Runtime in use and where it was found.
type Library struct {
	Path      string   `json:"path"`
	Source    string   `json:"source"`
	Version   string   `json:"version"`
	Providers []string `json:"providers"`
}

// Options say what to check.
type Options struct {
	Winnow      string // winnow's version
	Compute     ort.Config
	Find        func() (ortlib.Found, error)
	LibraryHint func(error) string // what to do if the library is missing or does not load because of this error
}

// Make checks everything that winnow needs on a machine. It returns an error only for an impossible device.
func Make(o Options) (*Diagnosis, error) {
	d := &Diagnosis{
		Winnow: o.Winnow, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Cores: runtime.NumCPU(), Threads: o.Compute.Threads,
	}
	d.Threads = cmp.Or(d.Threads, runtime.GOMAXPROCS(0))
	asked, err := ort.ParseDevice(o.Compute.Device)
	if err != nil {
		return nil, err
	}
	rt := d.checkLibrary(o)
	if rt != nil {
		d.addCheck(Check{Name: "products", OK: true, Found: ort.Doctor().String()})
	}
	d.checkCUDA(rt, asked)
	d.addCheck(Check{Name: "cuda options", OK: true, Found: gpuText(o.Compute.GPU)})
	d.checkNPM()
	d.checkCache()
	d.OK = true
	for _, check := range d.Checks {
		d.OK = d.OK && (check.OK || !check.Required)
	}
	return d, nil
}

// Missing returns the first failed check that the main job needs, or nil if it can run.
func (d *Diagnosis) Missing() *Check {
	for i, c := range d.Checks {
		if c.Required && !c.OK {
			return &d.Checks[i]
		}
	}
	return nil
}

func (d *Diagnosis) addCheck(c Check) { d.Checks = append(d.Checks, c) }

// checkLibrary finds and loads ONNX Runtime and multiplies with it. It returns nil if that fails.
func (d *Diagnosis) checkLibrary(o Options) *ort.Runtime {
	look := Check{Name: "onnx runtime", Required: true}
	found, err := o.Find()
	var rt *ort.Runtime
	if err == nil {
		cfg := o.Compute
		cfg.Library, cfg.Device = found.Path, "cpu"
		rt, err = ort.Load(cfg)
	}
	if err != nil {
		look.Found, look.Fix = err.Error(), o.LibraryHint(err)
		d.addCheck(look)
		return nil
	}
	d.Runtime = &Library{found.Path, found.Source, rt.Version(), rt.Providers()}
	look.OK, look.Found = true, fmt.Sprintf("%s at %s (%s)", rt.Version(), found.Path, found.Source)
	if rt.WithoutKernels() != "" {
		look.Found += ", which does not accept winnow's own operators: training networks is slower"
	}
	d.addCheck(look)

	run := Check{Name: "cpu", Required: true, OK: true, Found: "a matrix product ran"}
	if err := rt.Check(); err != nil {
		run.OK, run.Found, run.Fix = false, err.Error(), ortlib.InstallHint+" --overwrite"
	}
	d.addCheck(run)
	if !run.OK {
		return nil
	}
	return rt
}

// checkCUDA checks whether networks can run on a GPU and, if not, lists the missing libraries.
func (d *Diagnosis) checkCUDA(rt *ort.Runtime, device ort.Device) {
	look := Check{Name: "cuda"}
	if rt == nil {
		look.Found, look.Fix = "not checked without ONNX Runtime", ortlib.InstallHint
		d.addCheck(look)
		return
	}
	for _, m := range rt.MissingCUDA() {
		look.Missing = append(look.Missing, m.Name)
	}
	if len(look.Missing) > 0 {
		look.Found = "not there: " + strings.Join(look.Missing, ", ")
		look.Fix = cudaFix(look.Missing)
	} else if err := rt.CheckCUDA(device.Index); err != nil {
		look.Found, look.Fix = err.Error(), ort.GPUHint(err, "check that nvidia-smi lists a device")
	} else {
		look.OK, look.Found = true, fmt.Sprintf("a matrix product ran on device %d", device.Index)
	}
	look.Found += "; " + ort.CUDAState
	d.addCheck(look)
}

// cudaFix says how to get the missing libraries: ONNX Runtime's own through winnow, the others from NVIDIA.
func cudaFix(missing []string) string {
	var fixes []string
	ours, driver, toolkit := false, false, false
	for _, name := range missing {
		switch {
		case strings.HasPrefix(name, "libonnxruntime_providers_"):
			ours = true
		case strings.HasPrefix(name, "libcuda.so"):
			driver = true
		case strings.HasPrefix(name, "lib"):
			toolkit = true
		default:
			return "this ONNX Runtime was built without CUDA; " + ortlib.InstallHint + " --overwrite --cuda"
		}
	}
	if ours {
		fixes = append(fixes, ortlib.InstallHint+" --cuda")
	}
	if driver {
		fixes = append(fixes, "install NVIDIA's driver (only needed for --device cuda)")
	}
	if toolkit {
		fixes = append(fixes, "install the CUDA 13 libraries and cuDNN 9, and name their folder in LD_LIBRARY_PATH")
	}
	return strings.Join(fixes, "; ")
}

// checkNPM checks the npm client, which is only needed to install.
func (d *Diagnosis) checkNPM() {
	path, err := ortlib.NPM()
	if err != nil {
		d.addCheck(Check{
			Name: "npm", Found: "not there",
			Fix: "install Node.js with npm, or run: winnow runtime install --from ARCHIVE",
		})
		return
	}
	d.addCheck(Check{Name: "npm", OK: true, Found: path})
}

// tightDisk is the free space below which a warning is given: the runtime with its download takes 160 MB, and
// the features of 60,000 images 0.5 GB.
const tightDisk = 1 << 30

// checkCache checks that the folder for installs is writable and has space.
func (d *Diagnosis) checkCache() {
	look := Check{Name: "cache folder"}
	folder, err := ortlib.CacheFolder()
	if err == nil {
		err = tryWriting(folder)
	}
	if err != nil {
		look.Found, look.Fix = err.Error(), "set XDG_CACHE_HOME to a writable folder"
		d.addCheck(look)
		return
	}
	look.OK, look.Found = true, folder
	d.addCheck(look)
	if free, ok := FreeDisk(nearestFolder(folder)); ok {
		disk := Check{Name: "free disk", OK: free >= tightDisk, Found: fmt.Sprintf("%.1f GB", float64(free)/1e9)}
		if !disk.OK {
			disk.Fix = "free some space: 1 GB is comfortable"
		}
		d.addCheck(disk)
	}
}

// tryWriting creates and removes a file in the folder, or in its nearest existing parent.
func tryWriting(folder string) error {
	f, err := os.CreateTemp(nearestFolder(folder), ".winnow-doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// nearestFolder returns the folder, or its nearest existing parent.
func nearestFolder(folder string) string {
	for {
		if info, err := os.Stat(folder); err == nil && info.IsDir() || filepath.Dir(folder) == folder {
			return folder
		}
		folder = filepath.Dir(folder)
	}
}

// Write prints the diagnosis as text.
func (d *Diagnosis) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "winnow %s, %s, %s, %d cores, %d threads\n", d.Winnow, d.Go, d.System, d.Cores, d.Threads)
	for _, c := range d.Checks {
		mark := "ok     "
		switch {
		case !c.OK && c.Required:
			mark = "MISSING"
		case !c.OK:
			mark = "-      "
		}
		fmt.Fprintf(&b, "%s  %-13s %s\n", mark, c.Name, c.Found)
		if c.Fix != "" {
			fmt.Fprintf(&b, "%24s %s\n", "→", c.Fix)
		}
		if c.Name == "onnx runtime" && d.Runtime != nil {
			fmt.Fprintf(&b, "         %-13s %s\n", "providers", strings.Join(d.Runtime.Providers, ", "))
		}
	}
	if d.OK {
		b.WriteString("the main job can run\n")
	} else {
		b.WriteString("the main job cannot run\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// gpuText says how a GPU would compute.
func gpuText(g ort.GPU) string {
	memory, tf32 := "memory without limit", "off"
	if g.Memory > 0 {
		memory = "at most " + config.Bytes(g.Memory).Approx() + " of memory a network"
	}
	if g.TF32 {
		tf32 = "on"
	}
	return fmt.Sprintf("%s, TF32 %s", memory, tf32)
}
