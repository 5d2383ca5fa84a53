package search

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"winnow/datasets/location"
	"winnow/internal/seen"
)

// seenLine returns the line of seen.txt for an image: the size, the time and the base folder of its file.
func (x *Extension) seenLine(path string) string {
	if x.Base == nil || strings.Contains(path, "://") {
		return seen.Unknown
	}
	base, err := x.Base(path).Absolute()
	if err != nil || base.IsZero() || base.IsRemote() || strings.Contains(base.Path(), "\n") {
		return seen.Unknown
	}
	line, err := seen.Stamp(base.Path(), path)
	if err != nil || line == seen.Unknown {
		return seen.Unknown
	}
	return line + " " + base.Path()
}

// Files compares the files of images with the recorded files from which the vectors were made.
type Files struct {
	ix    *Index
	lines []string
	here  map[string]bool // bases that exist
}

// Files reads the recorded sizes, times and base folders of the images' files.
func (ix *Index) Files() (*Files, error) {
	data, err := ix.readPart(seenFile, ix.Seen, ix.SeenSum)
	if err != nil {
		return nil, err
	}
	f := &Files{ix: ix, lines: slices.Collect(strings.Lines(string(data))), here: map[string]bool{}}
	if len(f.lines) != ix.Rows {
		return nil, fmt.Errorf("search: %s: %d lines, expected %d", filepath.Join(ix.Dir, seenFile), len(f.lines),
			ix.Rows)
	}
	return f, nil
}

// State reports whether the file of a row has changed; the state is unknown if its base folder does not exist.
func (f *Files) State(row int) seen.State {
	base, line := f.seenRow(row)
	if _, known := f.here[base]; !known {
		_, err := os.Stat(base)
		f.here[base] = err == nil
	}
	if !f.here[base] {
		return seen.Same
	}
	return seen.Compare(base, f.ix.Paths[row], line)
}

// At compares the recorded file of a row with the file under another base, a file or a folder.
func (f *Files) At(row int, base location.Source) seen.State {
	if base.IsZero() {
		return seen.Same
	}
	_, line := f.seenRow(row)
	return seen.Compare(base.Path(), f.ix.Paths[row], line)
}

// seenRow returns the base of a row's file, and the line with its size and time.
func (f *Files) seenRow(row int) (base, line string) {
	parts := strings.SplitN(strings.TrimSuffix(f.lines[row], "\n"), " ", 3)
	if len(parts) < 3 {
		return "", seen.Unknown
	}
	return parts[2], parts[0] + " " + parts[1]
}
