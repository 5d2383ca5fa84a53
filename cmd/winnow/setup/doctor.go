// Package setup implements the commands that prepare a machine. "winnow doctor" checks winnow's requirements and prints
// the commands that install missing parts; "winnow runtime" installs ONNX Runtime.
package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/backbone/ort"
	"winnow/cmd/winnow/term"
	"winnow/internal/hint"
	"winnow/internal/ortlib"
)

// Doctor returns the "winnow doctor" command.
func Doctor() *cli.Command {
	asJSON := false
	return &cli.Command{
		Name:  "doctor",
		Usage: "check this machine, and print the commands that install missing parts",
		Description: "Exit code 0 means that networks run on this machine's CPU. Other missing parts are listed\n" +
			"with the commands that install them.",
		Flags: []cli.Flag{term.Flag(&asJSON, "json", "print the result as JSON")},
		Action: term.BoundAction(&asJSON, func(c *cli.Context, _ *bool) error {
			return term.NoArguments(c)
		}, runDoctor),
	}
}

// diagnosis is the result of all checks.
type diagnosis struct {
	Winnow  string  `json:"winnow"`
	System  string  `json:"system"` // operating system/architecture
	Threads int     `json:"threads"`
	OK      bool    `json:"ok"` // networks run on the CPU
	Checks  []check `json:"checks"`
}

// check is the result of one check.
type check struct {
	Name     string `json:"name"`
	OK       bool   `json:"ok"`
	Required bool   `json:"required"` // required to run networks on the CPU
	Found    string `json:"found"`
	Fix      string `json:"fix,omitempty"` // a command that fixes the problem
}

func runDoctor(_ context.Context, p *term.Program, asJSON bool) (err error) {
	d := diagnosis{Winnow: term.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, OK: true,
		Threads: runtime.GOMAXPROCS(0), Checks: checkRuntime(p)}
	fix := ""
	for _, c := range d.Checks {
		if c.Required && !c.OK && d.OK {
			d.OK, fix = false, c.Fix
		}
	}
	if asJSON {
		err = p.JSON(d)
	} else {
		d.writeChecks(p.Out)
	}
	if err == nil && !d.OK {
		err = hint.With(errors.New("doctor: the main job cannot run"), "%s", fix)
	}
	return err
}

// checkRuntime loads ONNX Runtime and multiplies matrices on the CPU and on a GPU: that of --device, or the first.
func checkRuntime(p *term.Program) []check {
	library := check{Name: "onnx runtime", Required: true}
	found, err := p.FindLibrary()
	var rt *ort.Runtime
	if err == nil {
		cfg := p.Compute
		cfg.Library, cfg.Device = found.Path, "cpu"
		rt, err = ort.Load(cfg)
	}
	if err != nil {
		library.Found, library.Fix = err.Error(), p.LibraryHint(err)
		return []check{library}
	}
	library.OK = true
	library.Found = fmt.Sprintf("%s at %s (%s), %s", rt.Version(), found.Path, found.Source,
		strings.Join(rt.Providers(), ", "))
	cpu := check{Name: "cpu", Required: true, OK: true, Found: "a matrix product ran"}
	if err := rt.Check(); err != nil {
		cpu.OK, cpu.Found, cpu.Fix = false, err.Error(), ortlib.InstallHint+" --overwrite"
	}
	list := []check{library, cpu}
	if device, _ := ort.ParseDevice(p.Compute.Device); cpu.OK { // an invalid --device was already refused
		list = append(list, checkCUDA(rt, device))
	}
	return list
}

// checkCUDA checks whether networks run on a GPU and, if not, lists the missing libraries.
func checkCUDA(rt *ort.Runtime, device ort.Device) check {
	c := check{Name: fmt.Sprintf("cuda:%d", device.Index)}
	var missing []string
	for _, m := range rt.MissingCUDA() {
		missing = append(missing, m.Name)
	}
	if len(missing) > 0 {
		c.Found = "missing: " + strings.Join(missing, ", ")
		c.Fix = ortlib.InstallHint + " --cuda; install NVIDIA's driver, the CUDA 13 libraries and cuDNN 9, " +
			"and add their folder to LD_LIBRARY_PATH"
	} else if err := rt.CheckCUDA(device.Index); err != nil {
		c.Found, c.Fix = err.Error(), ort.GPUHint(err, "check that nvidia-smi lists a device")
	} else {
		c.OK, c.Found = true, "a matrix product ran"
	}
	return c
}

// writeChecks prints the diagnosis as text.
func (d diagnosis) writeChecks(w io.Writer) {
	fmt.Fprintf(w, "winnow %s, %s, %d threads\n", d.Winnow, d.System, d.Threads)
	for _, c := range d.Checks {
		mark := "ok     "
		switch {
		case !c.OK && c.Required:
			mark = "MISSING"
		case !c.OK:
			mark = "-      "
		}
		fmt.Fprintf(w, "%s  %-13s %s\n", mark, c.Name, c.Found)
		if c.Fix != "" {
			fmt.Fprintf(w, "%24s %s\n", "→", c.Fix)
		}
	}
	fmt.Fprintln(w, map[bool]string{true: "the main job can run", false: "the main job cannot run"}[d.OK])
}
