package datasets

import (
	"bufio"
	"cmp"
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
	if opts.hasColumnNames() {
		return nil, fmt.Errorf("datasets: %s: found column names, expected none for a list without a header", name)
	}
	var rows []row
	line := 1
	for ; in.Scan(); line++ {
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
		return nil, fmt.Errorf("datasets: %s:%d: %w", name, line, err)
	}
	d := buildDataset(rows, nil)
	d.Reading = newReading(forms[PRISM], d.Classes, nil)
	opts.noteReading(name, d.Reading)
	return d, nil
}

// NotThere reports that paths of a list name no file below its root.
type NotThere struct {
	Of, Missing int
	Shown       []string // up to three of those rows
}

// Error implements error.
func (n *NotThere) Error() string {
	return fmt.Sprintf("%d of %d rows name no file below the root (%s): name the folder that the paths begin in",
		n.Missing, n.Of, strings.Join(n.Shown, "; "))
}

// CheckList returns [NotThere] if d was read from a list without a header and a path of it is not in root.
func (d *Dataset) CheckList(ctx context.Context, root fs.FS) error {
	if d.Reading == nil || d.Reading.Form != forms[PRISM] {
		return nil
	}
	if n, err := d.NotIn(ctx, root); n != nil || err != nil {
		return cmp.Or(err, error(n))
	}
	return nil
}

// NotIn counts the paths that name no file in root; nil: all do.
func (d *Dataset) NotIn(ctx context.Context, root fs.FS) (*NotThere, error) {
	n, last, missing := &NotThere{Of: len(d.Samples)}, "", false
	for i := range d.Samples {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if file, _, _ := CutCrop(d.Samples[i].Path); file != last {
			_, err := fs.Stat(root, file)
			last, missing = file, errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid)
		}
		if !missing {
			continue
		}
		if n.Missing++; len(n.Shown) < 3 {
			n.Shown = append(n.Shown, fmt.Sprintf("row %d: %.200q with the label %.80q", i+1, d.Samples[i].Path,
				d.LabelName(d.Samples[i])))
		}
	}
	if n.Missing == 0 {
		return nil, nil
	}
	return n, nil
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
