package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"winnow/internal/atomicfile"
	"winnow/internal/regular"
)

// lineFile is a file of a run's folder with one JSON value per line, in order of steps.
type lineFile struct {
	name string
	file *os.File
}

// openLines opens a file in dir for appending. It removes an incomplete last line and the lines that keep rejects,
// which were written after the state that the run continues from. A line that keep cannot read is an error and changes
// nothing.
func openLines(dir, name string, keep func(line []byte) (bool, error)) (*lineFile, error) {
	path := filepath.Join(dir, name)
	if err := cutLines(path, keep); err != nil {
		return nil, err
	}
	f, err := regular.OpenOwn(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("train: %s: %w", name, err)
	}
	return &lineFile{name, f}, nil
}

func cutLines(path string, keep func(line []byte) (bool, error)) error {
	data, err := regular.ReadFile(path, regular.Most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	var kept bytes.Buffer
	for number := 1; ; number++ {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			break
		}
		stays, err := keep(line)
		if err != nil {
			return fmt.Errorf("train: %s:%d: %w", path, number, err)
		}
		if stays {
			kept.Write(data[:len(line)+1])
		}
		data = rest
	}
	if err := atomicfile.Write(path, func(w io.Writer) error { _, err := kept.WriteTo(w); return err }); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	return nil
}

// putLine writes one line.
func (l *lineFile) putLine(step int, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("train: %s: step %d: %w", l.name, step, err)
	}
	if _, err := l.file.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("train: %s: step %d: %w", l.name, step, err)
	}
	return nil
}

// syncLines flushes the lines to disk: a checkpoint must not be newer than they are.
func (l *lineFile) syncLines() error {
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("train: %s: %w", l.name, err)
	}
	return nil
}

func (l *lineFile) closeLines() error { return l.file.Close() }

// Tail reads a file of lines while a training writes it. Each Read reads only what is new.
type Tail[T any] struct {
	path, what string
	file       os.FileInfo // that was read; nil: none yet
	at         int64       // bytes read of it, whole lines
	list       []T
}

// MetricsOf returns a Tail of the metrics of the run in dir.
func MetricsOf(dir string) *Tail[Metric] {
	return &Tail[Metric]{path: filepath.Join(dir, MetricsFile), what: "metrics"}
}

// DiagnosesOf returns a Tail of the diagnostics of the run in dir.
func DiagnosesOf(dir string) *Tail[Diagnosis] {
	return &Tail[Diagnosis]{path: filepath.Join(dir, DiagnosticsFile), what: "diagnostics"}
}

// Read returns all lines that the file has so far, none if there is no file. If it was replaced, it is read from its
// beginning. An incomplete last line waits for the next Read.
func (t *Tail[T]) Read() ([]T, error) {
	f, err := regular.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		t.file, t.at, t.list = nil, 0, nil
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	if t.file == nil || !os.SameFile(t.file, info) || info.Size() < t.at {
		t.at, t.list = 0, nil
	}
	t.file = info
	text, err := io.ReadAll(io.NewSectionReader(f, t.at, info.Size()-t.at))
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	for {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			return t.list, nil
		}
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			return nil, fmt.Errorf("train: %s:%d: not a line of %s: %w", t.path, len(t.list)+1, t.what, err)
		}
		t.list, text, t.at = append(t.list, v), rest, t.at+int64(len(line))+1
	}
}

// ReadMetrics returns the metrics of the run in dir in the order written, or none if there are none.
func ReadMetrics(dir string) ([]Metric, error) { return MetricsOf(dir).Read() }
