// Package cells runs many trainings, of a study or of a sweep: several at once, each kept when it is done, so that a program
// that was stopped goes on where it was. What a cell is, and what comes of it, is the caller's.
package cells

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/lock"
	"winnow/internal/text"
)

// Store is a folder with one file a cell, what came of it as JSON. A file is there whole or not at all, so that a killed
// program loses the cells that were running and no others.
type Store[O any] struct {
	Dir   string
	For   string       // the command, which errors begin with
	Whole func(O) bool // reports whether what was read can be all that came of a cell
}

func (s Store[O]) path(key string) string { return filepath.Join(s.Dir, key+".json") }

// ErrDamaged is what Get answers of a file that holds no outcome: the cell can be run again, and Put replaces it.
var ErrDamaged = errors.New("holds no outcome of a cell")

// Get returns the outcome under a key, if there is one.
func (s Store[O]) Get(key string) (O, bool, error) {
	var o, none O
	text, err := os.ReadFile(s.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return o, false, nil
	}
	if err != nil {
		return o, false, fmt.Errorf("%s: %w", s.For, err)
	}
	if json.Unmarshal(text, &o) != nil || !s.Whole(o) {
		return none, false, fmt.Errorf("%s: %s: %w", s.For, s.path(key), ErrDamaged)
	}
	return o, true, nil
}

// Prepare makes the folder and tries that files can be written there, before hours are spent on a cell.
func (s Store[O]) Prepare() error {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return fmt.Errorf("%s: %w", s.For, err)
	}
	f, err := os.CreateTemp(s.Dir, ".probe-*")
	if err != nil {
		return fmt.Errorf("%s: %w", s.For, err)
	}
	f.Close()
	return os.Remove(f.Name())
}

// Put keeps an outcome.
func (s Store[O]) Put(key string, o O) error {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return fmt.Errorf("%s: %w", s.For, err)
	}
	return atomicfile.Write(s.path(key), func(w io.Writer) error { return text.JSON(w, o) })
}

// Hold makes a folder and holds it: two programs would run the same cells, and write over each other's tables. Errors begin
// with the command that it is for.
func Hold(dir, command string) (io.Closer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	held, err := lock.Folder(dir)
	if err != nil {
		return nil, hint.With(fmt.Errorf("%s: %w", command, err), "wait for it: cells that are done are kept; or choose another --out")
	}
	return held, nil
}
