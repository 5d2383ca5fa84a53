// Package suspects reads and writes the list of suspects: one row for each scored image, most suspect first, in CSV or
// JSON. winnow audit writes the list, and winnow studio reads it.
//
// Columns have the same names in both forms:
//
//	rank                          1 is most suspect
//	path                          as in the manifest
//	given_label, suggested_label  the suggested label equals the given label if no other fits better
//	score                         of the given label; higher: more likely right
//	suggested_score               of the suggested label, on the scale of score
//	given_probability,            probability that the label is right; empty if the scorer has no probabilities
//	suggested_probability
//	dropped                       whether the label is flagged
//	true_label                    if the manifest has it
//	nearest_with_given_label,     images that support the label, nearest first, with their cosines
//	nearest_with_suggested_label
//	fit, outlier                  how well the image fits the set, and whether it is an outlier
//	copies_with_other_labels      near-duplicates with another label
//	unjudged                      the only image of its class, so that the score has no meaning
//	copy_group                    number of the image's group of duplicates; empty if it has no duplicate
//	problems, problems_why        problems of the image (dark, blurred …) and the measured values
//	copy_verdict                  right, wrong, or look; only for duplicates with contradicting labels
//	checked                       reviewers' decision about the given label: right or wrong; empty if undecided
//	rate_known                    whether the audit estimated the noise rate; equal in all rows
//	checksum                      of this row and the row before it ([Suspect.Changed]); may be missing
//
// In CSV a list of paths is one field, joined by |. A | in a path is written \|, and a \ is written \\. The other
// values of a list have fields of their own, joined in the same way: cosines in nearest_with_given_label_similarity and
// so on, labels of duplicates in copies_with_other_labels_label. In JSON a list holds objects.
//
// Lists written by other tools need path, given_label (or label), suggested_label (or predicted_label) and score (or
// label_quality, label_score), and may have dropped (or is_label_issue). Other columns are ignored. Without ranks, rows
// are sorted by score; the lowest score is the most suspect.
//
// A file NAME.cleanlab.csv has path and, by the names of cleanlab's table of label issues, is_label_issue (dropped),
// label_score (score), given_label and suggested_label.
//
// A CSV for spreadsheets, written by earlier versions, has the additional column spreadsheet, and a ' in front of texts
// that start like a formula.
//
// The package does not depend on images, vectors or scorers. It imports only internal packages of winnow.
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

// Suspect is one scored image. Files hold the fields with JSON names; the others are used only inside the program.
type Suspect struct {
	Rank  int    `json:"rank"`
	Path  string `json:"path"`
	Given string `json:"given_label"`
	// Suggested is the given label if no other label fits better.
	Suggested string `json:"suggested_label"`
	// Score is the score of the given label; higher means more likely right.
	Score float64 `json:"score"`
	// SuggestedScore is nil if unknown.
	SuggestedScore *float64 `json:"suggested_score"`
	// SuggestedProbability is nil if the scorer gives no probabilities.
	SuggestedProbability *float64 `json:"suggested_probability"`
	// Flagged reports whether the label is flagged as wrong.
	Flagged          bool   `json:"dropped"`
	True             string `json:"true_label,omitempty"`
	SupportGiven     []Near `json:"nearest_with_given_label"`
	SupportSuggested []Near `json:"nearest_with_suggested_label"`
	// Fit is how well the image fits the set (findings.Fits); nil if unknown.
	Fit     *float64 `json:"fit"`
	Outlier bool     `json:"outlier"` // the image fits no class
	Copies  []Copy   `json:"copies_with_other_labels"`
	// GivenProbability is nil if Score is not a probability.
	GivenProbability *float64 `json:"given_probability"`
	// Unjudged reports that there is no image to compare with, as in a class of one image. Score is then meaningless.
	Unjudged bool `json:"unjudged"`
	// CopyGroup is the number of the image's group of duplicates, from 1; 0: it has no duplicate.
	CopyGroup int `json:"copy_group,omitempty"`
	// CopyVerdict is empty unless labels in the image's group contradict each other.
	CopyVerdict Verdict `json:"copy_verdict,omitempty"`
	// Checked is the reviewers' decision about the given label: right, wrong, or "" if undecided.
	Checked Verdict `json:"checked,omitempty"`
	// RateKnown reports whether the audit could estimate the noise rate; it is equal in all rows.
	RateKnown bool `json:"rate_known,omitempty"`
	// Problems lists problems of the image itself, regardless of its label.
	Problems []Problem `json:"problems,omitempty"`
	// Checksum is the checksum of the row; it is set in files only.
	Checksum string `json:"checksum,omitempty"`

	// Changed reports that the row does not match its checksum: it has changed since winnow wrote it.
	Changed bool `json:"-"`

	Row            int `json:"-"` // row in the scored set
	GivenClass     int `json:"-"`
	SuggestedClass int `json:"-"`
	// Order is Score, or its log odds, which avoid ties between probabilities that round to 0 or 1.
	Order float64 `json:"-"`
	Alone bool    `json:"-"` // no other image has its label
}

