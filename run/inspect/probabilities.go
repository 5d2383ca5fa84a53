package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit"
	"winnow/datasets"
	"winnow/features"
	"winnow/head"
	"winnow/internal/lookup"
	"winnow/internal/text"
	"winnow/run"
)

// byProbabilities judges the training labels of d by class probabilities that any model gave for the images of whole.
// They may take room bytes. One store or none finds everything else.
func (o auditing) byProbabilities(ctx context.Context, file string, whole, d *datasets.Dataset, room int64,
	stores ...*features.Store) (*Report, error) {
	if len(stores) > 1 {
		return nil, fmt.Errorf("audit: found %d stores beside given probabilities, expected one, in which outliers "+
			"and copies are found", len(stores))
	}
	set, left := features.Set{IDs: d.Select(datasets.Train)}, []lookup.LeftOut(nil)
	set.X = blas32.General{Rows: len(set.IDs)}
	if len(stores) == 1 {
		dim := stores[0].Dim
		if err := o.limitMemory(d, dim, dim, min(dim, head.Widest)); err != nil {
			return nil, err
		}
	}
	table, err := readTable(file, room/8)
	if err != nil {
		return nil, fmt.Errorf("audit: %s: %w", file, err)
	}
	column, names, told, guessed, err := table.findClassColumns(whole)
	if err != nil {
		return nil, fmt.Errorf("audit: %s: %w", file, err)
	}
	if told != "" {
		o.Note("%s: %s", file, told)
	}
	if len(stores) == 1 {
		data, free, err := run.JoinTrain(ctx, d, stores[0])
		defer func() { free() }()
		if err != nil {
			return nil, err
		}
		set, left = data.Train, data.LeftOut
	}
	set.Labels = make([]int, len(set.IDs))
	for i, id := range set.IDs {
		if y := d.Samples[id].Label; y != datasets.Unlabelled {
			set.Labels[i] = column[y]
		} else {
			set.Labels[i] = features.Unlabelled
		}
	}
	p, err := table.selectProbabilities(whole, set.IDs)
	if err != nil {
		return nil, fmt.Errorf("audit: %s: %w", file, err)
	}
	if wrong, of := countDisagreeing(p, set.Labels); guessed && 2*wrong > of {
		return nil, fmt.Errorf("audit: %s: found %d of %d labels that are not the most probable class if the columns "+
			"are %s, in this order: the order may be another: name the columns by a header, as in path,%s", file,
			wrong, of, nameFirstFive(names), strings.Join(text.First(names, 2), ","))
	}
	o.Given, o.Whiten = audit.ByProbabilities(p, set.Labels), true
	j := o.judge(d, names, left)
	return j.reportOn(ctx, set, o.Note)
}

// table is a matrix of probabilities from a file.
type table struct {
	x     blas32.General
	names []string // of the columns; nil: the file has none
	paths []string // of the rows; nil: the rows are the manifest's, in its order
	at    func(row int) string
}

// findClassColumns returns the column of each class of a manifest, -1 for classes that are only true labels: "none of
// these", for example, is no column.
func (t *table) findClassColumns(
	d *datasets.Dataset,
) (column []int, names []string, told string, guessed bool, err error) {
	used := make([]bool, len(d.Classes))
	for i := range d.Samples {
		if y := d.Samples[i].Label; y != datasets.Unlabelled {
			used[y] = true
		}
	}
	var labels []string
	for k, name := range d.Classes {
		if used[k] {
			labels = append(labels, name)
		}
	}
	if labels == nil {
		return nil, nil, "", false, errors.New("no image of the manifest has a label, expected labels to judge")
	}
	of, names, told, guessed, err := t.findLabelColumns(labels)
	if err != nil {
		return nil, nil, "", false, err
	}
	column = make([]int, len(used))
	for k := range used {
		column[k] = -1
		if used[k] {
			column[k], of = of[0], of[1:]
		}
	}
	return column, names, told, guessed, nil
}

// findLabelColumns returns the column of each label, and a name for every column. The file's header names the columns:
// by the labels, or by these in another case, with the same words around each, or as other forms of the same numbers,
// which told says. Without a header, or with one that counts the columns, labels that are numbers count columns from 0;
// other labels are taken in their order, and told says so. guessed reports that another order is possible.
func (t *table) findLabelColumns(labels []string) (column []int, names []string, told string, guessed bool, err error) {
	if column := findWords(t.names, labels); column != nil {
		return column, t.names, "", false, nil
	}
	if t.names != nil {
		for _, plain := range []func([]string) []string{foldWords, trimCommonParts, numbersOf} {
			have, want := plain(t.names), plain(labels)
			if column := findWords(have, want); column != nil {
				names := slices.Clone(t.names)
				for i, k := range column {
					if names[k] != labels[i] && told == "" {
						told = fmt.Sprintf("its column %q is taken for the label %q, and the others likewise",
							names[k], labels[i])
					}
					names[k] = labels[i]
				}
				return column, names, told, false, nil
			}
		}
	}
	if t.names != nil && !countsUp(t.names) {
		have := trimCommonParts(t.names)
		missing := slices.IndexFunc(trimCommonParts(labels), func(l string) bool { return !slices.Contains(have, l) })
		return nil, nil, "", false, fmt.Errorf("found no column for the label %q, but %s", labels[max(missing, 0)],
			nameFirstFive(t.names))
	}
	numbers := numbersOf(labels)
	for k := range t.x.Cols {
		names = append(names, strconv.Itoa(k))
	}
	if column := findWords(names, numbers); column != nil {
		for i, k := range column {
			names[k] = labels[i]
		}
		return column, names, "", len(labels) < t.x.Cols, nil
	}
	if len(labels) != t.x.Cols {
		return nil, nil, "", false, fmt.Errorf("found %d columns for %d labels in the manifest, expected one each, or "+
			"a header that names them", t.x.Cols, len(labels))
	}
	sorted, order := slices.Clone(labels), "alphabetical order"
	if numbers != nil {
		order = "the order of their numbers"
		slices.SortFunc(sorted, func(a, b string) int {
			x, y := numbers[slices.Index(labels, a)], numbers[slices.Index(labels, b)]
			return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
		})
	}
	told = "its columns are taken for the classes in " + order + ": " + nameFirstFive(sorted)
	return findWords(sorted, labels), sorted, told, true, nil
}

