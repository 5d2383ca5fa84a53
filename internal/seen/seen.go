// Package seen checks, by size and modification time, whether an image's file is unchanged since its vector was
// computed. A replaced file of the same size and time goes unnoticed. The package imports no other package of winnow.
package seen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Unknown is the line for an image without a known file: in an object store, or in an array of images.
const Unknown = "-"

// State describes what happened to an image's file since its vector was computed.
type State string

// The states of an image's file.
const (
	Same    State = ""        // unchanged, or unknown
	Changed State = "changed" // the size or the time differs
	Gone    State = "gone"
)

// Line returns the size and modification time of a file as a line.
func Line(info fs.FileInfo) string {
	return fmt.Sprintf("%d %s", info.Size(), info.ModTime().UTC().Format(time.RFC3339Nano))
}

// Stamp returns the line for an image's file below a base; for an image in a .zip file, it is the line of the .zip
// file. It returns Unknown if there is no file with this name.
func Stamp(base, path string) (string, error) {
	file := filepath.FromSlash(path)
	if !filepath.IsAbs(file) {
		file = filepath.Join(base, file)
	}
	for {
		info, err := os.Stat(file)
		switch {
		case err == nil && !info.Mode().IsRegular():
			return Unknown, nil
		case err == nil:
			return Line(info), nil
		case !errors.Is(err, syscall.ENOTDIR): // part of the path is a file
			return Unknown, err
		}
		file = filepath.Dir(file)
	}
}

// Compare compares an image's file below a base with a line of its size and time. It returns Same if the file exists
// but cannot be examined, and if the line has another format.
func Compare(base, path, line string) State {
	if size, at, _ := strings.Cut(line, " "); size == "" || !strings.HasSuffix(at, "Z") {
		return Same
	}
	now, err := Stamp(base, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Gone
	case err != nil || now == line:
		return Same
	}
	return Changed
}

// Tally counts images whose files are missing or have changed since their vectors were computed.
type Tally struct {
	First string // path of the first such image
	all   map[string]bool
}

// Add counts an image unless it was counted before.
func (t *Tally) Add(path string, state State) {
	if state == Same {
		return
	}
	if t.First == "" {
		t.First, t.all = path, map[string]bool{}
	}
	t.all[path] = true
}

// Words describes how many images have changed or are missing; "" if none.
func (t *Tally) Words() string {
	switch len(t.all) {
	case 0:
		return ""
	case 1:
		return "1 image has changed or is missing"
	}
	return fmt.Sprintf("%d images have changed or are missing", len(t.all))
}
