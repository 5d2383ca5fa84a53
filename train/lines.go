package train

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
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
	sum  lineSum
}

// lineSum is the length of a file of lines and the CRC-32C of its bytes.
type lineSum struct {
	Bytes int64  `json:"bytes"`
	CRC   uint32 `json:"crc32c"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// add returns the sum of a file to which text is appended.
func (s lineSum) add(text []byte) lineSum {
	return lineSum{s.Bytes + int64(len(text)), crc32.Update(s.CRC, castagnoli, text)}
}

// check compares the beginning of a file with its sum.
func (s lineSum) check(path string) error {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if int64(len(data)) < s.Bytes {
		return fmt.Errorf("%d bytes, expected at least %d as %s says", len(data), s.Bytes, CheckpointFile)
	}
	if found := (lineSum{}).add(data[:s.Bytes]); found != s {
		return fmt.Errorf("has changed since it was written: its checksum is %08x, %s says %08x", found.CRC,
			CheckpointFile, s.CRC)
	}
	return nil
}

func newLineFile(name string, f *os.File) *lineFile {
	return &lineFile{name: name, file: f, w: bufio.NewWriter(f)}
}

// openLines opens a file in dir for appending. It removes the lines that keep rejects, which were written after
// the state that the run continues from. A line that keep cannot read is an error and changes nothing.
func openLines(dir, name string, keep func(line []byte) (bool, error)) (*lineFile, error) {
	path := filepath.Join(dir, name)
	sum, err := cutLines(path, name, keep)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("train: %s: %w", name, err)
	}
	l := newLineFile(name, f)
	l.sum = sum
	return l, nil
}

// cutLines also removes an incomplete last line. It returns the sum of what stays.
func cutLines(path, name string, keep func(line []byte) (bool, error)) (sum lineSum, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return sum, nil
	}
	if err != nil {
		return sum, fmt.Errorf("train: %s: %w", name, err)
	}
	var kept bytes.Buffer
	for number := 1; len(data) > 0; number++ {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			break
		}
		stays, err := keep(data[:end])
		if err != nil {
			return sum, fmt.Errorf("train: %s:%d: %w", path, number, err)
		}
		if stays {
			kept.Write(data[:end+1])
		}
		data = data[end+1:]
	}
	sum = sum.add(kept.Bytes())
	err = atomicfile.Write(path, func(w io.Writer) error { _, err := kept.WriteTo(w); return err })
	if err != nil {
		return sum, fmt.Errorf("train: %s: %w", name, err)
	}
	return sum, nil
}

// put writes one line.
func (l *lineFile) put(step int, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("train: %s: step %d: %w", l.name, step, err)
	}
	text = append(text, '\n')
	l.w.Write(text) // the writer stores the error and Flush returns it
	if err := l.w.Flush(); err != nil {
		return fmt.Errorf("train: %s: step %d: %w", l.name, step, err)
	}
	l.sum = l.sum.add(text)
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
