// Package classnames gives classes readable names for display. The names come from a file, from a column of the
// manifest, or from the Unicode names of drawn characters. Files and comparisons use the labels themselves.
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

// Names maps labels to class names; nil means that no class has a name.
type Names map[string]string

// Of returns the name of a class, or the label itself if the class has no name.
func (n Names) Of(label string) string {
	if name, ok := n[label]; ok {
		return name
	}
	return label
}

// mostNames limits the size of a file of names, in bytes.
const mostNames = 16 << 20

// nameColumns lists the manifest columns that may contain class names.
var nameColumns = []string{"class_name", "label_name"}

// Choose returns the names from a file or, if file is "", from a column of the manifest. If the column cannot be used,
// why gives the reason. Classes of drawn characters without a name get a readable name.
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

// Read reads class names from a CSV file with the columns class and name. A class that is not in classes is an error.
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
			return nil, fmt.Errorf("names: %s: row %d: found class %.80q and name %.80q, expected each class of the "+
				"manifest at most once, and a name on one line", file, i+2, label, shown)
		}
		n[label] = shown
	}
	return n.makeDistinct(), nil
}

// canShow reports whether a name can be displayed on one line.
func canShow(name string) bool {
	return name != "" && len(name) <= 800 && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

// readNamesColumn takes the names from a column of the manifest, if it has one. If the column gives a class several
// names, for example because labels were changed, it returns nil and the reason.
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
			return nil, fmt.Sprintf("the column %s gives class %.80q the name %.80q and another one: labels are "+
				"shown instead; a file of names can be given", d.Columns[at], class, name)
		}
		n[class] = name
	}
	return n.makeDistinct(), ""
}

// makeDistinct appends the label to every name that several classes share.
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
