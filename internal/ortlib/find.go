// Package ortlib finds ONNX Runtime's shared library on this machine and installs it into the user's cache folder. It
// is pure Go and never loads the library, as backbone/ort does. It reads no environment variable of winnow: the user's
// choice is an argument.
package ortlib

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Version is the version of ONNX Runtime that winnow is tested with and that Install installs.
const Version = "1.29.0"

// Places where a library is found.
const (
	Given      = "given"
	Executable = "beside the executable"
	Cache      = "cache folder"
	System     = "system"
)

// Found is a library and the place where it was found.
type Found struct {
	Path   string // absolute
	Source string // Given, Executable, Cache or System
}

// systemFolders lists the folders of the system's loader.
var systemFolders = map[string][]string{
	"darwin": {"/opt/homebrew/lib", "/opt/homebrew/opt/onnxruntime/lib", "/usr/local/lib",
		"/usr/local/opt/onnxruntime/lib"},
	"linux": {"/usr/local/lib", "/usr/lib", "/usr/lib64", "/lib", "/usr/lib/x86_64-linux-gnu",
		"/usr/lib/aarch64-linux-gnu", "/opt/onnxruntime/lib"},
}

// search lists the places to search, in order. The first place that has the library is used; empty places are skipped.
type search struct {
	OS         string   // operating system of the wanted library, as in runtime.GOOS
	Given      string   // a library file or its folder; if set, no other place is searched
	Cache      string   // folder that Install writes to; searched first, because Install adds CUDA and repairs
	Executable string   // folder of the running program, links resolved; its lib/ is searched as well
	System     []string // folders of the system's loader
}

// notFound is the error if no library was found; it names every place searched.
type notFound struct {
	OS    string
	Tried []string
}

func (e *notFound) Error() string {
	return fmt.Sprintf("ortlib: ONNX Runtime: found no %s in %s", FileNames(e.OS)[0], strings.Join(e.Tried, ", "))
}

// Find searches for this machine's library. explicit is the path given by the user, or "".
func Find(explicit string) (Found, error) { return newLocalSearch(explicit).findLibrary() }

// newLocalSearch returns the search for this machine.
func newLocalSearch(explicit string) search {
	s := search{OS: runtime.GOOS, Given: explicit, System: systemFolders[runtime.GOOS]}
	if exe, err := os.Executable(); err == nil {
		if target, err := filepath.EvalSymlinks(exe); err == nil {
			exe = target
		}
		s.Executable = filepath.Dir(exe)
	}
	if dir, err := CacheFolder(); err == nil {
		s.Cache = dir
	}
	return s
}

// CacheFolder returns the folder into which Install puts the library of this version.
func CacheFolder() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("ortlib: cannot find the user's cache folder: %w", err)
	}
	return filepath.Join(dir, "winnow", "onnxruntime", Version), nil
}

// findLibrary returns the first library in the order of the fields. If a path is given, it searches only that path.
func (s search) findLibrary() (Found, error) {
	if s.Given != "" {
		return s.findGiven()
	}
	var tried []string
	for _, place := range s.listPlaces() {
		tried = append(tried, place.Path)
		if path, ok := libraryIn(s.OS, place.Path); ok {
			return makeAbsoluteLibrary(path, place.Source)
		}
	}
	return Found{}, &notFound{s.OS, tried}
}

// listPlaces lists the folders to search, with their names.
func (s search) listPlaces() []Found {
	var places []Found
	add := func(source string, folders ...string) {
		for _, f := range folders {
			places = append(places, Found{f, source})
		}
	}
	if s.Cache != "" {
		add(Cache, s.Cache)
	}
	if s.Executable != "" {
		add(Executable, s.Executable, filepath.Join(s.Executable, "lib"))
	}
	add(System, s.System...)
	return places
}

func (s search) findGiven() (Found, error) {
	info, err := os.Stat(s.Given)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Found{}, fmt.Errorf("ortlib: %s: no such file or folder, expected ONNX Runtime's library", s.Given)
	case err != nil:
		return Found{}, fmt.Errorf("ortlib: %w", err)
	case !info.IsDir():
		return makeAbsoluteLibrary(s.Given, Given)
	}
	if path, ok := libraryIn(s.OS, s.Given); ok {
		return makeAbsoluteLibrary(path, Given)
	}
	return Found{}, fmt.Errorf("ortlib: %s: is a folder without %s", s.Given, strings.Join(FileNames(s.OS), " or "))
}

func makeAbsoluteLibrary(path, source string) (Found, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return Found{}, fmt.Errorf("ortlib: %w", err)
	}
	return Found{Path: path, Source: source}, nil
}

// FileNames returns the library's possible file names, the most common first. A name may be a pattern.
func FileNames(goos string) []string {
	if goos == "darwin" {
		return []string{"libonnxruntime.1.dylib", "libonnxruntime.dylib", "libonnxruntime.1.*.dylib"}
	}
	return []string{"libonnxruntime.so.1", "libonnxruntime.so", "libonnxruntime.so.1.*"}
}

// libraryIn returns the library's file in a folder. If several files match a pattern, it returns the last by name.
func libraryIn(goos, folder string) (string, bool) {
	for _, name := range FileNames(goos) {
		matches, err := filepath.Glob(filepath.Join(escapePattern(folder), name))
		if err != nil {
			continue // only for a malformed pattern, which FileNames never returns
		}
		for i := len(matches) - 1; i >= 0; i-- {
			if info, err := os.Stat(matches[i]); err == nil && info.Mode().IsRegular() {
				return matches[i], true
			}
		}
	}
	return "", false
}

// escapePattern quotes the name of a folder so that it is not read as a pattern.
func escapePattern(folder string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(folder)
}
