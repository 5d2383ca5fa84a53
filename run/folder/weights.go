package folder

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"winnow/internal/regular"
)

// Weight is a line of weights.csv.
type Weight struct {
	Path, Label string
	Weight      float64
}

// weightsHeader is its first line.
var weightsHeader = []string{"path", "label", "weight"}

// WriteWeights writes the final weights of the labelled training images.
func WriteWeights(dir string, list []Weight) error {
	var rows [][]string
	for _, w := range list {
		rows = append(rows, []string{w.Path, w.Label, strconv.FormatFloat(w.Weight, 'g', -1, 64)})
	}
	return writeTable(dir, WeightsFile, weightsHeader, rows)
}

// ReadWeights reads the weights of a run.
func ReadWeights(dir string) ([]Weight, error) {
	path := filepath.Join(dir, WeightsFile)
	f, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refuseUnfinished(dir, WeightsFile)
	}
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	defer f.Close()
	if err := Intact(dir, WeightsFile); err != nil {
		return nil, err
	}
	list, err := parseWeights(f)
	if err != nil {
		return nil, fmt.Errorf("audit: %s: %w", path, err)
	}
	return list, nil
}

func parseWeights(from io.Reader) ([]Weight, error) {
	in := csv.NewReader(from)
	in.FieldsPerRecord = len(weightsHeader)
	var list []Weight
	for line := 1; ; line++ {
		record, err := in.Read()
		if errors.Is(err, io.EOF) && line > 1 {
			return list, nil
		} else if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("found an empty file, expected the columns %s", strings.Join(weightsHeader, ", "))
		}
		if err != nil {
			return nil, err
		}
		if line == 1 {
			for i, name := range weightsHeader {
				if record[i] != name {
					return nil, fmt.Errorf("column %d is %q, expected %q", i+1, record[i], name)
				}
			}
			continue
		}
		w, err := strconv.ParseFloat(record[2], 64)
		if err != nil || !(w >= 0 && w <= 1) {
			return nil, fmt.Errorf("entry %d: weight is %q, expected a number from 0 to 1", line-1, record[2])
		}
		list = append(list, Weight{record[0], record[1], w})
	}
}
