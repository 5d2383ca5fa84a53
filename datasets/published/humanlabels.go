package published

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maxLabelFile bounds an unpacked label file and the memory of a pickle: the largest known, CIFAR-10N's, has 3 MB.
const maxLabelFile = 8 << 20

// maxLabelSets bounds the columns of a table.
const maxLabelSets = 1000

// labelTable holds sets of labels of the same images, by name. The only set of a file without names has the name
// "".
type labelTable map[string][]int

// readLabelTable reads human labels in their common forms: PyTorch's .pt file as published, a CSV with a header
// (optionally compressed by gzip), a .npy array of one set, or a .npy file of the whole dictionary.
func readLabelTable(data []byte) (labelTable, error) {
	switch {
	case bytes.HasPrefix(data, []byte("PK")), bytes.HasPrefix(data, []byte(torchMagic)):
		return readTorch(data)
	case bytes.HasPrefix(data, []byte(npyMagic)):
		if kind, _, body, err := npyParts(data); err == nil && kind == npyObjects {
			return (&pickle{data: body}).loadLabelTable()
		}
		labels, err := readNPYLabels(data)
		return labelTable{"": labels}, err
	case bytes.HasPrefix(data, []byte("\x1f\x8b")):
		in, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if data, err = readLabels(in, "unpacks to "); err != nil {
			return nil, err
		}
	}
	return readLabelCSV(data)
}

// readLabels reads a whole label file. what precedes the size in the error about a file that is too large.
func readLabels(r io.Reader, what string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxLabelFile+1))
	if err == nil && len(data) > maxLabelFile {
		err = fmt.Errorf("%smore than %d bytes", what, maxLabelFile)
	}
	return data, err
}

// readLabelCSV reads columns of numbers below a header.
func readLabelCSV(text []byte) (labelTable, error) {
	if first, _, _ := bytes.Cut(text, []byte("\n")); bytes.Count(first, []byte(",")) >= maxLabelSets {
		return nil, fmt.Errorf("header has more than %d columns", maxLabelSets)
	}
	in := csv.NewReader(bytes.NewReader(text))
	in.ReuseRecord = true
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("is empty, expected a header with the names of label sets, or a .pt or .npy file")
	}
	if err != nil {
		return nil, fmt.Errorf("expected a header with the names of label sets: %w", err)
	}
	header = slices.Clone(header)
	table := make(labelTable, len(header))
	for row := 2; ; row++ {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return table, nil
		}
		if err != nil {
			return nil, err
		}
		for k, text := range record {
			v, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil {
				return nil, fmt.Errorf("row %d: %.80s %.80q is not an integer", row, header[k], text)
			}
			table[header[k]] = append(table[header[k]], v)
		}
	}
}

// labelSet returns the labels of a set by its short name: worse is worse_label, random1 is random_label1.
func (t labelTable) labelSet(name string) ([]int, error) {
	if labels, ok := t[""]; ok {
		return labels, nil
	}
	digits := name[len(strings.TrimRight(name, "0123456789")):]
	column := strings.TrimSuffix(name, digits) + "_label" + digits
	labels, ok := t[column]
	if !ok {
		return nil, fmt.Errorf("found the label sets %.200s, expected %s among them",
			strings.Join(slices.Sorted(maps.Keys(t)), ", "), column)
	}
	return labels, nil
}

// findLabels returns the named file of human labels, or the first of these in the folder.
func findLabels(fsys fs.FS, opts Options, names ...string) (File, error) {
	if opts.Labels != nil {
		return *opts.Labels, nil
	}
	f, name, err := openList(fsys, names...)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	data, err := readLabels(f, name+": ")
	return File{Name: name, Data: data}, err
}
