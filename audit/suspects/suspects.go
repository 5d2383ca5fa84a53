// Package suspects is the table of judged images on disk: one row an image, most suspect first, as winnow audit writes
// it and winnow review reads it, in CSV, lines of JSON, JSON and Parquet.
//
// Columns, by the same names in every form: rank (1 is most suspect), path (as in the manifest), given_label,
// suggested_label (the given one where none fits better), score (the higher, the more right the given label looks),
// suggested_score (of the suggested label, on the scale of score), suggested_probability (that the suggested label is
// right; empty where the scorer gives no probabilities), dropped (among those called wrong), true_label (where the
// manifest knows it), nearest_with_given_label and nearest_with_suggested_label (images that speak for either, nearest
// first, with their cosines), fit and outlier (whether the image fits any class), copies_with_other_labels,
// given_probability (that the given label is right; empty as suggested_probability is), unjudged (alone in its class, so
// that score says nothing).
//
// In CSV a list of paths is one field, joined by |. A | that stands in a path is written \|, and a \ is written \\.
// What belongs to the paths of a list stands in fields of its own, joined in the same way: their cosines in
// nearest_with_given_label_similarity and so on, the labels of copies in copies_with_other_labels_label. In JSON and
// Parquet a list holds objects. Lists made by other tools need path, given_label (or label), suggested_label (or
// predicted_label) and score (or label_quality, label_score), and may have dropped (or is_label_issue); other columns are
// passed over. Without ranks the lowest score is the most suspect.
//
// A file NAME.cleanlab.csv has path and what cleanlab's table of label issues calls is_label_issue (dropped), label_score
// (score), given_label and suggested_label.
//
// A CSV for spreadsheets (WriteSpreadsheet) has one more column, spreadsheet, and a ' in front of texts that begin like a
// formula.
//
// The package knows no images, no vectors and no scorer. It imports nothing of winnow.
package suspects

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"winnow/internal/atomicfile"
	"winnow/internal/regular"
	"winnow/internal/text"
)

// Suspect is one judged image, from the judge to the file and the page. Numbers are for the program that judged; files
// hold the other fields.
type Suspect struct {
	Rank                 int      `json:"rank" parquet:"rank"`
	Path                 string   `json:"path" parquet:"path"`
	Given                string   `json:"given_label" parquet:"given_label,dict"`
	Suggested            string   `json:"suggested_label" parquet:"suggested_label,dict"`                 // the given label if none fits better
	Score                float64  `json:"score" parquet:"score"`                                          // of the given label; higher: cleaner
	SuggestedScore       *float64 `json:"suggested_score" parquet:"suggested_score,optional"`             // nil: not known
	SuggestedProbability *float64 `json:"suggested_probability" parquet:"suggested_probability,optional"` // nil: the score is none
	Dropped              bool     `json:"dropped" parquet:"dropped"`                                      // called wrong
	True                 string   `json:"true_label,omitempty" parquet:"true_label,optional,dict"`
	SupportGiven         []Near   `json:"nearest_with_given_label" parquet:"nearest_with_given_label,list"`
	SupportSuggested     []Near   `json:"nearest_with_suggested_label" parquet:"nearest_with_suggested_label,list"`
	Fit                  *float64 `json:"fit" parquet:"fit,optional"` // to the class that it fits best, in deviations; nil: not known
	Outlier              bool     `json:"outlier" parquet:"outlier"`  // fits no class
	Copies               []Copy   `json:"copies_with_other_labels" parquet:"copies_with_other_labels,list"`
	GivenProbability     *float64 `json:"given_probability" parquet:"given_probability,optional"` // nil: Score is no probability
	Unjudged             bool     `json:"unjudged" parquet:"unjudged"`                            // alone in its class: Score says nothing

	Row            int     `json:"-" parquet:"-"` // in the judged set
	GivenClass     int     `json:"-" parquet:"-"`
	SuggestedClass int     `json:"-" parquet:"-"`
	Order          float64 `json:"-" parquet:"-"` // as Score, without ties where a probability rounds to 0 or 1 (its log odds)
	Alone          bool    `json:"-" parquet:"-"` // no other image has its label
}

// Said says for people how right the given label looks: a probability in percent, else the score.
func (e *Suspect) Said() string {
	switch {
	case e.Unjudged:
		return Unjudged
	case e.GivenProbability != nil:
		return text.Chance(*e.GivenProbability)
	}
	return text.Score(e.Score)
}

// Unjudged is said in the place of a score that says nothing.
const Unjudged = "not judged"

// Near is an image close to the judged one.
type Near struct {
	Path       string  `json:"path" parquet:"path"`
	Similarity float64 `json:"similarity" parquet:"similarity"` // cosine; 0 if a list does not tell it
	Row        int     `json:"-" parquet:"-"`                   // in the judged set
}

// nearby are an entry's lists of images close to it, by their names in files.
var nearby = []struct {
	name string
	of   func(e *Suspect) *[]Near
}{
	{"nearest_with_given_label", func(e *Suspect) *[]Near { return &e.SupportGiven }},
	{"nearest_with_suggested_label", func(e *Suspect) *[]Near { return &e.SupportSuggested }},
}

// Copy is a near copy of the judged image that has another label.
type Copy struct {
	Path       string  `json:"path" parquet:"path"`
	Label      string  `json:"label" parquet:"label,dict"`
	Similarity float64 `json:"similarity" parquet:"similarity"`
	Row        int     `json:"-" parquet:"-"`
}

