package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"winnow/internal/text"
	"winnow/run/config"
	"winnow/train"
)

// RateTest is the result of the range tests of learning rates before a training.
type RateTest struct {
	Steps    int          `json:"test_steps"`
	Seconds  float64      `json:"test_seconds"`
	Head     *float64     `json:"head,omitempty"` // nil: not tested
	Backbone *float64     `json:"backbone,omitempty"`
	Curve    []RangePoint `json:"-"` // contents of lr_range.csv
}

// RangePoint is a point of the curve of one test.
type RangePoint struct {
	Weights string // train.HeadGroup or train.BackboneGroup
	train.RangePoint
	Change float64 // smoothed change of the loss
}

// Add appends the curve of a test.
func (t *RateTest) Add(weights string, curve []train.RangePoint) {
	smoothed := train.Smoothed(curve)
	for i, p := range curve {
		t.Curve = append(t.Curve, RangePoint{Weights: weights, RangePoint: p, Change: smoothed[i]})
	}
}

// Resolve sets the rates that a configuration leaves to the tests to the rates found.
func (t *RateTest) Resolve(cfg *config.Run) {
	if cfg.Solver.LR.Choose == train.ByTest && t.Head != nil {
		cfg.Solver.LR = train.GivenLR(*t.Head)
	}
	if cfg.BackboneSolver.LR.Choose == train.ByTest && t.Backbone != nil {
		cfg.BackboneSolver.LR = train.GivenLR(*t.Backbone)
	}
}

// String returns the result as a line of text.
func (t *RateTest) String() string {
	var found []string
	if t.Head != nil {
		found = append(found, fmt.Sprintf("head %g", *t.Head))
	}
	if t.Backbone != nil {
		found = append(found, fmt.Sprintf("network %g", *t.Backbone))
	}
	return fmt.Sprintf("learning rates by range tests of %d steps, %s: %s", t.Steps,
		text.About(time.Duration(t.Seconds*float64(time.Second))), strings.Join(found, ", "))
}

var rangeHeader = []string{"weights", "lr", "loss", "loss_at_rest", "change_smoothed"}

// WriteRange writes lr_range.csv.
func WriteRange(dir string, curve []RangePoint) error {
	var rows [][]string
	for _, p := range curve {
		row := []string{p.Weights}
		for _, v := range []float64{p.Rate, p.Loss, p.Still, p.Change} {
			row = append(row, strconv.FormatFloat(v, 'g', 6, 64))
		}
		rows = append(rows, row)
	}
	return writeTable(dir, RangeFile, rangeHeader, rows)
}

// ReadRange reads lr_range.csv. It returns nil if the file does not exist.
func ReadRange(dir string) ([]RangePoint, error) {
	rows, err := readTable(dir, RangeFile, rangeHeader)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var curve []RangePoint
	for i, row := range rows {
		p := RangePoint{Weights: row[0]}
		for j, to := range []*float64{&p.Rate, &p.Loss, &p.Still, &p.Change} {
			if *to, err = strconv.ParseFloat(row[j+1], 64); err != nil {
				return nil, fmt.Errorf("train: %s: line %d: found %s %q, expected a number",
					filepath.Join(dir, RangeFile), i+2, rangeHeader[j+1], row[j+1])
			}
		}
		curve = append(curve, p)
	}
	return curve, nil
}
