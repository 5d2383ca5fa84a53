package datasets

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"winnow/internal/catalog"
)

// Names are what a table calls its columns (or keys): "" is winnow's own name, or for the path and the label a guess.
type Names struct{ Path, Label, Split, True string }

// The columns of a table that have a meaning, by their places in ownNames.
const (
	pathColumn = iota
	labelColumn
	splitColumn
	trueColumn
)

// ownNames are what winnow calls the columns.
var ownNames = [...]string{pathColumn: "path", labelColumn: "label", splitColumn: "split", trueColumn: "true_label"}

// usualNames are what others call the path and the label, the surer first, in lower case with _ between words. A split is
// not guessed, since its values go by too many names, and never the truth.
var usualNames = [...][]string{
	pathColumn:  {fileName, "filename", "filepath", "file_path", "filepaths", "image_path", "img_path", "image_file", "image_name", "image_filename", "file", "image", "img", "image_id"},
	labelColumn: {"labels", "class", "class_name", "class_label", "category", "category_name", "label_name", "target", "class_id", "label_id", "category_id", "choice"},
}

// fileName is Hugging Face's column of paths.
const fileName = "file_name"

// places are where columns stand in a header, -1 where there is none.
type places [len(ownNames)]int

// named reports whether any column is named.
func (o ReadOptions) named() bool { return o.Names != Names{} }

// place finds the columns in a header: those that are named, those with winnow's own names, and for the path and the label
// the usual names of others. guessed says in a line which of these were taken, "" where none was.
func (o ReadOptions) place(header []string) (at places, guessed string, err error) {
	at = places{-1, -1, -1, -1}
	for k, name := range []string{o.Names.Path, o.Names.Label, o.Names.Split, o.Names.True} {
		if name == "" {
			continue
		}
		i := find(header, name)
		if i < 0 {
			return at, "", fmt.Errorf("header is %.200q, expected the column %.80q for the %s%s", strings.Join(header, ","), name, strings.ReplaceAll(ownNames[k], "_", " "), catalog.Ask(name, header))
		}
		if was := slices.Index(at[:], i); was >= 0 {
			return at, "", fmt.Errorf("column %.80q is named for the %s and for the %s, expected one of each", name, ownNames[was], ownNames[k])
		}
		at[k] = i
	}
	for k, name := range ownNames {
		if i := find(header, name); at[k] < 0 && !slices.Contains(at[:], i) {
			at[k] = i
		}
	}
	var said []string
	for k, names := range usualNames {
		if at[k] >= 0 || k == pathColumn && o.Numbered {
			continue
		}
		if k == labelColumn && o.Numbered {
			names = []string{"given_label"}
		}
		for _, name := range names {
			if i := find(header, name); i >= 0 && !slices.Contains(at[:], i) {
				at[k] = i
				said = append(said, fmt.Sprintf("%.80q for the %s", strings.TrimSpace(header[i]), ownNames[k]))
				break
			}
		}
	}
	if o.Numbered {
		said = nil // what judged lists are called is no guess
	}
	return at, strings.Join(said, " and "), nil
}

// find returns where a column stands, by its name as it is or else in any letter case and with any space between words.
func find(header []string, name string) int {
	if i := slices.Index(header, name); i >= 0 {
		return i
	}
	plain := plainly(name)
	return slices.IndexFunc(header, func(h string) bool { return plainly(h) == plain })
}

func plainly(name string) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(name)))
}

// tell says aloud what of a table was guessed.
func (o ReadOptions) tell(name, guessed string) {
	if guessed != "" && o.Note != nil {
		o.Note("%s: took the column %s (winnow data import --path-column --label-column names others)", name, guessed)
	}
}

// header finds the columns of a table called so, with the names and places of those that have no meaning.
func (o reading) header(name string, header []string) (at places, columns []string, extra []int, err error) {
	at, guessed, err := o.place(header)
	if err != nil {
		return at, nil, nil, err
	}
	for i, h := range header {
		if own := plainly(h); slices.Contains(ownNames[:], own) && find(header[i+1:], own) >= 0 && slices.Contains(at[:], find(header, own)) {
			return at, nil, nil, fmt.Errorf("column %q appears twice in the header", own)
		}
		if slices.Contains(at[:], i) {
			continue
		}
		h = further(h)
		if slices.Contains(columns, h) {
			return at, nil, nil, fmt.Errorf("column %.80q appears twice in the header", h)
		}
		columns, extra = append(columns, h), append(extra, i)
	}
	if o.unlabelled != nil {
		*o.unlabelled = at[labelColumn] < 0
	}
	if at[pathColumn] < 0 && !o.Numbered || at[labelColumn] < 0 && o.unlabelled == nil {
		return at, nil, nil, fmt.Errorf("header is %.200q, expected the columns path and label, or others that winnow data import --path-column --label-column names", strings.Join(header, ","))
	}
	o.tell(name, guessed)
	return at, columns, extra, nil
}

// row takes a record apart, the n-th; where there is no column of paths, n stands for it.
func (at places) row(record []string, extra []int, n int) row {
	get := func(k int) string {
		if at[k] < 0 {
			return ""
		}
		return strings.TrimSpace(record[at[k]])
	}
	r := row{path: get(pathColumn), label: get(labelColumn), split: get(splitColumn), truth: get(trueColumn)}
	if at[pathColumn] < 0 {
		r.path = strconv.Itoa(n)
	}
	for _, i := range extra {
		r.extra = append(r.extra, record[i])
	}
	return r
}

// further returns the name of a column without a meaning: one that stands in the place of winnow's own is called other_NAME.
func further(name string) string {
	if own := plainly(name); slices.Contains(ownNames[:], own) {
		return "other_" + own
	}
	return name
}

// looksNamed reports whether the fields of a first line name columns.
func looksNamed(fields []string) bool {
	if find(fields, ownNames[labelColumn]) >= 0 || find(fields, "given_label") >= 0 {
		return true
	}
	at, _, _ := ReadOptions{}.place(fields)
	return at[pathColumn] >= 0 && at[labelColumn] >= 0
}
