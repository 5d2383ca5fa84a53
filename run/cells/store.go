// Package cells runs many trainings of a study or a sweep, several at once. It keeps each outcome when it is done, so
// that a stopped program can continue. The caller defines cells and outcomes.
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
	"winnow/internal/regular"
	"winnow/internal/text"
)

// Store is a folder with one JSON file for the outcome of each cell. Files are written completely or not at all, so
// that a killed program loses only the cells that were running.
type Store[O any] struct {
	Dir   string
	For   string       // the command, which errors begin with
	Whole func(O) bool // reports whether an outcome is complete
}

func (s Store[O]) path(key string) string { return filepath.Join(s.Dir, key+".json") }

// errDamaged is the error of Get for a file without an outcome. The cell can be run again, and Put replaces the file.
var errDamaged = errors.New("holds no outcome of a cell")

// Get returns the outcome under a key, if there is one.
func (s Store[O]) Get(key string) (O, bool, error) {
	var o, none O
	text, err := regular.ReadFile(s.path(key), regular.Most)
	if errors.Is(err, fs.ErrNotExist) {
		return o, false, nil
	}
	if err != nil {
		return o, false, fmt.Errorf("%s: %w", s.For, err)
	}
	if json.Unmarshal(text, &o) != nil || !s.Whole(o) {
		return none, false, fmt.Errorf("%s: %s: %w", s.For, s.path(key), errDamaged)
	}
	return o, true, nil
}

// Prepare makes the folder and checks that files can be written there, before hours are spent on a cell.
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

// Hold makes a folder and locks it, because two programs would run the same cells and overwrite each other's tables.
// Errors begin with the command.
func Hold(dir, command string) (io.Closer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	held, err := lock.Folder(dir)
	if err != nil {
		return nil, hint.With(fmt.Errorf("%s: %w", command, err),
			"wait for it: cells that are done are kept; or choose another folder")
	}
	return held, nil
}