// Format is a form of the table.
type Format string

// The forms.
const (
	CSV     Format = "csv"
	JSONL   Format = "jsonl"   // an object a line
	JSON    Format = "json"    // the list as "images" of an object, as winnow audit --json has it, or alone
	Parquet Format = "parquet" // Snappy compressed

	// Cleanlab is CSV with path and the columns of cleanlab's table of label issues, for what reads that.
	Cleanlab Format = "cleanlab.csv"
)

// FormatOf tells the form by the ending of a file's name.
func FormatOf(path string) (Format, error) {
	if strings.HasSuffix(strings.ToLower(path), "."+string(Cleanlab)) {
		return Cleanlab, nil
	}
	if strings.HasSuffix(strings.ToLower(path), ".labelstudio.json") {
		return "", fmt.Errorf("%q is the name of tasks for Label Studio, which winnow review SUSPECTS --export --out makes of a list in another file", path)
	}
	ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	switch f := Format(ending); f {
	case CSV, JSONL, JSON, Parquet:
		return f, nil
	case "ndjson":
		return JSONL, nil
	}
	return "", fmt.Errorf("%q ends in none of .csv, .jsonl, .json, .parquet", path)
}

// Write writes a list in its order, a row at a time.
func Write(w io.Writer, format Format, list []Suspect) error {
	switch format {
	case CSV:
		return writeCSV(w, list, columns, false)
	case Cleanlab:
		return writeCSV(w, list, cleanlab, false)
	case JSONL:
		return writeJSONL(w, list)
	case JSON:
		return writeJSON(w, list)
	case Parquet:
		return writeParquet(w, list)
	}
	return fmt.Errorf("suspects: format %q is unknown, expected %s, %s, %s, %s or %s", format, CSV, JSONL, JSON, Parquet, Cleanlab)
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
	err = opened(path, func(src io.ReaderAt, size int64, format Format) (err error) {
		list, err = read(src, size, format)
		return err
	})
	return list, err
}

// Each gives the rows of a list one after the other, in the file's order and never all at once; Rank is 0 where the file
// tells none. An error of yield ends the reading and is returned unchanged. Texts of one row may be parts of a longer one:
// a caller that keeps a few of many clones them. calls reports whether the list tells which labels are called wrong.
func Each(path string, yield func(Suspect) error) (calls bool, err error) {
	into := &rows{give: yield}
	err = opened(path, func(src io.ReaderAt, size int64, format Format) error { return into.readAll(src, size, format) })
	if into.refused != nil {
		err = into.refused
	}
	return into.calls, err
}

// opened reads a file, and names it in errors, which begin with ":LINE: " or ": ".
func opened(path string, read func(src io.ReaderAt, size int64, format Format) error) error {
	format, err := FormatOf(path)
	if err != nil {
		return fmt.Errorf("suspects: %w", err)
	}
	f, err := regular.Open(path)
	if err != nil {
		return fmt.Errorf("suspects: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("suspects: %w", err)
	}
	if info.IsDir() {
		return fmt.Errorf("suspects: %s: is a folder, expected a file that winnow audit --out wrote", path)
	}
	if err := read(f, info.Size(), format); err != nil {
		return fmt.Errorf("suspects: %s%w", path, err)
	}
	return nil
}

// read reads what has a size, as a whole.
func read(src io.ReaderAt, size int64, format Format) (list []Suspect, err error) {
	into := &rows{names: map[string]string{}, give: func(e Suspect) error {
		list = append(list, e)
		return nil
	}}
	if err := into.readAll(src, size, format); err != nil {
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

// rows takes what is read, row after row.
type rows struct {
	give    func(Suspect) error
	refused error // what give said

	names map[string]string // every path and label once, for rows name each other and labels are few; nil: as they are read
	given int
	told  int       // rows that have a rank
	calls bool      // a row tells whether its label is called wrong
	group []Suspect // of a Parquet file, which has columns
	room  int64     // bytes that rows of such a file may still take
}

// same returns the text that was read first among equals.
func (r *rows) same(s string) string {
	if r.names == nil {
		return s
	}
	if known, ok := r.names[s]; ok {
		return known
	}
	s = strings.Clone(s) // not a view of a whole line
	r.names[s] = s
	return s
}

// take passes a row on.
func (r *rows) take(e Suspect) error {
	r.given++
	if e.Rank > 0 {
		r.told++
	}
	r.refused = r.give(e)
	return r.refused
}

// readAll passes all rows on. Either all have ranks or none.
func (r *rows) readAll(src io.ReaderAt, size int64, format Format) (err error) {
	switch in := io.NewSectionReader(src, 0, size); format {
	case CSV, Cleanlab:
		err = readCSV(in, r)
	case JSONL:
		err = readJSONL(in, r)
	case JSON:
		err = readJSON(in, r)
	default:
		err = readParquet(src, size, r)
	}
	switch {
	case err != nil:
		return err
	case r.given == 0:
		return fmt.Errorf(": no image found, expected at least one row of path, given_label, suggested_label and score")
	case r.told > 0 && r.told < r.given:
		return fmt.Errorf(": %d of %d rows have a rank, expected all or none", r.told, r.given)
	}
	return nil
}
