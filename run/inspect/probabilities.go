package inspect

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit"
	"winnow/datasets"
	"winnow/features"
	"winnow/internal/regular"
	"winnow/internal/text"
)

// addProbabilities sets up scoring by class probabilities from a file, which any model may have predicted. Duplicates,
// outliers and class statistics still need a feature store.
func (m *material) addProbabilities(file string, note func(string, ...any)) error {
	t, err := readTable(file)
	if err != nil {
		return fmt.Errorf("audit: %s: %w", file, err)
	}
	column, names, guessed, err := t.findClassColumns(m.source)
	if err != nil {
		return fmt.Errorf("audit: %s: %w", file, err)
	}
	if guessed != "" {
		note("%s: %s", file, guessed)
	}
	if m.store == nil {
		m.set = features.Set{IDs: m.d.Select(datasets.Train)}
		m.set.X = blas32.General{Rows: len(m.set.IDs)}
	}
	m.set.Labels = make([]int, len(m.set.IDs))
	for i, id := range m.set.IDs {
		m.set.Labels[i] = features.Unlabelled
		if y := m.d.Samples[id].Label; y != datasets.Unlabelled {
			m.set.Labels[i] = column[y]
		}
	}
	p, err := t.selectProbabilities(m.source, m.set.IDs)
	if err != nil {
		return fmt.Errorf("audit: %s: %w", file, err)
	}
	if wrong, of := countDisagreeing(p, m.set.Labels); guessed != "" && 2*wrong > of {
		return fmt.Errorf("audit: %s: %s, but then %d of %d labels differ from the most probable class: name the "+
			"columns in a header such as path,%s", file, guessed, wrong, of, strings.Join(text.First(names, 2), ","))
	}
	m.by.Given, m.options.Whiten, m.classes = audit.ByProbabilities(p, m.set.Labels), true, names
	return nil
}

// table is a matrix of probabilities from a file.
type table struct {
	x     blas32.General
	names []string // of the columns; nil if the file has no header
	paths []string // of the rows; nil if the rows follow the order of the manifest
}

// findClassColumns returns the table's column for each class of a manifest, and -1 for a class that occurs only as a
// true label, such as "none of these". A header must name the columns by the labels. Without a header, a whole number
// as label is a column index from 0; other labels are assigned in alphabetical order. guessed describes this choice.
func (t *table) findClassColumns(d *datasets.Dataset) (column []int, names []string, guessed string, err error) {
	used, labels := make([]bool, len(d.Classes)), []string(nil)
	for i := range d.Samples {
		if y := d.Samples[i].Label; y != datasets.Unlabelled {
			used[y] = true
		}
	}
	numbered := true
	for k, name := range d.Classes {
		if used[k] {
			n, err := strconv.ParseFloat(name, 64)
			numbered = numbered && err == nil && n >= 0 && n < float64(t.x.Cols) && n == float64(int(n))
			labels = append(labels, name)
		}
	}
	switch {
	case labels == nil:
		return nil, nil, "", errors.New("no image of the manifest has a label, expected labels to score")
	case t.names != nil:
		names = t.names
	case numbered:
		names = make([]string, t.x.Cols)
		for k := range names {
			names[k] = strconv.Itoa(k)
		}
		for _, name := range labels {
			n, _ := strconv.ParseFloat(name, 64)
			names[int(n)] = name
		}
		if len(labels) < t.x.Cols {
			guessed = "its columns are numbered from 0"
		}
	case len(labels) == t.x.Cols:
		names = slices.Sorted(slices.Values(labels))
		guessed = "its columns are assumed to be the classes in alphabetical order: " + nameFirstFive(names)
	default:
		return nil, nil, "", fmt.Errorf("found %d columns for %d labels, expected one column for each label, or a "+
			"header that names the columns", t.x.Cols, len(labels))
	}
	column = slices.Repeat([]int{-1}, len(d.Classes))
	for k, name := range d.Classes {
		if !used[k] {
			continue
		}
		if column[k] = slices.Index(names, name); column[k] < 0 {
			return nil, nil, "", fmt.Errorf("no column for the label %q among %s", name, nameFirstFive(names))
		}
	}
	return column, names, guessed, nil
}

