package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"winnow/internal/text"
)

// Screening is the result of scoring the labels before a training.
type Screening struct {
	By     string  `json:"by"`            // the scorer
	Blind  bool    `json:"blind"`         // the features predict labels no better than chance
	Judged int     `json:"judged"`        // number of scored images
	Wrong  int     `json:"wrong"`         // number of labels flagged and left out
	Left   float64 `json:"wrong_of_rest"` // expected share of wrong labels among the others
}

// WholeRate returns the share of wrong labels among all labels of a run. It counts all flagged labels as wrong; rest is
// the share of wrong labels among the others. Without screening WholeRate returns rest.
func (f Facts) WholeRate(rest float64) float64 {
	s := f.Screening
	if s == nil || s.Judged == 0 {
		return rest
	}
	return (float64(s.Wrong) + rest*float64(s.Judged-s.Wrong)) / float64(s.Judged)
}

// String returns the result as text.
func (s Screening) String() string {
	if s.Blind {
		return "the features do not predict the labels: none is flagged before the training"
	}
	return fmt.Sprintf("of %d labels, %s flags %d, which are left out (%s); of the others, about %s are wrong",
		s.Judged, s.By, s.Wrong, ScreenedFile, text.Percent(s.Left))
}

// Screened is an image whose label was flagged before the training.
type Screened struct {
	Path, Label string
	Score       float64 // score of the label: higher means more probably right
	Suggested   string
}

var screenedHeader = []string{"path", "label", "score", "suggested"}

// WriteScreening writes the list of images whose labels are left out, and returns the file's SHA-256 for [Facts].
func WriteScreening(dir string, list []Screened) (sum string, err error) {
	var rows [][]string
	for _, s := range list {
		rows = append(rows, []string{s.Path, s.Label, strconv.FormatFloat(s.Score, 'g', -1, 64), s.Suggested})
	}
	if err := writeTable(dir, ScreenedFile, screenedHeader, rows); err != nil {
		return "", err
	}
	return FileSum(filepath.Join(dir, ScreenedFile))
}

// ReadScreening reads the list and compares it with its checksum in run.json. The error is fs.ErrNotExist if the run
// has no list.
func ReadScreening(dir string) ([]Screened, error) {
	facts, err := ReadFacts(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	path := filepath.Join(dir, ScreenedFile)
	sum, err := FileSum(path)
	want := facts.ScreenedSHA256
	if want != "" && sum != want && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		return nil, refuseChangedFile(path, sum, FactsFile, want)
	}
	if err != nil {
		return nil, err
	}
	rows, err := readTable(dir, ScreenedFile, screenedHeader)
	if err != nil {
		return nil, err
	}
	list := make([]Screened, 0, len(rows))
	for i, row := range rows {
		score, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			return nil, fmt.Errorf("train: %s: line %d: found score %q, expected a number",
				filepath.Join(dir, ScreenedFile), i+2, row[2])
		}
		list = append(list, Screened{Path: row[0], Label: row[1], Score: score, Suggested: row[3]})
	}
	return list, nil
}
