// Package seen checks whether an image's file is the one that a vector was made from, by its size and time. It does not
// notice a replaced file of the same size and time. It imports no other package of winnow.
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

// Unknown is the line of an image whose file is not known: one of an object store, or of an array of pictures.
const Unknown = "-"

// State says what became of an image's file since its vector was made.
type State string

// The states of an image's file.
const (
	Same    State = ""        // or nothing is known of it
	Changed State = "changed" // its size or its time differs
	Gone    State = "gone"
)

// Line returns the size and the time of a file.
func Line(info fs.FileInfo) string {
	return fmt.Sprintf("%d %s", info.Size(), info.ModTime().UTC().Format(time.RFC3339Nano))
}

// Stamp returns the line of an image's file below a base; for an image in a .zip file that of the .zip file. It returns
// Unknown if there is no file of this name.
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

// Compare compares the file of an image below a base with a line of its size and time. What cannot be looked at for
// another reason than that it does not exist counts as the same, and so does a line of another form.
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

// Tally counts images whose files are gone or changed since their vectors were made.
type Tally struct {
	First string // of them
	all   map[string]bool
}

// Add counts an image, once.
func (t *Tally) Add(path string, state State) {
	if state == Same {
		return
	}
	if t.First == "" {
		t.First, t.all = path, map[string]bool{}
	}
	t.all[path] = true
}

// Words says how many images changed or are gone, "" if none.
func (t *Tally) Words() string {
	switch len(t.all) {
	case 0:
		return ""
	case 1:
		return "1 image changed or is gone"
	}
	return fmt.Sprintf("%d images changed or are gone", len(t.all))
}
