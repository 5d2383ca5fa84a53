package datasets

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"winnow/internal/catalog"
)

// Names gives a table's column names (or JSON keys). "" selects winnow's own name or, for path and label, a common one.
type Names struct{ Path, Label, Split, True string }

// The columns with a meaning, as indexes into ownNames.
const (
	pathColumn = iota
	labelColumn
	splitColumn
	trueColumn
)

// ownNames are winnow's own column names.
var ownNames = [...]string{pathColumn: "path", labelColumn: "label", splitColumn: "split", trueColumn: "true_label"}

// usualNames lists common names for path, label and split, the most certain first, in lower case with _ between
// words. A column becomes the split only if its first value names a split. The column of true labels is never
// guessed.
var usualNames = [...][]string{
	pathColumn: {fileName, "filename", "filepath", "file_path", "filepaths", "image_path", "img_path", "image_file",
		"image_name", "image_filename", "img_name", "img_file", "imgpath", "file", "image", "img", "picture", "photo",
		"image_id", "imageid", "uri", "id", "name"},
	labelColumn: {"labels", "class", "class_name", "classname", "class_label", "category", "category_name",
		"label_name", "labelname", "target", "target_name", "species", "breed", "class_id", "label_id", "category_id",
		"choice"},
	splitColumn: {"data_set", "dataset", "data_split", "subset", "partition", "set", "phase", "usage", "fold"},
}

// naming tells the user how to choose the columns of a table.
const naming = "--path-column and --label-column (winnow data import, audit and studio)"

// fileName is Hugging Face's path column.
const fileName = "file_name"

// places holds the positions of ownNames in a header, -1 for a missing column.
type places [len(ownNames)]int

// hasColumnNames reports whether any column name is given.
func (o ReadOptions) hasColumnNames() bool { return o.Names != Names{} }

// findColumns finds the columns of a header: first by the given names, then by winnow's own, and path and label also
// by common names. guessed describes the columns found by a common name, "" if there are none.
func (o ReadOptions) findColumns(header []string) (at places, guessed string, err error) {
	at = places{-1, -1, -1, -1}
	for k, name := range []string{o.Names.Path, o.Names.Label, o.Names.Split, o.Names.True} {
		if name == "" {
			continue
		}
		i := findColumn(header, name)
		if i < 0 || slices.Contains(at[:], i) {
			return at, "", fmt.Errorf("header is %.200q, expected a separate column %.80q for the %s%s",
				strings.Join(header, ","), name, strings.ReplaceAll(ownNames[k], "_", " "), catalog.Ask(name, header))
		}
		at[k] = i
	}
	for k, name := range ownNames {
		if i := findColumn(header, name); at[k] < 0 && !slices.Contains(at[:], i) {
			at[k] = i
		}
	}
	var said []string
	for k, names := range usualNames[:splitColumn] {
		if at[k] >= 0 || k == pathColumn && o.Numbered {
			continue
		}
		if o.Numbered {
			names = []string{"given_label"}
		}
		for _, name := range names {
			if i := findColumn(header, name); i >= 0 && !slices.Contains(at[:], i) {
				at[k] = i
				said = append(said, fmt.Sprintf("%.80q for the %s", strings.TrimSpace(header[i]), ownNames[k]))
				break
			}
		}
	}
	if o.Numbered {
		said = nil // lists of scores have fixed column names, which are not guesses
	}
	return at, strings.Join(said, " and "), nil
}

// findColumn returns the position of a column by its exact name or, if there is none, ignoring letter case and the
// separators between words.
func findColumn(header []string, name string) int {
	if i := slices.Index(header, name); i >= 0 {
		return i
	}
	plain := normalizeHeaderName(name)
	return slices.IndexFunc(header, func(h string) bool { return normalizeHeaderName(h) == plain })
}

func normalizeHeaderName(name string) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(name)))
}

