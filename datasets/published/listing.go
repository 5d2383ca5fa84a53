package published

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// maxLine bounds a line of a list: real ones have about a hundred bytes.
const maxLine = 1 << 16

// openList opens the first of several spellings of a list's name that exists.
func openList(fsys fs.FS, names ...string) (fs.File, string, error) {
	for _, name := range names {
		info, err := fs.Stat(fsys, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		if info.IsDir() {
			return nil, "", fmt.Errorf("%s is a folder, expected a text file", name)
		}
		f, err := fsys.Open(name)
		return f, name, err
	}
	return nil, "", refuseMissingFiles(names...)
}

// eachLine passes every non-blank line of a list to do, trimmed and without a byte order mark; lines count from 1.
// Errors of do get the list's name and the line number.
func eachLine(fsys fs.FS, do func(number int, line string) error, names ...string) error {
	f, name, err := openList(fsys, names...)
	if err != nil {
		return err
	}
	defer f.Close()
	return scanLines(f, name, do)
}

func scanLines(r io.Reader, name string, do func(number int, line string) error) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 4096), maxLine)
	number := 1
	for ; in.Scan(); number++ {
		line := in.Text()
		if number == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := do(number, line); err != nil {
			return fmt.Errorf("%s:%d: %w", name, number, err)
		}
	}
	switch err := in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("%s:%d: found more than %d bytes in a line, expected a list", name, number, maxLine)
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case number == 1:
		return fmt.Errorf("%s: is empty, expected a list", name)
	}
	return nil
}

// inRoot checks a path in a list.
func inRoot(p string) error {
	if !fs.ValidPath(p) || p == "." {
		return fmt.Errorf("path %.80q is not relative to the dataset's folder, or leaves it", p)
	}
	return nil
}

// isFolder reports whether a folder of this name exists.
func isFolder(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.IsDir()
}

// folderWith returns the folder that holds a file of this name: the root, or one directly below it; "" if none
// does.
func folderWith(fsys fs.FS, name string, fits func(folder string) bool) string {
	holds := func(folder string) bool {
		info, err := fs.Stat(fsys, path.Join(folder, name))
		return err == nil && info.Mode().IsRegular() && fits(folder)
	}
	if holds(".") {
		return "."
	}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if holds(e.Name()) {
			return e.Name()
		}
	}
	return ""
}