// selectProbabilities returns one row of probabilities for each image of ids, which are positions in the manifest.
func (t *table) selectProbabilities(d *datasets.Dataset, ids []int) (blas32.General, error) {
	at := map[string]int{}
	for i, path := range t.paths {
		if _, twice := at[path]; twice {
			return t.x, fmt.Errorf("two rows for %q, expected one row for each image", path)
		}
		at[path] = i
	}
	n := d.SourceRows()
	if t.paths == nil && t.x.Rows != n {
		return t.x, fmt.Errorf("%d rows, expected the %d of the manifest in its order, or a column path", t.x.Rows, n)
	}
	out := features.NewMatrix(len(ids), t.x.Cols)
	for i, id := range ids {
		row := d.Samples[id].Row
		if t.paths != nil {
			var ok bool
			if row, ok = at[d.Samples[id].Path]; !ok {
				return out, fmt.Errorf("no row for %q, expected one row for each of the %d audited images",
					d.Samples[id].Path, len(ids))
			}
		}
		if err := checkProbabilities(features.Row(t.x, row)); err != nil {
			return out, fmt.Errorf("%q: %w", d.Samples[id].Path, err)
		}
		copy(features.Row(out, i), features.Row(t.x, row))
	}
	return out, nil
}

// countDisagreeing counts the labelled images, and among them those whose label is not the most probable class.
func countDisagreeing(p blas32.General, labels []int) (wrong, of int) {
	for i, y := range labels {
		if y != features.Unlabelled {
			row := features.Row(p, i)
			if of++; row[y] < slices.Max(row) {
				wrong++
			}
		}
	}
	return wrong, of
}

// checkProbabilities returns an error unless the values of a row are probabilities that sum to 1.
func checkProbabilities(row []float32) error {
	var sum float64
	for k, v := range row {
		if !(v >= 0 && v <= 1.01) {
			return fmt.Errorf("column %d is %v, expected a probability: apply softmax to logits", k, v)
		}
		sum += float64(v)
	}
	if sum < 0.98 || sum > 1.02 {
		return fmt.Errorf("the row sums to %.4g, expected probabilities that sum to 1", sum)
	}
	return nil
}

// nameFirstFive lists the first five names, and how many names there are if there are more.
func nameFirstFive(names []string) string {
	list := strings.Join(text.First(names, 5), ", ")
	if len(names) > 5 {
		list += fmt.Sprintf(", … (%d)", len(names))
	}
	return list
}

// aside holds the names of columns that hold no probabilities. A column without a name is a row index.
var aside = []string{"", "path", "label", "given_label", "true_label", "split"}

// mostTable is the largest accepted file, in bytes.
const mostTable = 8 << 30

// readTable reads a matrix from a NumPy array or a CSV file. The first line of a CSV file is a header unless it holds
// probabilities.
func readTable(path string) (*table, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > mostTable {
		return nil, fmt.Errorf("holds %d bytes, expected at most %d", info.Size(), mostTable)
	}
	t := new(table)
	switch ending := strings.ToLower(filepath.Ext(path)); ending {
	case ".npy":
		a, err := features.ReadNPY(f, info.Size())
		if err != nil {
			return nil, err
		}
		if t.x, err = a.Matrix(); err != nil {
			return nil, err
		}
	case ".csv":
		if err := t.readCSV(f); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("found the ending %q, expected .npy or .csv", ending)
	}
	if t.x.Rows < 1 || t.x.Cols < 2 {
		return nil, fmt.Errorf("found %d rows of %d probabilities, expected at least one row and two classes", t.x.Rows,
			t.x.Cols)
	}
	return t, nil
}

// readCSV appends one row of the table for each line of a CSV file.
func (t *table) readCSV(r io.Reader) error {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	path, use := -1, []int(nil) // columns
	for first := true; ; first = false {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if first {
			var named bool
			if path, use, named = t.findColumns(record); named {
				continue
			}
		}
		if path >= 0 {
			t.paths = append(t.paths, strings.Clone(record[path]))
		}
		for _, k := range use {
			v, err := strconv.ParseFloat(strings.TrimSpace(record[k]), 32)
			if err != nil {
				line, _ := in.FieldPos(k)
				return fmt.Errorf("line %d: %w", line, err)
			}
			t.x.Data = append(t.x.Data, float32(v))
		}
		t.x.Rows++
	}
	t.x.Cols, t.x.Stride = len(use), max(len(use), 1)
	return nil
}

// findColumns finds in the first line the column of paths (-1 if there is none) and the columns of probabilities. named
// reports whether the line is a header: some field is not a number, or the fields are 0, 1, 2, …, as other tools
// write the header of a table without names.
func (t *table) findColumns(record []string) (path int, use []int, named bool) {
	record[0] = strings.TrimPrefix(record[0], "\ufeff")
	counts := true
	for k, s := range record {
		if _, err := strconv.ParseFloat(strings.TrimSpace(s), 32); err != nil {
			named = true
		}
		counts = counts && s == strconv.Itoa(k)
	}
	path = -1
	for k, name := range record {
		key := strings.ToLower(strings.TrimSpace(name))
		switch {
		case named && key == "path":
			path = k
		case named && slices.Contains(aside, key):
		default:
			if use = append(use, k); named {
				t.names = append(t.names, strings.TrimSpace(name))
			}
		}
	}
	return path, use, named || counts
}
