package search

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"winnow/datasets/location"
)

// unseen is the line of an image whose file is not known: one of an object store, or of an array of pictures.
const unseen = "-"

// State says what became of an image's file since its vector was made.
type State string

// The states of an image's file.
const (
	Same    State = ""        // or nothing is known of it
	Changed State = "changed" // its size or its time differs
	Gone    State = "gone"
)

// stamp returns the size and the time of an image's file; for an image in a .zip file those of the .zip file. It
// returns unseen if there is no file of this name.
func stamp(file string) (string, error) {
	for {
		info, err := os.Stat(file)
		switch {
		case err == nil && !info.Mode().IsRegular():
			return unseen, nil
		case err == nil:
			return fmt.Sprintf("%d %s", info.Size(), info.ModTime().UTC().Format(time.RFC3339Nano)), nil
		case !errors.Is(err, syscall.ENOTDIR): // part of the path is a file
			return unseen, err
		}
		file = filepath.Dir(file)
	}
}

// under returns the file of an image below a base, which an absolute path does not need.
func under(base, path string) string {
	if file := filepath.FromSlash(path); filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(base, filepath.FromSlash(path))
}

// see returns the line of seen.txt for an image of the bases: the number of its base, size and time.
func (x *Extension) see(path string) string {
	if x.Base == nil {
		return unseen
	}
	base := x.Base(path)
	if base.IsZero() || base.IsRemote() || strings.Contains(path, "://") {
		return unseen
	}
	at, known := x.bases[base]
	if !known {
		place := location.PlaceOf(x.dir, base)
		at = slices.IndexFunc(x.info.Bases, func(p location.Place) bool { return p.Absolute == place.Absolute })
		if at < 0 {
			at, x.info.Bases = len(x.info.Bases), append(x.info.Bases, place)
		}
		x.bases[base] = at
	}
	line, _ := stamp(under(x.info.Bases[at].Absolute.Path(), path)) // without a file: unseen
	if line == unseen {
		return unseen
	}
	return strconv.Itoa(at) + " " + line
}

// Files compares the files of images with those that the vectors were made from.
type Files struct {
	ix    *Index
	lines []string
	bases []string // where they are now
}

// Files reads what the index knows of the files of its images.
func (ix *Index) Files() (*Files, error) {
	data, err := ix.readPart(seenFile, ix.Seen, ix.SeenSum)
	if err != nil {
		return nil, err
	}
	f := &Files{ix: ix, lines: slices.Collect(strings.Lines(string(data)))}
	if len(f.lines) != ix.Rows {
		return nil, fmt.Errorf("search: %s: %d lines, expected %d", filepath.Join(ix.Dir, seenFile), len(f.lines),
			ix.Rows)
	}
	for _, base := range ix.Bases {
		f.bases = append(f.bases, base.Find(ix.Dir, nil).Path())
	}
	return f, nil
}

// State says what became of the file of a row.
func (f *Files) State(row int) State {
	base, line := f.seen(row)
	if line == unseen {
		return Same
	}
	return f.compare(row, f.bases[base], line)
}

// At compares the file of a row with the one below another base, a file or a folder.
func (f *Files) At(row int, base location.Source) State {
	_, line := f.seen(row)
	if line == unseen || base.IsZero() {
		return Same
	}
	return f.compare(row, base.Path(), line)
}

// seen returns the number of a row's base, and size and time of its file, or unseen.
func (f *Files) seen(row int) (base int, line string) {
	number, line, seen := strings.Cut(strings.TrimSuffix(f.lines[row], "\n"), " ")
	base, err := strconv.Atoi(number)
	if !seen || err != nil || base < 0 || base >= len(f.bases) {
		return 0, unseen
	}
	return base, line
}

func (f *Files) compare(row int, base, line string) State {
	return Compare(base, f.ix.Paths[row], line)
}

// Compare compares the file of an image below a base with a line of its size and time. What cannot be looked at for
// another reason than that it does not exist counts as the same, and so does a line of another form.
func Compare(base, path, line string) State {
	if size, at, _ := strings.Cut(line, " "); size == "" || !strings.HasSuffix(at, "Z") {
		return Same
	}
	now, err := stamp(under(base, path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Gone
	case err != nil || now == line:
		return Same
	}
	return Changed
}