// noteGuessed reports which columns of a table were guessed.
func (o ReadOptions) noteGuessed(name, guessed string) {
	if guessed != "" {
		o.noteLines(name, []string{fmt.Sprintf("took the column %s (%s choose others)", guessed, naming)})
	}
}

// guessSplit uses a column with a common name for splits as the split if its first value names a split.
func (o reading) guessSplit(name string, at *places, header, first, columns []string, extra []int) ([]string, []int) {
	for _, usual := range usualNames[splitColumn] {
		i := findColumn(header, usual)
		k := slices.Index(extra, i)
		if at[splitColumn] >= 0 || k < 0 {
			continue
		}
		if _, err := ParseSplit(first[i]); err == nil {
			at[splitColumn] = i
			o.noteGuessed(name, fmt.Sprintf("%.80q for the split", header[i]))
			return slices.Delete(slices.Clone(columns), k, k+1), slices.Delete(slices.Clone(extra), k, k+1)
		}
	}
	return columns, extra
}

// readTableHeader finds the columns of a table, and the names and positions of all other columns.
func (o reading) readTableHeader(name string, header []string) (at places, columns []string, extra []int, err error) {
	at, guessed, err := o.findColumns(header)
	if err != nil {
		return at, nil, nil, err
	}
	if o.unlabelled != nil {
		*o.unlabelled = at[labelColumn] < 0
	}
	if at[pathColumn] < 0 && !o.Numbered || at[labelColumn] < 0 && o.unlabelled == nil {
		return at, nil, nil, fmt.Errorf("header is %.200q, expected the columns path and label (one class per row, "+
			"not one column per class), or column names given by %s", strings.Join(header, ","), naming)
	}
	seen := make(map[string]bool, len(header))
	for i, h := range header {
		if h == "" && seen[""] {
			h = fmt.Sprintf("column_%d", i+1) // Excel may write several unnamed columns
		}
		own := normalizeHeaderName(h)
		twice := slices.Contains(ownNames[:], own) && findColumn(header[i+1:], own) >= 0 &&
			slices.Contains(at[:], findColumn(header, own))
		if !slices.Contains(at[:], i) {
			h = nameFurtherColumn(h)
			twice = twice || seen[h]
			seen[h] = true
			columns, extra = append(columns, h), append(extra, i)
		}
		if twice {
			return at, nil, nil, fmt.Errorf("column %.80q appears twice in the header", h)
		}
	}
	o.noteGuessed(name, guessed)
	return at, columns, extra, nil
}

// newRow builds a row from the n-th record. If there is no path column, the path is n.
func (at places) newRow(record []string, extra []int, n int) row {
	get := func(k int) string {
		if at[k] < 0 {
			return ""
		}
		return trimLineEnd(record[at[k]])
	}
	r := row{path: get(pathColumn), label: get(labelColumn), split: strings.TrimSpace(get(splitColumn)),
		truth: get(trueColumn)}
	if at[pathColumn] < 0 {
		r.path = strconv.Itoa(n)
	}
	for _, i := range extra {
		r.extra = append(r.extra, record[i])
	}
	return r
}

// trimLineEnd removes line ends from a value but keeps its spaces, because folders and classes may have names with
// spaces at the ends. A value that consists of spaces becomes empty.
func trimLineEnd(value string) string {
	if strings.TrimSpace(value) == "" {
		return ""
	}
	return strings.Trim(value, "\r\n")
}

// nameFurtherColumn returns the name under which a column without a meaning is kept. A name that equals one of
// winnow's own becomes other_NAME.
func nameFurtherColumn(name string) string {
	if own := normalizeHeaderName(name); slices.Contains(ownNames[:], own) {
		return "other_" + own
	}
	return name
}

// looksNamed reports whether the fields of a first line look like column names.
func looksNamed(fields []string) bool {
	if findColumn(fields, ownNames[labelColumn]) >= 0 || findColumn(fields, "given_label") >= 0 {
		return true
	}
	at, _, _ := ReadOptions{}.findColumns(fields)
	return at[pathColumn] >= 0 && at[labelColumn] >= 0
}
