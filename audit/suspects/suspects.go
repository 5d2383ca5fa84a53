// Package suspects is the table of judged images on disk: one row an image, most suspect first, as winnow audit writes
// it and winnow studio reads it, in CSV and JSON.
//
// Columns have the same names in both forms:
//
//	rank                          1 is most suspect
//	path                          as in the manifest
//	given_label, suggested_label  the suggested label is the given one if none fits better
//	score                         higher if the given label looks more right
//	suggested_score               of the suggested label, on the scale of score
//	given_probability,            that the label is right; empty if the scorer gives no probabilities
//	suggested_probability
//	dropped                       the label is called wrong
//	true_label                    if the manifest has it
//	nearest_with_given_label,     images that support the label, nearest first, with their cosines
//	nearest_with_suggested_label
//	fit, outlier                  whether the image fits the set, or is a outlier
//	copies_with_other_labels      near copies
//	unjudged                      alone in its class, so that score says nothing
//	copy_group                    number of the group of copies of one picture; empty if it has no copy
//	problems, problems_why        of the picture: dark, blurred …, and what was measured
//	copy_verdict                  of copies whose labels contradict each other: right, wrong, or look
//	checked                       what people decided about the given label: right or wrong; empty if nothing yet
//	rate_known                    the audit knows how many labels are wrong in all, the same in each row
//	checksum                      of the row and the one before it ([Suspect.Changed]); files without it are read, too
//
// In CSV a list of paths is one field, joined by |. A | in a path is written \|, and a \ is written \\. The other
// values of a list have fields of their own, joined in the same way: cosines in nearest_with_given_label_similarity
// and so on, labels of copies in copies_with_other_labels_label. In JSON a list holds objects.
//
// Lists made by other tools need path, given_label (or label), suggested_label (or predicted_label) and score (or
// label_quality, label_score), and may have dropped (or is_label_issue). Other columns are ignored. Without ranks the
// lowest score is the most suspect.
//
// A file NAME.cleanlab.csv has path and, by the names of cleanlab's table of label issues, is_label_issue (dropped),
// label_score (score), given_label and suggested_label.
//
// A CSV for spreadsheets, as earlier versions wrote it, has another column, spreadsheet, and a ' in front of texts that
// begin like a formula.
//
// The package knows no images, no vectors and no scorer. It imports nothing of winnow.
package suspects

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"winnow/internal/atomicfile"
	"winnow/internal/regular"
	"winnow/internal/seal"
	"winnow/internal/text"
)

// Suspect is one judged image, from the judge to the file and the page. Files hold the fields with JSON names; the
// others are for the program that judged.
type Suspect struct {
	Rank  int    `json:"rank"`
	Path  string `json:"path"`
	Given string `json:"given_label"`
	// Suggested is the given label if none fits better.
	Suggested string `json:"suggested_label"`
	// Score of the given label: higher if it looks more right.
	Score float64 `json:"score"`
	// SuggestedScore is nil if unknown.
	SuggestedScore *float64 `json:"suggested_score"`
	// SuggestedProbability is nil if the scorer gives no probabilities.
	SuggestedProbability *float64 `json:"suggested_probability"`
	// Dropped reports whether the label is flagged as wrong.
	Dropped          bool   `json:"dropped"`
	True             string `json:"true_label,omitempty"`
	SupportGiven     []Near `json:"nearest_with_given_label"`
	SupportSuggested []Near `json:"nearest_with_suggested_label"`
	// Fit to the set (findings.Company); nil if unknown.
	Fit     *float64 `json:"fit"`
	Outlier bool     `json:"outlier"` // fits no class
	Copies  []Copy   `json:"copies_with_other_labels"`
	// GivenProbability is nil if Score is no probability.
	GivenProbability *float64 `json:"given_probability"`
	// Unjudged says that there is nothing to compare with, as for an image alone in its class: Score means nothing.
	Unjudged bool `json:"unjudged"`
	// CopyGroup is the number of the group of copies that the image is in, from 1; 0: it has no copy.
	CopyGroup int `json:"copy_group,omitempty"`
	// CopyVerdict is empty unless the labels of the group contradict each other.
	CopyVerdict Verdict `json:"copy_verdict,omitempty"`
	// Checked is what people decided about the given label: right, wrong, or "" for nothing yet.
	Checked Verdict `json:"checked,omitempty"`
	// RateKnown reports whether the audit could estimate how many labels are wrong in all; it is equal in all rows.
	RateKnown bool `json:"rate_known,omitempty"`
	// Problems of the picture, apart from its label.
	Problems []Problem `json:"problems,omitempty"`
	// Checksum of the row, in files only.
	Checksum string `json:"checksum,omitempty"`

	// Changed says that the row that was read is not as it was written, by its checksum.
	Changed bool `json:"-"`

	Row            int `json:"-"` // in the judged set
	GivenClass     int `json:"-"`
	SuggestedClass int `json:"-"`
	// Order is Score, or its log odds, which do not tie if a probability rounds to 0 or 1.
	Order float64 `json:"-"`
	Alone bool    `json:"-"` // no other image has its label
}

