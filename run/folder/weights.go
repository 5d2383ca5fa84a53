package folder

import (
	"strconv"
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
