package datasets

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Reading describes how a source was read and what was left out.
type Reading struct {
	Form  string     `json:"form"`         // "class folders", "boxes of YOLO", …
	At    string     `json:"at,omitempty"` // folder with the classes or splits; "" for the source itself
	Left  []Left     `json:"left_out"`     // what was left out
	Alike [][]string `json:"alike"`        // groups of labels that differ only in spelling, see lookAlikes

	Within int    `json:"within,omitempty"` // images in subfolders of their class folder
	First  string `json:"first,omitempty"`  // the first such folder
}

// Left counts what was left out for one reason.
type Left struct {
	Reason string `json:"reason"` // "no image", "no split", "service folder", "not readable"
	Of     string `json:"of"`     // file extension, folder name, or kind of thing: images, boxes, rows
	Files  int    `json:"files"`
	First  string `json:"first,omitempty"` // the first unreadable thing, with the error
}

// leftList collects what was left out.
type leftList []Left

func (l *leftList) addOne(reason, of string) { l.addMany(reason, of, "", 1) }

func (l *leftList) addMany(reason, of, first string, n int) {
	for i := range *l {
		if k := &(*l)[i]; k.Reason == reason && k.Of == of {
			k.Files += n
			return
		}
	}
	if n > 0 {
		*l = append(*l, Left{reason, of, n, first})
	}
}

// addUnread counts a file or a part of a file that cannot be read.
func (l *leftList) addUnread(of, where string, err error) {
	if at, ok := err.(*fs.PathError); ok { // a wrapped PathError may be about another file
		err = at.Err
	}
	l.addMany(notReadable, of, fmt.Sprintf("%s: %v", where, err), 1)
}

// hasUnread reports whether the list has an unreadable file or part of a file.
func (l leftList) hasUnread() bool {
	return slices.ContainsFunc(l, func(k Left) bool { return k.Reason == notReadable })
}

// sortReasons returns a copy of the list, sorted by reason.
func (l leftList) sortReasons() []Left {
	return slices.SortedFunc(slices.Values(append([]Left{}, l...)), func(a, b Left) int {
		return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Of, b.Of))
	})
}

// explainNone formats the list as the reason why no sample was read; "" if the list is empty.
func (l leftList) explainNone() string {
	if len(l) == 0 {
		return ""
	}
	return "; " + strings.Join((&Reading{Left: l.sortReasons()}).Lines(), "; ")
}

// forms holds the names of the formats, for messages.
var forms = map[Format]string{CSV: "table", TSV: "table with tabs", JSONL: "JSON lines",
	PRISM: "list without a header", COCO: "annotations of COCO", LabelStudio: "export of Label Studio",
	WebDataset: "shards of WebDataset", Parquet: "Parquet with images"}

// newReading returns the Reading of a source with these classes.
func newReading(form string, classes []string, left []Left) *Reading {
	return &Reading{Form: form, Left: append([]Left{}, left...), Alike: lookAlikes(classes)}
}

// noteReading reports how a source was read: the lines said, and the lines of r.
func (o ReadOptions) noteReading(name string, r *Reading, said ...string) {
	o.noteLines(name, append(said, r.Lines()...))
}

// noteLines reports lines about a source.
func (o ReadOptions) noteLines(name string, lines []string) {
	for _, line := range lines {
		if o.Note != nil {
			o.Note("%s: %s", name, line)
		}
	}
}

// Lines returns one line for each peculiarity of a reading that needs attention.
func (r *Reading) Lines() (list []string) {
	if r.At != "" {
		list = append(list, fmt.Sprintf("read as %s below %s", r.Form, r.At))
	}
	if r.Within > 0 {
		list = append(list, fmt.Sprintf("%d images are in subfolders of their class folders, such as %s", r.Within,
			r.First))
	}
	var left []string
	for _, l := range r.Left {
		of := l.Of
		if l.Files == 1 {
			of = strings.NewReplacer("images", "image", "boxes", "box", "objects", "object", "rows",
				"row", "files", "file", "folders", "folder").Replace(of)
		}
		if l.First != "" {
			l.Reason += ", such as " + l.First
		}
		left = append(left, fmt.Sprintf("%d %s (%s)", l.Files, of, l.Reason))
	}
	if len(left) > 0 {
		list = append(list, "left out: "+strings.Join(left, ", "))
	}
	for _, names := range r.Alike {
		quoted := make([]string, len(names)) // quotes show spaces at the ends; escapes show combining accents
		for i, n := range names {
			if quoted[i] = strconv.Quote(n); !norm.NFC.IsNormalString(n) {
				quoted[i] = strconv.QuoteToASCII(n)
			}
		}
		list = append(list, "similar labels kept as different classes: "+strings.Join(quoted, " and "))
	}
	return list
}

// lookAlikes returns groups of labels that people take for the same label. Labels of a group differ only in letter
// case, spaces, the encoding of accents, word separators, or the notation of a number.
func lookAlikes(classes []string) [][]string {
	fold, keys, groups := cases.Fold(), make([]string, len(classes)), map[string][]string{}
	for i, c := range classes {
		key := fold.String(norm.NFKC.String(c))
		separates := func(r rune) bool { return unicode.IsSpace(r) || r == '_' || r == '-' }
		v, err := strconv.ParseFloat(strings.TrimSpace(key), 64) // parsed before splitting at -, which may be a sign
		if key = strings.Join(strings.FieldsFunc(key, separates), " "); err == nil {
			key = strconv.FormatFloat(v, 'g', -1, 64)
		}
		keys[i], groups[key] = key, append(groups[key], c)
	}
	list := [][]string{}
	for i, c := range classes { // in the order of the classes
		if group := groups[keys[i]]; len(group) > 1 && group[0] == c {
			list = append(list, group)
		}
	}
	return list
}
