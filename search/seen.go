package search

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"winnow/datasets/location"
	"winnow/internal/seen"
)

// seenLine returns the line of seen.txt for an image of the bases: the number of its base, size and time.
func (x *Extension) seenLine(path string) string {
	if x.Base == nil {
		return seen.Unknown
	}
	base := x.Base(path)
	if base.IsZero() || base.IsRemote() || strings.Contains(path, "://") {
		return seen.Unknown
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
	line, _ := seen.Stamp(x.info.Bases[at].Absolute.Path(), path) // without a file: unknown
	if line == seen.Unknown {
		return seen.Unknown
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
	for at, base := range ix.Bases {
		f.bases = append(f.bases, base.Find(ix.Dir, func(s location.Source) bool { return f.holdsFile(at, s) }).Path())
	}
	return f, nil
}

// holdsFile reports whether a folder holds the file of an image of base at: of one of the first.
func (f *Files) holdsFile(at int, folder location.Source) bool {
	tries := 20
	for row := range f.lines {
		if base, line := f.seenRow(row); base == at && line != seen.Unknown && tries > 0 {
			if f.compareSeen(row, folder.Path(), line) == seen.Same {
				return true
			}
			tries--
		}
	}
	return false
}

// State says what became of the file of a row.
func (f *Files) State(row int) seen.State {
	base, line := f.seenRow(row)
	if line == seen.Unknown {
		return seen.Same
	}
	return f.compareSeen(row, f.bases[base], line)
}

// At compares the file of a row with the one below another base, a file or a folder.
func (f *Files) At(row int, base location.Source) seen.State {
	_, line := f.seenRow(row)
	if line == seen.Unknown || base.IsZero() {
		return seen.Same
	}
	return f.compareSeen(row, base.Path(), line)
}

// seenRow returns the number of a row's base, and size and time of its file, or [seen.Unknown].
func (f *Files) seenRow(row int) (base int, line string) {
	number, line, known := strings.Cut(strings.TrimSuffix(f.lines[row], "\n"), " ")
	base, err := strconv.Atoi(number)
	if !known || err != nil || base < 0 || base >= len(f.ix.Bases) {
		return 0, seen.Unknown
	}
	return base, line
}

func (f *Files) compareSeen(row int, base, line string) seen.State {
	return seen.Compare(base, f.ix.Paths[row], line)
}
