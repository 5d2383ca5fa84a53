package train

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"winnow/internal/atomicfile"
)

// lineFile is a file of a run's folder with one JSON value per line, in order of steps.
type lineFile struct {
	name string
	file *os.File
	w    *bufio.Writer
}

func newLineFile(name string, f *os.File) *lineFile { return &lineFile{name, f, bufio.NewWriter(f)} }

// openLines opens a file in dir for appending. It removes the lines that keep rejects, which were written after
// the state that the run continues from. A line that keep cannot read is an error and changes nothing.
func openLines(dir, name string, keep func(line []byte) (bool, error)) (*lineFile, error) {
	path := filepath.Join(dir, name)
	if err := cutLines(path, name, keep); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("train: %s: %w", name, err)
	}
	return newLineFile(name, f), nil
}

// cutLines also removes an incomplete last line.
func cutLines(path, name string, keep func(line []byte) (bool, error)) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("train: %s: %w", name, err)
	}
	var kept bytes.Buffer
	for number := 1; len(data) > 0; number++ {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			break
		}
		stays, err := keep(data[:end])
		if err != nil {
			return fmt.Errorf("train: %s:%d: %w", path, number, err)
		}
		if stays {
			kept.Write(data[:end+1])
		}
		data = data[end+1:]
	}
	err = atomicfile.Write(path, func(w io.Writer) error { _, err := kept.WriteTo(w); return err })
	if err != nil {
		return fmt.Errorf("train: %s: %w", name, err)
	}
	return nil
}

// put writes one line.
func (l *lineFile) put(step int, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("train: %s: step %d: %w", l.name, step, err)
	}
	l.w.Write(append(text, '\n')) // the writer stores the error and Flush returns it
	if err := l.w.Flush(); err != nil {
		return fmt.Errorf("train: %s: step %d: %w", l.name, step, err)
	}
	return nil
}

// sync flushes the lines to disk: a checkpoint must not be newer than they are.
func (l *lineFile) sync() error {
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("train: %s: %w", l.name, err)
	}
	return nil
}

func (l *lineFile) close() error { return l.file.Close() }

// readLines reads a file in dir written by a lineFile, and returns nothing if there is no such file. It ignores
// an incomplete last line, left by a killed run. what names the lines in an error.
func readLines[T any](dir, name, what string) ([]T, error) {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("train: %s: %w", name, err)
	}
	var list []T
	for number := 1; ; number++ {
		text, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			return list, nil
		}
		var v T
		if err := json.Unmarshal(text, &v); err != nil {
			return nil, fmt.Errorf("train: %s:%d: not a line of %s: %w", filepath.Join(dir, name), number, what, err)
		}
		list, data = append(list, v), rest
	}
}
