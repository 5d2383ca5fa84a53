package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"winnow/experiments/bench"
)

const resultsFile = "results.csv"

// row is one number that was measured.
type row struct {
	Experiment, Set, Noise string
	Seed                   int
	Variant, Measure       string
	Value                  float64
}

var columns = []string{"experiment", "set", "noise", "seed", "variant", "measure", "value"}

// key returns the key of the cell that the number belongs to.
func (r row) key() string {
	return fmt.Sprintf("%s, %s, %s, seed %d, %s", r.Experiment, r.Set, r.Noise, r.Seed, r.Variant)
}

func (r row) record() []string {
	return []string{r.Experiment, r.Set, r.Noise, strconv.Itoa(r.Seed), r.Variant, r.Measure, fmt.Sprintf("%.5f", r.Value)}
}

func readRows(path string) ([]row, error) {
	list, err := bench.ReadTable(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var rows []row
	for i, m := range list {
		seed, err1 := strconv.Atoi(m["seed"])
		v, err2 := strconv.ParseFloat(m["value"], 64)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+2, err)
		}
		rows = append(rows, row{m["experiment"], m["set"], m["noise"], seed, m["variant"], m["measure"], v})
	}
	return rows, nil
}