// Said returns the score of the given label as text: its probability in percent or, without probabilities, the score.
// For a label that a reviewer has checked, it returns the decision instead.
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

// Verdict is a decision about a label: right, wrong or open.
type Verdict string

// The verdicts.
const (
	Kept  Verdict = "right" // for duplicates: likelier than any other label of the group
	Wrong Verdict = "wrong" // for duplicates: another label of the group is likelier
	Look  Verdict = "look"  // for duplicates: no label is clearly likelier, a person must decide
)

// Unjudged is shown in place of a score that has no meaning.
const Unjudged = "not judged"

// Near is an image that is similar to the scored image.
type Near struct {
	Path       string  `json:"path"`
	Similarity float64 `json:"similarity"` // cosine; 0 if the list has none
	Row        int     `json:"-"`          // row in the scored set
}

// Copy is a near-duplicate of the scored image that has another label.
type Copy struct {
	Path       string  `json:"path"`
	Label      string  `json:"label"`
	Similarity float64 `json:"similarity"`
	Row        int     `json:"-"`
}

// Problem is a possible problem of an image, regardless of its label.
type Problem struct {
	Kind string `json:"kind"`
	Why  string `json:"why"`
}

// Format is a file format of the list.
type Format string

// The file formats.
const (
	CSV  Format = "csv"
	JSON Format = "json" // an object with the list as "images", as printed by winnow audit --json, or a bare list

	// Cleanlab is CSV with the column path and the columns of cleanlab's table of label issues.
	Cleanlab Format = "cleanlab.csv"
)

// FormatOf returns the format for a file name, by its extension.
func FormatOf(path string) (Format, error) {
	name := strings.ToLower(path)
	for _, f := range []Format{Cleanlab, CSV, JSON} {
		if strings.HasSuffix(name, "."+string(f)) && !strings.HasSuffix(name, ".labelstudio.json") {
			return f, nil
		}
	}
	return "", fmt.Errorf("%q: expected a name that ends in .csv or .json", path)
}

// Write writes a list in the given order, row by row.
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

// Warning returns the warning that n rows of a list have changed since winnow wrote them, "" if n is 0.
func Warning(path string, n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %s changed since winnow wrote the file (checksums differ); using the file as it is", path,
		text.Plural(n, "row"))
}

// WriteFile writes a list in the format given by the file's extension. It replaces the file atomically.
func WriteFile(path string, list []Suspect) error {
	format, err := FormatOf(path)
	if err != nil {
		return fmt.Errorf("suspects: %w", err)
	}
	return atomicfile.Write(path, func(w io.Writer) error { return Write(w, format, list) })
}

// Read reads a list in the format given by the file's extension, most suspect first.
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

// Each calls yield for each row of a list, in the order of the file. Rank is 0 if the file has no ranks. Each stops at
// an error of yield and returns it unchanged. Texts of a row may be substrings of a larger text: clone a text before
// keeping it for long. calls reports whether the list has values for dropped.
func Each(path string, yield func(Suspect) error) (calls bool, err error) {
	into := &rows{give: yield}
	if err = into.readFile(path); into.refused != nil {
		err = into.refused
	}
	return into.calls, err
}

// rows passes each row to give as it is read.
type rows struct {
	give    func(Suspect) error
	refused error // error returned by give

	sums   seal.Rows
	summed bool // rows have checksums
	cells  []string

	names  map[string]string // interned paths and labels, which rows share; nil: no interning
	given  int
	ranked int  // rows with a rank
	calls  bool // some row has a value for dropped
}

// internText returns the first of equal texts, so that each distinct text is held in memory once.
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

// passRow completes a row and passes it to give.
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
	if len(e.Checksum) != seal.RowLength || e.Checksum[0] != 'x' { // checksum of another tool
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

// readFile passes all rows of a file to give. It returns an error if only some rows have ranks.
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
		err = errors.New("no rows, expected rows with path, given_label, suggested_label and score")
	case r.ranked > 0 && r.ranked < r.given:
		err = fmt.Errorf("%d of %d rows have a rank, expected all or none", r.ranked, r.given)
	}
	if err != nil {
		return fmt.Errorf("suspects: %s: %w", path, err)
	}
	return nil
}

// bounded limits the bytes of a row. Otherwise a missing quote would read the whole file into memory.
type bounded struct {
	r    io.Reader
	left int // bytes left for the current row
}

// mostOfRow is the largest number of bytes of a row.
const mostOfRow = 16 << 20

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("a row is longer than %d MiB; check for a missing closing quote or bracket", mostOfRow>>20)
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
