// Package classnames shows classes by names that people know: those of a file, of a column of the manifest, or of drawn
// characters. Files and comparisons use labels.
package classnames

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"winnow/datasets"
	"winnow/internal/regular"
)

// Names are the names of classes by label; nil: there are none.
type Names map[string]string

// Of returns the name of a class, and without one its label.
func (n Names) Of(label string) string {
	if name, ok := n[label]; ok {
		return name
	}
	return label
}

// mostNames bounds a file of names, in bytes.
const mostNames = 16 << 20

// nameColumns are the manifest's columns that may name the class of each row's label.
var nameColumns = []string{"class_name", "label_name"}

// Choose returns the names of a file, and without a file those of a column of the manifest. If that column cannot be
// used, why says so. Classes of drawn characters that have no name get readable ones.
func Choose(file string, d *datasets.Dataset) (n Names, why string, err error) {
	if file != "" {
		n, err = Read(file, d.Classes)
	} else {
		n, why = readNamesColumn(d)
	}
	if err != nil || why != "" {
		return nil, why, err
	}
	for _, class := range d.Classes {
		name := Readable(class)
		if _, ok := n[class]; ok || name == class {
			continue
		}
		if n == nil {
			n = Names{}
		}
		n[class] = name
	}
	return n, "", nil
}

// Read reads the names of classes from a CSV file with the columns class and name. A class that is not among the given
// ones is an error.
func Read(file string, classes []string) (Names, error) {
	data, err := regular.ReadFile(file, mostNames)
	if err != nil {
		return nil, fmt.Errorf("names: %w", err)
	}
	rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff")))).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("names: %s: expected a header class,name and names: %w", file, cmp.Or(err, io.EOF))
	}
	for i, column := range rows[0] {
		rows[0][i] = strings.ToLower(strings.TrimSpace(column))
	}
	class, name := slices.Index(rows[0], "class"), slices.Index(rows[0], "name")
	if class < 0 || name < 0 {
		return nil, fmt.Errorf("names: %s: found the columns %.200q, expected class and name", file, rows[0])
	}
	n := Names{}
	for i, row := range rows[1:] {
		label, shown := row[class], strings.TrimSpace(row[name])
		if _, twice := n[label]; twice || !slices.Contains(classes, label) || !canShow(shown) {
			return nil, fmt.Errorf("names: %s: row %d: found class %.80q and name %.80q, expected a class of the "+
				"manifest, once, and a name of one line", file, i+2, label, shown)
		}
		n[label] = shown
	}
	return n.makeDistinct(), nil
}

// canShow reports whether a name can be shown in one line.
func canShow(name string) bool {
	return name != "" && len(name) <= 800 && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

// readNamesColumn takes the names from a column of the manifest, if it has one. If the column gives a class
// several names, as happens when labels were changed and the column was not, it returns none, and why says so.
func readNamesColumn(d *datasets.Dataset) (n Names, why string) {
	at := slices.IndexFunc(d.Columns, func(c string) bool { return slices.Contains(nameColumns, strings.ToLower(c)) })
	if at < 0 {
		return nil, ""
	}
	n = Names{}
	for _, s := range d.Samples {
		if s.Label == datasets.Unlabelled || s.Extra[at] == "" {
			continue
		}
		class, name := d.Classes[s.Label], s.Extra[at]
		if was, ok := n[class]; ok && was != name || !canShow(name) {
			return nil, fmt.Sprintf("the column %s names class %.80q %.80q and otherwise: labels are shown as they "+
				"are; a file of names can be given", d.Columns[at], class, name)
		}
		n[class] = name
	}
	return n.makeDistinct(), ""
}

// makeDistinct appends the label to names that several classes share.
func (n Names) makeDistinct() Names {
	classes := map[string]int{}
	for _, name := range n {
		classes[name]++
	}
	for label, name := range n {
		if classes[name] > 1 {
			n[label] = fmt.Sprintf("%s (%s)", name, label)
		}
	}
	return n
}
