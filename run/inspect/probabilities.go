package inspect

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit"
	"winnow/datasets"
	"winnow/features"
	"winnow/internal/text"
	"winnow/run"
)

// byProbabilities judges the training labels of a manifest by class probabilities that any model gave for its images.
// They may take room bytes. A store, if not nil, finds everything else.
func byProbabilities(ctx context.Context, in Input, whole, d *datasets.Dataset, store *features.Store, room int64,
	o auditing) (*Report, error) {
	table, err := readTable(in.Probs, room/8)
	if err != nil {
		return nil, fmt.Errorf("audit: %s: %w", in.Probs, err)
	}
	column, names, told, err := table.classes(whole.Classes)
	if err != nil {
		return nil, fmt.Errorf("audit: %s: %w", in.Probs, err)
	}
	if told != "" {
		o.Note("%s: %s", in.Probs, told)
	}
	a := Report{from: in.Manifest, source: whole}
	set := features.Set{}
	if store != nil {
		data, free, err := run.JoinTrain(ctx, d, store)
		defer func() { free() }()
		if err != nil {
			return nil, err
		}
		set, a.LeftOut = data.Train, data.LeftOut
		if store.Views() > 1 {
			a.View = in.View
		}
	} else {
		set.IDs = d.Select(datasets.Train)
		set.X = blas32.General{Rows: len(set.IDs)}
	}
	set.Labels = make([]int, len(set.IDs))
	for i, id := range set.IDs {
		if y := d.Samples[id].Label; y != datasets.Unlabelled {
			set.Labels[i] = column[y]
		} else {
			set.Labels[i] = features.Unlabelled
		}
	}
	p, err := table.rows(whole, set.IDs)
	if err != nil {
		return nil, fmt.Errorf("audit: %s: %w", in.Probs, err)
	}
	o.Given, o.Classes, o.Whiten = audit.ByProbabilities(p, set.Labels), len(names), true
	result, err := o.Run(ctx, set, o.Options.Options)
	if err != nil {
		return nil, err
	}
	return &a, a.name(result, set.IDs, d, names, o.Note)
}

// table is a matrix of probabilities from a file.
type table struct {
	x     blas32.General
	names []string // of the columns; nil: the file has none
	paths []string // of the rows; nil: the rows are the manifest's, in its order
	at    func(row int) string
}

// classes returns the column of each of the manifest's classes, and a name for every column. The file's header
// names the columns. Without a header, labels that are numbers count columns from 0; other labels are taken in
// alphabetical order, and told says so.
func (t *table) classes(labels []string) (column []int, names []string, told string, err error) {
	if t.names != nil {
		missing := ""
		for _, label := range labels {
			k := slices.Index(t.names, label)
			if k < 0 {
				missing = label
				break
			}
			column = append(column, k)
		}
		if missing == "" {
			return column, t.names, "", nil
		}
		if !slices.ContainsFunc(labels, func(l string) bool { return slices.Contains(t.names, l) }) {
			t.names = nil // p0, p1, …: names of columns, not of classes
			return t.classes(labels)
		}
		return nil, nil, "", fmt.Errorf("found no column for the label %q, but %s", missing, listed(t.names))
	}
	column = nil
	for _, label := range labels {
		k, err := strconv.Atoi(label)
		if err != nil || k < 0 || k >= t.x.Cols || strconv.Itoa(k) != label {
			break
		}
		column = append(column, k)
	}
	if len(column) == len(labels) {
		for k := range t.x.Cols {
			names = append(names, strconv.Itoa(k))
		}
		return column, names, "", nil
	}
	if len(labels) != t.x.Cols {
		return nil, nil, "", fmt.Errorf("found %d columns for %d classes in the manifest, expected one each, or a "+
			"header that names them", t.x.Cols, len(labels))
	}
	names = slices.Sorted(slices.Values(labels))
	column = make([]int, len(labels))
	for i, label := range labels {
		column[i], _ = slices.BinarySearch(names, label)
	}
	return column, names, "its columns are taken for the classes in alphabetical order: " + listed(names), nil
}

// rows returns the probabilities of the manifest's images at these positions.
func (t *table) rows(d *datasets.Dataset, ids []int) (blas32.General, error) {
	at := map[string]int{}
	for i, path := range t.paths {
		if was, ok := at[path]; ok {
			return blas32.General{}, fmt.Errorf("%s and %s are both for %q, expected one row for each image", t.at(was),
				t.at(i), path)
		}
		at[path] = i
	}
	if t.paths == nil && t.x.Rows != len(d.Samples) {
		return blas32.General{}, fmt.Errorf("%d rows, expected %d as in the manifest, in its order, or a column path",
			t.x.Rows, len(d.Samples))
	}
	out := features.NewMatrix(len(ids), t.x.Cols)
	for i, id := range ids {
		row := id
		if t.paths != nil {
			var ok bool
			if row, ok = at[d.Samples[id].Path]; !ok {
				return out, fmt.Errorf("found no row for %q, expected one for each of the %d images judged",
					d.Samples[id].Path, len(ids))
			}
		}
		if err := probabilities(features.Row(t.x, row)); err != nil {
			return out, fmt.Errorf("%s: %w", t.at(row), err)
		}
		copy(features.Row(out, i), features.Row(t.x, row))
	}
	return out, nil
}

// probabilities refuses a row that holds no probabilities of classes.
func probabilities(row []float32) error {
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

// listed names the first five.
func listed(names []string) string {
	list := strings.Join(text.First(names, 5), ", ")
	if len(names) > 5 {
		list += fmt.Sprintf(", … (%d)", len(names))
	}
	return list
}

// readTable reads a matrix of at most most values, in the form that the file's name ends in.
func readTable(path string, most int64) (*table, error) {
	read := map[string]func(string, int64) (*table, error){".npy": tableOfNPY, ".csv": tableOfCSV,
		".parquet": tableOfParquet}[strings.ToLower(filepath.Ext(path))]
	if read == nil {
		return nil, fmt.Errorf("found the ending %q, expected .npy, .csv or .parquet", filepath.Ext(path))
	}
	t, err := read(path, most)
	if err != nil {
		return nil, err
	}
	if t.x.Rows < 1 || t.x.Cols < 2 {
		return nil, fmt.Errorf("found %d rows of %d probabilities, expected at least one row and two classes", t.x.Rows,
			t.x.Cols)
	}
	return t, nil
}
