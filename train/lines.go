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

// openLines opens a file in dir for appending. It removes an incomplete last line and the lines that keep rejects:
// they were written after the state from which the run continues. If keep fails to read a line, openLines returns an
// error and leaves the file unchanged.
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

// syncLines flushes the lines to disk, so that they are never older than a checkpoint.
func (l *lineFile) syncLines() error {
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("train: %s: %w", l.name, err)
	}
	return nil
}

func (l *lineFile) closeLines() error { return l.file.Close() }

// ReadMetrics returns the metrics of the run in dir in the order in which they were written, or nil without a file.
func ReadMetrics(dir string) ([]Metric, error) { return readLines[Metric](dir, MetricsFile) }

// ReadDiagnostics returns the diagnostics of the run in dir, or nil if the run had no filter or did not diagnose it.
func ReadDiagnostics(dir string) ([]Diagnosis, error) {
	return readLines[Diagnosis](dir, DiagnosticsFile)
}

// readLines reads a file of JSON lines, or returns nil if it is missing. It ignores an incomplete last line, which a
// killed run can leave behind.
func readLines[T any](dir, name string) (list []T, err error) {
	f, err := regular.Open(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			return nil, fmt.Errorf("train: %s:%d: %w", filepath.Join(dir, name), len(list)+1, err)
		}
		list = append(list, v)
	}
	return list, nil
}
