// Package classnames shows classes by names that people know: those of a file, of a column of the manifest, or of drawn
// characters. Files and comparisons use labels.
package classnames

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"winnow/datasets"
	"winnow/internal/regular"
	"winnow/internal/text"
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

// Limits of a file of names.
const (
	mostNames     = 16 << 20 // bytes
	mostNameRunes = 200
)

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
// ones is an error, and so is a class named twice.
func Read(file string, classes []string) (Names, error) {
	known := make(map[string]bool, len(classes))
	for _, c := range classes {
		known[c] = true
	}
	data, err := regular.ReadFile(file, mostNames)
	if err != nil {
		return nil, fmt.Errorf("names: %w", err)
	}
	in := csv.NewReader(bytes.NewReader(data))
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("names: %s: file is empty, expected a header class,name", file)
	}
	if err != nil {
		return nil, fmt.Errorf("names: %s: %w", file, err)
	}
	for i := range header {
		header[i] = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(header[i], "\ufeff")))
	}
	class, name := slices.Index(header, "class"), slices.Index(header, "name")
	if class < 0 || name < 0 {
		return nil, fmt.Errorf("names: %s:1: found the columns %.200s, expected class and name",
			file, text.Line(strings.Join(header, ",")))
	}
	n, lines := Names{}, map[string]int{}
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return n.makeDistinct(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("names: %s: %w", file, err)
		}
		line, _ := in.FieldPos(0)
		c, called := record[class], strings.TrimSpace(record[name])
		if first, twice := lines[c]; twice {
			return nil, fmt.Errorf("names: %s:%d: class %.80q is named twice, first in line %d", file, line, c, first)
		}
		if !known[c] {
			return nil, fmt.Errorf("names: %s:%d: no image is labelled %.80q, expected a class of the manifest",
				file, line, c)
		}
		if err := checkName(called); err != nil {
			return nil, fmt.Errorf("names: %s:%d: the name of class %.80q %w", file, line, c, err)
		}
		n[c], lines[c] = called, line
	}
}

// checkName returns an error if a name cannot be shown in one line.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("is empty")
	case !utf8.ValidString(name):
		return fmt.Errorf("is not UTF-8: %.40q", name)
	case utf8.RuneCountInString(name) > mostNameRunes:
		return fmt.Errorf("has %d characters, expected at most %d", utf8.RuneCountInString(name), mostNameRunes)
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("holds a control character: %.80q", name)
	}
	return nil
}

// readNamesColumn takes the names from a column of the manifest, if it has one. If the column gives a class
// several names, as happens when labels were changed and the column was not, it returns none, and why says so.
func readNamesColumn(d *datasets.Dataset) (n Names, why string) {
	for _, column := range nameColumns {
		at := slices.IndexFunc(d.Columns, func(c string) bool { return strings.EqualFold(c, column) })
		if at < 0 {
			continue
		}
		n = Names{}
		for _, s := range d.Samples {
			if s.Label == datasets.Unlabelled || s.Extra[at] == "" {
				continue
			}
			class, name := d.Classes[s.Label], s.Extra[at]
			if was, ok := n[class]; ok && was != name {
				return nil, fmt.Sprintf("the column %s names class %.80q both %.80q and %.80q: "+
					"labels are shown as they are; a file of names can be given", column, class, was, name)
			}
			if err := checkName(name); err != nil {
				return nil, fmt.Sprintf("the column %s: the name of class %.80q %v: labels are shown as they are",
					column, class, err)
			}
			n[class] = name
		}
		return n.makeDistinct(), ""
	}
	return nil, ""
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
