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

// list is a list with an image a line.
type list struct {
	names []string // possible names of the file
	skip  int      // lines of its header
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

// eachLine passes the lines of the first of these files that exists to do, without skip lines at the beginning, empty
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

// readTable reads a list of lines "id value" and returns the ids in order, and their values.
func readTable(fsys fs.FS, name string) (ids []string, values map[string]string, err error) {
	values = make(map[string]string)
	err = eachLine(fsys, 0, func(line string) error {
		id, value, ok := strings.Cut(line, " ")
		if _, twice := values[id]; twice || !ok {
			return errors.New("expected a number of its own and a value")
		}
		ids, values[id] = append(ids, id), value
		return nil
	}, name)
	return ids, values, err
}

// readClasses numbers the lines of a list from 1, in alphabetical order. Food-101N's list has a header.
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

// rankNames numbers names from 1, in alphabetical order.
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

// findFolder returns the folder that holds a file of this name: the root, or one directly below it other than but; ""
// if there is none.
func findFolder(fsys fs.FS, name, but string) string {
	if but != "." && hasFile(fsys, name) {
		return "."
	}
	entries, _ := fs.ReadDir(fsys, ".") // none is found in a folder that cannot be listed
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