// Said returns how right the given label looks, as text: a probability in percent, else the score.
func (e *Suspect) Said() string {
	switch {
	case e.Checked != "":
		return "checked: " + string(e.Checked)
	case e.Unjudged:
		return Unjudged
	case e.GivenProbability != nil:
		return text.Chance(*e.GivenProbability)
	}
	return text.Score(e.Score)
}

// Verdict says whether a label is right.
type Verdict string

// The verdicts.
const (
	Kept  Verdict = "right" // of copies: likelier than any other label of the group
	Wrong Verdict = "wrong" // of copies: another label of the group is likelier
	Look  Verdict = "look"  // none is clearly likelier: somebody has to look
)

// Unjudged replaces a score that says nothing.
const Unjudged = "not judged"

// Near is an image close to the judged one.
type Near struct {
	Path       string  `json:"path"`
	Similarity float64 `json:"similarity"` // cosine; 0 if the list has none
	Row        int     `json:"-"`          // in the judged set
}

// Copy is a near copy of the judged image that has another label.
type Copy struct {
	Path       string  `json:"path"`
	Label      string  `json:"label"`
	Similarity float64 `json:"similarity"`
	Row        int     `json:"-"`
}

// Problem is what may be wrong with a picture, whatever its label.
type Problem struct {
	Kind string `json:"kind"`
	Why  string `json:"why"`
}

// Format is a form of the table.
type Format string

// The forms.
const (
	CSV  Format = "csv"
	JSON Format = "json" // the list as "images" of an object, as winnow audit --json has it, or alone

	// Cleanlab is CSV with path and the columns of cleanlab's table of label issues.
	Cleanlab Format = "cleanlab.csv"
)

// FormatOf returns the form that the ending of a file's name stands for.
func FormatOf(path string) (Format, error) {
	name := strings.ToLower(path)
	for _, f := range []Format{Cleanlab, CSV, JSON} {
		if strings.HasSuffix(name, "."+string(f)) && !strings.HasSuffix(name, ".labelstudio.json") {
			return f, nil
		}
	}
	return "", fmt.Errorf("%q: expected a name that ends in .csv or .json", path)
}

// Write writes a list in its order, a row at a time.
func Write(w io.Writer, format Format, list []Suspect) error {
	switch format {
	case CSV:
		return writeCSV(w, list, columns)
	case Cleanlab:
		return writeCSV(w, list, cleanlab)
	}
	return writeJSON(w, list)
}

// Summed yields each row of a list with its checksum.
func Summed(list []Suspect) iter.Seq[*Suspect] {
	return func(yield func(*Suspect) bool) {
		var sums seal.Rows
		var cells []string
		for _, e := range list {
			cells = e.appendCells(cells[:0])
			if e.Checksum = sums.Sum(cells); !yield(&e) {
				return
			}
		}
	}
}

// Warning is the line about a list of which n rows have changed since they were written, "" if none has.
func Warning(path string, n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %s changed since winnow wrote it, by their checksums: it is read as it is", path,
		text.Plural(n, "row"))
}

// WriteFile writes a list in the form that the file's name ends in, whole or not at all.
func WriteFile(path string, list []Suspect) error {
	format, err := FormatOf(path)
	if err != nil {
		return fmt.Errorf("suspects: %w", err)
	}
	return atomicfile.Write(path, func(w io.Writer) error { return Write(w, format, list) })
}

