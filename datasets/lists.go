package datasets

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

// readPRISM reads lists without a header: path,label as PRISM released them, or path label as those of ImageNet and
// Caffe. Labels are integers, unless the path has the ending of an image.
func readPRISM(r io.Reader, name string, opts reading) (*Dataset, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 1<<16), 1<<20)
	var rows []row
	for line := 1; in.Scan(); line++ {
		text := strings.TrimRight(in.Text(), "\r")
		if text == "" {
			continue
		}
		p, label, ok := listLine(text)
		if !ok {
			return nil, fmt.Errorf("datasets: %s:%d: found %.200q, expected path,label or path label", name, line, text)
		}
		if first, _, _ := strings.Cut(p, ","); !isImageName(p) && isImageName(first) {
			return nil, fmt.Errorf("datasets: %s:%d: found %d values, %.200q, expected path,label: give the file a "+
				"header that names its columns", name, line, strings.Count(text, ",")+1, text)
		}
		if _, err := strconv.Atoi(label); err != nil && !isImageName(p) {
			return nil, fmt.Errorf("datasets: %s:%d: label %.80q is not an integer", name, line, label)
		}
		var err error
		if rows, err = appendRow(rows, row{path: p, label: label}, opts); err != nil {
			return nil, fmt.Errorf("datasets: %s:%d: %w", name, line, err)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	return build(rows, nil), nil
}

// CheckList returns an error if d was read from a list without a header and a path of it is not in root: only its
// pictures show that its lines are paths and labels.
func (d *Dataset) CheckList(ctx context.Context, root fs.FS) error {
	if d.Reading == nil || d.Reading.Form != forms[PRISM] {
		return nil
	}
	missing, shown := 0, []string{}
	for i := range d.Samples {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := fs.Stat(root, d.Samples[i].Path)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
			continue
		}
		if missing++; len(shown) < 3 {
			shown = append(shown, fmt.Sprintf("row %d: %.200q with the label %.80q", i+1, d.Samples[i].Path,
				d.LabelName(d.Samples[i])))
		}
	}
	if missing == 0 {
		return nil
	}
	return fmt.Errorf("read as a list without a header: %d of %d rows name no file below the root (%s): name the "+
		"folder that the paths begin in, or give the list a header path,label, and rows without a file are left out",
		missing, len(d.Samples), strings.Join(shown, "; "))
}

// listLine splits a line of a list without a header. The label is what follows the last comma, semicolon, tab or space:
// the first of these that leaves a path with the ending of an image or, if none does, the first of comma, tab and space
// that there is.
func listLine(line string) (path, label string, ok bool) {
	cut := func(at int) (string, string) {
		return strings.TrimRight(line[:at], "\t "), strings.TrimSpace(line[at+1:])
	}
	for _, by := range []byte(",;\t ") {
		if at := strings.LastIndexByte(line, by); at >= 0 {
			if path, label = cut(at); isImageName(path) {
				return path, label, true
			}
		}
	}
	for _, by := range []byte(",\t ") {
		if at := strings.LastIndexByte(line, by); at >= 0 {
			path, label = cut(at)
			return path, label, true
		}
	}
	return "", "", false
}
