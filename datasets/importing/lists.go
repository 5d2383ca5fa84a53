package importing

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// list describes a list file with one image per line.
type list struct {
	names []string // possible file names
	skip  int      // number of header lines
	split string
	parse func(line string) (sample, error)
}

// readLists reads the samples of lists.
func readLists(fsys fs.FS, lists ...list) (samples []sample, err error) {
	for _, l := range lists {
		err := eachLine(fsys, l.skip, func(line string) error {
			s, err := l.parse(line)
			if s.Split == "" {
				s.Split = l.split
			}
			samples = append(samples, s)
			return err
		}, l.names...)
		if err != nil {
			return nil, err
		}
	}
	return samples, nil
}

// eachLine passes each line of the first of the files names that exists to do. It skips the first skip lines, empty
// lines and a byte order mark.
func eachLine(fsys fs.FS, skip int, do func(line string) error, names ...string) error {
	name := names[0]
	for _, other := range names[1:] {
		if !hasFile(fsys, name) {
			name = other
		}
	}
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	for n := 1; in.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(in.Text(), "\ufeff"))
		if n <= skip || line == "" {
			continue
		}
		if err := do(line); err != nil {
			return fmt.Errorf("%s:%d: found %.80q: %w", name, n, line, err)
		}
	}
	if in.Err() != nil {
		return fmt.Errorf("%s: %w", name, in.Err())
	}
	return nil
}

// readTable reads a file of lines "id value". It returns the ids in order and the value of each id.
func readTable(fsys fs.FS, name string) (ids []string, values map[string]string, err error) {
	values = make(map[string]string)
	err = eachLine(fsys, 0, func(line string) error {
		id, value, ok := strings.Cut(line, " ")
		if _, twice := values[id]; twice || !ok {
			return errors.New("expected a unique number and a value")
		}
		ids, values[id] = append(ids, id), value
		return nil
	}, name)
	return ids, values, err
}

// readClasses sorts the lines of a list and numbers them from 1. It skips the header of Food-101N's list.
func readClasses(fsys fs.FS, name string) (map[string]int, error) {
	var order []string
	err := eachLine(fsys, 0, func(line string) error {
		if line != "class_name" {
			order = append(order, line)
		}
		return nil
	}, name)
	slices.Sort(order)
	return rankNames(slices.Compact(order)), err
}

// rankNames numbers names from 1 in alphabetical order.
func rankNames(names []string) map[string]int {
	numbers := make(map[string]int, len(names))
	for i, name := range slices.Sorted(slices.Values(names)) {
		numbers[name] = i + 1
	}
	return numbers
}

func hasFile(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
}

// findFolder returns the folder that contains a file with this name: the root or a folder directly below the root,
// except the folder but. It returns "" if there is none.
func findFolder(fsys fs.FS, name, but string) string {
	if but != "." && hasFile(fsys, name) {
		return "."
	}
	entries, _ := fs.ReadDir(fsys, ".") // an unlistable folder gives ""
	for _, e := range entries {
		if e.Name() != but && hasFile(fsys, path.Join(e.Name(), name)) {
			return e.Name()
		}
	}
	return ""
}

// imagesIn lists the JPEG files of a folder, in order.
func imagesIn(fsys fs.FS, folder string) (names []string, err error) {
	entries, err := fs.ReadDir(fsys, folder)
	for _, e := range entries {
		end := strings.ToLower(path.Ext(e.Name()))
		if (end == ".jpg" || end == ".jpeg") && !e.IsDir() && e.Name()[0] != '.' {
			names = append(names, e.Name())
		}
	}
	return names, err
}
