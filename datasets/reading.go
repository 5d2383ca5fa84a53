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

// Reading describes how a source was read, and what was left out.
type Reading struct {
	Form  string     `json:"form"`         // "class folders", "boxes of YOLO", …
	At    string     `json:"at,omitempty"` // folder that holds the classes or splits, if not the source itself
	Left  []Left     `json:"left_out"`     // what was left out
	Alike [][]string `json:"alike"`        // labels that differ only in case, spaces, accents' encoding or zeros

	Within int    `json:"within,omitempty"` // images in folders within that of their class
	First  string `json:"first,omitempty"`  // of these folders
}

// Left counts what was left out for one reason.
type Left struct {
	Reason string `json:"reason"` // "no picture", "no split", "service folder", "not readable"
	Of     string `json:"of"`     // ending, folder, or what it is: pictures, boxes, rows
	Files  int    `json:"files"`
	First  string `json:"first,omitempty"` // of what cannot be read: the first, and why
}

// leftList collects what is left out.
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

// addUnread adds a file, or a part of one, that cannot be read.
func (l *leftList) addUnread(of, where string, err error) {
	if at, ok := err.(*fs.PathError); ok { // not a wrapped one, which may be of another file
		err = at.Err
	}
	l.addMany(notReadable, of, fmt.Sprintf("%s: %v", where, err), 1)
}

// hasUnread reports whether anything could not be read.
func (l leftList) hasUnread() bool {
	return slices.ContainsFunc(l, func(k Left) bool { return k.Reason == notReadable })
}

// sortReasons returns a copy of the list, sorted by reason.
func (l leftList) sortReasons() []Left {
	return slices.SortedFunc(slices.Values(append([]Left{}, l...)), func(a, b Left) int {
		return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Of, b.Of))
	})
}

// explainNone describes the list as the reason why nothing was read, "" if it is empty.
func (l leftList) explainNone() string {
	if len(l) == 0 {
		return ""
	}
	return "; " + strings.Join((&Reading{Left: l.sortReasons()}).Lines(), "; ")
}

// forms describe the formats of files.
var forms = map[Format]string{CSV: "table", TSV: "table with tabs", JSONL: "JSON lines",
	PRISM: "list without a header", COCO: "annotations of COCO", LabelStudio: "export of Label Studio",
	WebDataset: "shards of WebDataset", Parquet: "Parquet with images"}

// newReading describes how a source with these classes was read.
func newReading(form string, classes []string, left []Left) *Reading {
	return &Reading{Form: form, Left: append([]Left{}, left...), Alike: lookAlikes(classes)}
}

// noteReading notes how a source was read: said, and what needs attention.
func (o ReadOptions) noteReading(name string, r *Reading, said ...string) {
	o.noteLines(name, append(said, r.Lines()...))
}

// noteLines notes lines about a source.
func (o ReadOptions) noteLines(name string, lines []string) {
	for _, line := range lines {
		if o.Note != nil {
			o.Note("%s: %s", name, line)
		}
	}
}

// Lines describes a reading, one line for each thing that needs attention; none if it is plain.
func (r *Reading) Lines() (list []string) {
	if r.At != "" {
		list = append(list, fmt.Sprintf("read as %s below %s", r.Form, r.At))
	}
	if r.Within > 0 {
		list = append(list, fmt.Sprintf("%d images are in folders within those of their classes, such as %s", r.Within,
			r.First))
	}
	var left []string
	for _, l := range r.Left {
		of := l.Of
		if l.Files == 1 {
			of = strings.NewReplacer("pictures", "picture", "boxes", "box", "objects", "object", "rows",
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
		quoted := make([]string, len(names)) // so that spaces at their ends are seen, and accents of their own
		for i, n := range names {
			if quoted[i] = strconv.Quote(n); !norm.NFC.IsNormalString(n) {
				quoted[i] = strconv.QuoteToASCII(n)
			}
		}
		list = append(list, "labels that look alike, kept apart: "+strings.Join(quoted, " and "))
	}
	return list
}

// lookAlikes returns the groups of labels that people take for one: they differ only in case, in spaces, in how accents
// are encoded, in separators of words, or in how a number is written.
func lookAlikes(classes []string) [][]string {
	fold, keys, groups := cases.Fold(), make([]string, len(classes)), map[string][]string{}
	for i, c := range classes {
		key := fold.String(norm.NFKC.String(c))
		separates := func(r rune) bool { return unicode.IsSpace(r) || r == '_' || r == '-' }
		v, err := strconv.ParseFloat(strings.TrimSpace(key), 64) // the sign of a number separates nothing
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
