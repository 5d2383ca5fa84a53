// Package suspects is the table of judged images on disk: one row an image, most suspect first, as winnow audit writes
// it and winnow review reads it, in CSV, lines of JSON, JSON and Parquet.
//
// Columns, by the same names in every form: rank (1 is most suspect), path (as in the manifest), given_label,
// suggested_label (the given one where none fits better), score (the higher, the more right the given label looks),
// suggested_score (of the suggested label, on the scale of score), suggested_probability (that the suggested label is
// right; empty where the scorer gives no probabilities), dropped (among those called wrong), true_label (where the
// manifest knows it), nearest_with_given_label and nearest_with_suggested_label (images that speak for either, nearest
// first, with their cosines), fit and outlier (whether the image fits any class), copies_with_other_labels.
//
// In CSV a list of paths is one field, joined by |. A | that stands in a path is written \|, and a \ is written \\.
// What belongs to the paths of a list stands in fields of its own, joined in the same way: their cosines in
// nearest_with_given_label_similarity and so on, the labels of copies in copies_with_other_labels_label. In JSON and
// Parquet a list holds objects. Lists made by other tools need path, given_label (or label), suggested_label (or
// predicted_label) and score (or label_quality, label_score); other columns are passed over. Without ranks the lowest
// score is the most suspect.
//
// The package knows no images, no vectors and no scorer. It imports nothing of winnow.
package suspects

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Entry is one judged image.
type Entry struct {
	Rank                 int      `json:"rank" parquet:"rank"`
	Path                 string   `json:"path" parquet:"path"`
	Given                string   `json:"given_label" parquet:"given_label,dict"`
	Suggested            string   `json:"suggested_label" parquet:"suggested_label,dict"`
	Score                float64  `json:"score" parquet:"score"`
	SuggestedScore       *float64 `json:"suggested_score" parquet:"suggested_score,optional"`             // nil: not known
	SuggestedProbability *float64 `json:"suggested_probability" parquet:"suggested_probability,optional"` // nil: scores are no probabilities
	Dropped              bool     `json:"dropped" parquet:"dropped"`                                      // among the share called wrong
	True                 string   `json:"true_label,omitempty" parquet:"true_label,optional,dict"`
	SupportGiven         []Near   `json:"nearest_with_given_label" parquet:"nearest_with_given_label,list"`
	SupportSuggested     []Near   `json:"nearest_with_suggested_label" parquet:"nearest_with_suggested_label,list"`
	Fit                  *float64 `json:"fit" parquet:"fit,optional"` // to the class that it fits best, in deviations; nil: not judged
	Outlier              bool     `json:"outlier" parquet:"outlier"`  // fits no class
	Copies               []Copy   `json:"copies_with_other_labels" parquet:"copies_with_other_labels,list"`
}

// Near is an image close to the judged one.
type Near struct {
	Path       string  `json:"path" parquet:"path"`
	Similarity float64 `json:"similarity" parquet:"similarity"` // cosine; 0 where a list did not tell it
}

// Copy is a near copy of the judged image that has another label.
type Copy struct {
	Path       string  `json:"path" parquet:"path"`
	Label      string  `json:"label" parquet:"label,dict"`
	Similarity float64 `json:"similarity" parquet:"similarity"`
}

// Format is a form of the table.
type Format string

// The forms.
const (
	CSV     Format = "csv"
	JSONL   Format = "jsonl"   // an object a line
	JSON    Format = "json"    // the list as "images" of an object, as winnow audit --json has it, or alone
	Parquet Format = "parquet" // Snappy compressed
)

// FormatOf tells the form by the ending of a file's name.
func FormatOf(path string) (Format, error) {
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
func Write(w io.Writer, format Format, list []Entry) error {
	switch format {
	case CSV:
		return writeCSV(w, list)
	case JSONL:
		return writeJSONL(w, list)
	case JSON:
		return writeJSON(w, list)
	case Parquet:
		return writeParquet(w, list)
	}
	return fmt.Errorf("suspects: format %q is unknown, expected %s, %s, %s or %s", format, CSV, JSONL, JSON, Parquet)
}

// Read reads a list of the form that the file's name ends in, most suspect first.
func Read(path string) ([]Entry, error) {
	format, err := FormatOf(path)
	if err != nil {
		return nil, fmt.Errorf("suspects: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("suspects: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("suspects: %w", err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("suspects: %s: is a folder, expected a file that winnow audit --out wrote", path)
	}
	list, err := read(f, info.Size(), format)
	if err != nil {
		return nil, fmt.Errorf("suspects: %s%w", path, err)
	}
	return list, nil
}

// read reads what has a size; its errors begin with ":LINE: " or ": ".
func read(src io.ReaderAt, size int64, format Format) ([]Entry, error) {
	into := &rows{names: map[string]string{}}
	var err error
	switch in := io.NewSectionReader(src, 0, size); format {
	case CSV:
		err = readCSV(in, into)
	case JSONL:
		err = readJSONL(in, into)
	case JSON:
		err = readJSON(in, into)
	default:
		err = readParquet(src, size, into)
	}
	if err != nil {
		return nil, err
	}
	return into.ranked()
}

// rows is what has been read so far.
type rows struct {
	list  []Entry
	names map[string]string // every path and label once: rows name each other, and few labels
}

// same is the text that was read first among equals.
func (r *rows) same(s string) string {
	if known, ok := r.names[s]; ok {
		return known
	}
	s = strings.Clone(s) // not a view of a whole line
	r.names[s] = s
	return s
}

// ranked is the list in the order of its ranks, or, where none are told, of its scores.
func (r *rows) ranked() ([]Entry, error) {
	if len(r.list) == 0 {
		return nil, fmt.Errorf(": no image found, expected at least one row of path, given_label, suggested_label and score")
	}
	told := 0
	for i := range r.list {
		if r.list[i].Rank > 0 {
			told++
		}
	}
	switch told {
	case len(r.list):
		slices.SortStableFunc(r.list, func(a, b Entry) int { return cmp.Compare(a.Rank, b.Rank) })
	case 0:
		slices.SortStableFunc(r.list, func(a, b Entry) int { return cmp.Compare(a.Score, b.Score) })
		for i := range r.list {
			r.list[i].Rank = i + 1
		}
	default:
		return nil, fmt.Errorf(": %d of %d rows have a rank, expected all or none", told, len(r.list))
	}
	return r.list, nil
}