// countsUp reports whether the names of columns only count them: p0, p1, … or class_1, class_2, …
func countsUp(names []string) bool {
	numbers := numbersOf(names)
	for i, n := range numbers {
		first, _ := strconv.Atoi(numbers[0])
		if first > 1 || n != strconv.Itoa(first+i) {
			return false
		}
	}
	return numbers != nil
}

// numbersOf returns the whole numbers that words stand for: 7 of 7, 007, 7.0, 7e0 or, if all words begin so, class7. It
// returns nil if a word is none, or if two words are the same number.
func numbersOf(words []string) (list []string) {
	before := ""
	if _, err := strconv.ParseFloat(words[0], 64); err != nil {
		before = strings.TrimRight(words[0], ".0123456789")
	}
	for _, w := range words {
		digits, ok := strings.CutPrefix(w, before)
		n, err := strconv.ParseFloat(digits, 64)
		if !ok || err != nil || strings.Trim(digits, "+.0123456789eE") != "" || n < 0 || n > 1e9 || n != math.Trunc(n) {
			return nil
		}
		if digits = strconv.Itoa(int(n)); slices.Contains(list, digits) {
			return nil
		}
		list = append(list, digits)
	}
	return list
}

// findWords returns the place of each of some words in a list, or nil if one is missing or there twice.
func findWords(list, words []string) (at []int) {
	for _, w := range words {
		k := slices.Index(list, w)
		if k < 0 || slices.Contains(list[k+1:], w) || slices.Contains(at, k) {
			return nil
		}
		at = append(at, k)
	}
	return at
}

// foldWords returns words in lower case, without spaces around them.
func foldWords(words []string) (list []string) {
	for _, w := range words {
		list = append(list, strings.ToLower(strings.TrimSpace(w)))
	}
	return list
}

// trimCommonParts returns folded words without what all of them have before a separator at the beginning, and after one
// at the end: tench and horn of prob_tench and prob_horn.
func trimCommonParts(words []string) []string {
	list := foldWords(words)
	cut := func(length func(a, b string) int, separated func(w string, n int) int, rest func(w string, n int) string) {
		n := len(list[0])
		for _, w := range list[1:] {
			n = min(n, length(list[0], w))
		}
		if n = separated(list[0], n); n > 0 {
			for i, w := range list {
				list[i] = rest(w, n)
			}
		}
	}
	const separators = "_ .-:/"
	cut(func(a, b string) int {
		n := 0
		for n < min(len(a), len(b)) && a[n] == b[n] {
			n++
		}
		return n
	}, func(w string, n int) int { return strings.LastIndexAny(w[:n], separators) + 1 },
		func(w string, n int) string { return w[n:] })
	cut(func(a, b string) int {
		n := 0
		for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
			n++
		}
		return n
	}, func(w string, n int) int {
		if k := strings.IndexAny(w[len(w)-n:], separators); k >= 0 {
			return n - k
		}
		return 0
	}, func(w string, n int) string { return w[:len(w)-n] })
	return list
}

// selectProbabilities returns the probabilities of the manifest's images at these positions.
func (t *table) selectProbabilities(d *datasets.Dataset, ids []int) (blas32.General, error) {
	at := map[string]int{}
	for i, path := range t.paths {
		if was, ok := at[path]; ok {
			return blas32.General{}, fmt.Errorf("%s and %s are both for %q, expected one row for each image", t.at(was),
				t.at(i), path)
		}
		at[path] = i
	}
	n := d.SourceRows()
	if t.paths == nil && t.x.Rows != n {
		return blas32.General{}, fmt.Errorf("%d rows, expected %d as in the manifest, in its order, or a column path",
			t.x.Rows, n)
	}
	out := features.NewMatrix(len(ids), t.x.Cols)
	for i, id := range ids {
		row := d.Samples[id].Row
		if t.paths != nil {
			var ok bool
			if row, ok = at[d.Samples[id].Path]; !ok {
				return out, fmt.Errorf("found no row for %q, expected one for each of the %d images judged",
					d.Samples[id].Path, len(ids))
			}
		}
		if err := checkProbabilities(features.Row(t.x, row)); err != nil {
			return out, fmt.Errorf("%s: %w", t.at(row), err)
		}
		copy(features.Row(out, i), features.Row(t.x, row))
	}
	return out, nil
}

// countDisagreeing counts the labels that are not the most probable class, of those that are known.
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

// checkProbabilities refuses a row that holds no probabilities of classes.
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

// nameFirstFive names the first five.
func nameFirstFive(names []string) string {
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