// Read reads a list of the form that the file's name ends in, most suspect first.
func Read(path string) (list []Suspect, err error) {
	into := &rows{names: map[string]string{}, give: func(e Suspect) error {
		list = append(list, e)
		return nil
	}}
	if err := into.readFile(path); err != nil {
		return nil, err
	}
	if list[0].Rank > 0 {
		slices.SortStableFunc(list, func(a, b Suspect) int { return cmp.Compare(a.Rank, b.Rank) })
		return list, nil
	}
	slices.SortStableFunc(list, func(a, b Suspect) int { return cmp.Compare(a.Score, b.Score) })
	for i := range list {
		list[i].Rank = i + 1
	}
	return list, nil
}

// Each passes the rows of a list to yield one by one, in the order of the file. Rank is 0 if the file has no ranks. An
// error of yield ends the reading and is returned unchanged. Texts of a row may be parts of a longer one: a caller that
// keeps a few of many should clone them. calls reports whether the list says which labels are flagged.
func Each(path string, yield func(Suspect) error) (calls bool, err error) {
	into := &rows{give: yield}
	if err = into.readFile(path); into.refused != nil {
		err = into.refused
	}
	return into.calls, err
}

// rows passes on what is read, row by row.
type rows struct {
	give    func(Suspect) error
	refused error // of give

	sums   seal.Rows
	summed bool // rows have checksums
	cells  []string

	names  map[string]string // each path and label once, since rows name each other; nil: texts as they are read
	given  int
	ranked int  // rows with a rank
	calls  bool // a row says whether its label is flagged
}

// internText returns the first of equal texts, so that each is held once.
func (r *rows) internText(s string) string {
	if r.names == nil {
		return s
	}
	if known, ok := r.names[s]; ok {
		return known
	}
	s = strings.Clone(s) // do not keep a whole line
	r.names[s] = s
	return s
}

// passRow passes a row on.
func (r *rows) passRow(e Suspect) error {
	if e.SupportGiven == nil { // JSON shows an empty list, not null
		e.SupportGiven = []Near{}
	}
	if e.SupportSuggested == nil {
		e.SupportSuggested = []Near{}
	}
	if e.Copies == nil {
		e.Copies = []Copy{}
	}
	r.given++
	if e.Rank > 0 {
		r.ranked++
	}
	if len(e.Checksum) != seal.RowLength || e.Checksum[0] != 'x' { // another tool's
		e.Checksum = ""
	}
	if e.Checksum != "" || r.summed {
		r.cells = e.appendCells(r.cells[:0])
		e.Changed = !r.sums.Fits(r.cells, e.Checksum)
		e.Checksum, r.summed = "", true
	}
	r.refused = r.give(e)
	return r.refused
}

// readFile passes all rows of a file on. It refuses lists in which only some rows have ranks.
func (r *rows) readFile(path string) error {
	format, err := FormatOf(path)
	if err != nil {
		return fmt.Errorf("suspects: %w", err)
	}
	f, err := regular.Open(path)
	if err != nil {
		return fmt.Errorf("suspects: %w", err)
	}
	defer f.Close()
	if format == JSON {
		err = readJSON(f, r)
	} else {
		err = readCSV(f, r)
	}
	switch {
	case err != nil:
	case r.given == 0:
		err = errors.New("no image found, expected rows of path, given_label, suggested_label and score")
	case r.ranked > 0 && r.ranked < r.given:
		err = fmt.Errorf("%d of %d rows have a rank, expected all or none", r.ranked, r.given)
	}
	if err != nil {
		return fmt.Errorf("suspects: %s: %w", path, err)
	}
	return nil
}

// bounded limits the bytes of a row, so that a missing quote does not read the whole file into memory.
type bounded struct {
	r    io.Reader
	left int // bytes
}

// mostOfRow is the largest number of bytes of a row.
const mostOfRow = 16 << 20

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("a row takes more than %d MiB: is a quote or a bracket not closed", mostOfRow>>20)
	}
	n, err := b.r.Read(p)
	b.left -= n
	return n, err
}

// skipByteOrderMark skips a byte order mark.
func skipByteOrderMark(r io.Reader) *bufio.Reader {
	in := bufio.NewReaderSize(r, 1<<16)
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		_, _ = in.Discard(3) // just peeked
	}
	return in
}
