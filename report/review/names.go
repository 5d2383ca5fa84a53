package review

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

// Limits of a file of names.
const (
	mostNames     = 16 << 20 // bytes
	mostNameRunes = 200
)

// nameColumns are the manifest's columns that may name the class of each row's label.
var nameColumns = []string{"class_name", "label_name"}

// readNames reads the names of classes from a CSV file with the columns class and name. A class that no image
// is labelled with is an error, and so is a class named twice.
func readNames(file string, t *table) (map[string]string, error) {
	data, err := regular.ReadFile(file, mostNames)
	if err != nil {
		return nil, fmt.Errorf("review: names: %w", err)
	}
	in := csv.NewReader(bytes.NewReader(data))
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("review: %s: file is empty, expected a header class,name", file)
	}
	if err != nil {
		return nil, fmt.Errorf("review: %s: %w", file, err)
	}
	for i := range header {
		header[i] = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(header[i], "\ufeff")))
	}
	class, name := slices.Index(header, "class"), slices.Index(header, "name")
	if class < 0 || name < 0 {
		return nil, fmt.Errorf("review: %s:1: found the columns %.200s, expected class and name",
			file, text.Line(strings.Join(header, ",")))
	}
	names, lines := map[string]string{}, map[string]int{}
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return distinct(names), nil
		}
		if err != nil {
			return nil, fmt.Errorf("review: %s: %w", file, err)
		}
		line, _ := in.FieldPos(0)
		c, n := record[class], strings.TrimSpace(record[name])
		if first, twice := lines[c]; twice {
			return nil, fmt.Errorf("review: %s:%d: class %.80q is named twice, first in line %d", file, line, c, first)
		}
		if _, ok := t.classOf[c]; !ok {
			return nil, fmt.Errorf("review: %s:%d: no image is labelled %.80q, expected a class of the manifest",
				file, line, c)
		}
		if err := checkName(n); err != nil {
			return nil, fmt.Errorf("review: %s:%d: the name of class %.80q %w", file, line, c, err)
		}
		names[c], lines[c] = n, line
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

// manifestNames takes the names from a column of the manifest, if it has one. If the column gives a class
// several names, as happens when labels were changed and the column was not, it returns none, and why says so.
func manifestNames(d *datasets.Dataset) (names map[string]string, why string) {
	for _, column := range nameColumns {
		at := slices.IndexFunc(d.Columns, func(c string) bool { return strings.EqualFold(c, column) })
		if at < 0 {
			continue
		}
		names = map[string]string{}
		for _, s := range d.Samples {
			if s.Label == datasets.Unlabelled || s.Extra[at] == "" {
				continue
			}
			class, name := d.Classes[s.Label], s.Extra[at]
			if was, ok := names[class]; ok && was != name {
				return nil, fmt.Sprintf("The column %s names class %.80q both %.80q and %.80q: "+
					"labels are shown as they are; a file of names can be given.", column, class, was, name)
			}
			if err := checkName(name); err != nil {
				return nil, fmt.Sprintf("The column %s: the name of class %.80q %v: labels are shown as they are.",
					column, class, err)
			}
			names[class] = name
		}
		return distinct(names), ""
	}
	return nil, ""
}

// distinct appends the label to names that several classes share.
func distinct(names map[string]string) map[string]string {
	classes := map[string]int{}
	for _, name := range names {
		classes[name]++
	}
	for class, name := range names {
		if classes[name] > 1 {
			names[class] = fmt.Sprintf("%s (%s)", name, class)
		}
	}
	return names
}
