package rules

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"winnow/internal/testing/reference"
)

// plain lists the rooms that can be used by a program without ONNX Runtime and without a C compiler.
var plain = []string{
	"audit/...", "losses/...", "filters/...", "eval/...", "features", "head", "train/...", "search", "datasets/...",
	"backbone/graph/...", "models/...",
}

// heavy lists packages that plain rooms must not link.
var heavy = []string{"winnow/backbone/ort", "github.com/yalue/onnxruntime_go", "modernc.org/sqlite"}

// Plain rooms link neither ONNX Runtime nor SQLite, and no package outside the standard library that uses cgo. Only the
// standard library's net and os/user still link runtime/cgo: they are imported by other modules (Parquet's uuid), by
// datasets/bucket for object stores, and by archive/tar, which looks up file owners. Without a C compiler, Go's own
// versions of net and os/user are used.
func TestPlainRoomsWithoutCgo(t *testing.T) {
	for _, fault := range cgoFaults(listed(t, plain...)) {
		t.Error(fault)
	}
}

// linked is a package linked into a program.
type linked struct {
	path     string
	standard bool
	cgo      bool // has files with import "C"
	imports  []string
}

// listed lists all packages linked by the rooms, each after the packages that it imports.
func listed(t *testing.T, rooms ...string) []linked {
	t.Helper()
	list := exec.Command("go", "list", "-deps",
		"-f", "{{.ImportPath}}|{{.Standard}}|{{len .CgoFiles}}|{{join .Imports \" \"}}")
	for _, room := range rooms {
		list.Args = append(list.Args, "winnow/"+room)
	}
	list.Dir = reference.Root(t)
	list.Env = append(os.Environ(), "CGO_ENABLED=1")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []linked
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		f := strings.Split(lines.Text(), "|")
		all = append(all, linked{f[0], f[1] == "true", f[2] != "0", strings.Fields(f[3])})
	}
	if len(all) == 0 {
		t.Fatalf("%s: no packages", rooms)
	}
	return all
}

func cgoFaults(all []linked) (faults []string) {
	cgo := map[string]bool{"runtime/cgo": true} // packages of the standard library that link runtime/cgo
	for _, p := range all {
		if slices.Contains(heavy, p.path) {
			faults = append(faults, p.path+" is linked")
		}
		if !p.standard && p.cgo {
			faults = append(faults, p.path+" is written with cgo")
		}
		for _, name := range p.imports {
			switch {
			case p.standard && (cgo[name] || name == "C"):
				cgo[p.path] = true
			case strings.HasPrefix(p.path, "winnow/") && cgo[name] && p.path != "winnow/datasets/bucket" &&
				!(p.path == "winnow/datasets/shards" && name == "archive/tar"):
				faults = append(faults, p.path+" imports "+name+", which links runtime/cgo")
			}
		}
	}
	return faults
}
