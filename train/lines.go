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
	"winnow/internal/regular"
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

// sumAppended returns the sum of a file to which text is appended.
func (s lineSum) sumAppended(text []byte) lineSum {
	return lineSum{s.Bytes + int64(len(text)), crc32.Update(s.CRC, castagnoli, text)}
}

// checkLinePrefix compares the beginning of a file with its sum.
func (s lineSum) checkLinePrefix(path string) error {
	data, err := regular.ReadFile(path, regular.Most)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if int64(len(data)) < s.Bytes {
		return fmt.Errorf("%d bytes, expected at least %d as %s says", len(data), s.Bytes, CheckpointFile)
	}
	if found := (lineSum{}).sumAppended(data[:s.Bytes]); found != s {
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
	f, err := regular.OpenOwn(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("train: %s: %w", name, err)
	}
	l := newLineFile(name, f)
	l.sum = sum
	return l, nil
}

// cutLines also removes an incomplete last line. It returns the sum of what stays.
func cutLines(path, name string, keep func(line []byte) (bool, error)) (sum lineSum, err error) {
	data, err := regular.ReadFile(path, regular.Most)
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
	sum = sum.sumAppended(kept.Bytes())
	err = atomicfile.Write(path, func(w io.Writer) error { _, err := kept.WriteTo(w); return err })
	if err != nil {
		return sum, fmt.Errorf("train: %s: %w", name, err)
	}
	return sum, nil
}

// putLine writes one line.
func (l *lineFile) putLine(step int, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("train: %s: step %d: %w", l.name, step, err)
	}
	text = append(text, '\n')
	l.w.Write(text) // the writer stores the error and Flush returns it
	if err := l.w.Flush(); err != nil {
		return fmt.Errorf("train: %s: step %d: %w", l.name, step, err)
	}
	l.sum = l.sum.sumAppended(text)
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

// ReadMetrics returns the metrics of the run in dir in the order written, or none if there are none.
func ReadMetrics(dir string) ([]Metric, error) { return readLines[Metric](dir, MetricsFile) }

// ReadDiagnostics returns the diagnostics of the run in dir, or none if the run had no filter or did not
// diagnose it.
func ReadDiagnostics(dir string) ([]Diagnosis, error) {
	return readLines[Diagnosis](dir, DiagnosticsFile)
}

// readLines reads a file of JSON lines, if there is one. It ignores an incomplete last line, left by a killed run.
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
