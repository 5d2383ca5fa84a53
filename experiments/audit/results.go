package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
)

const resultsFile = "results.csv"

// row holds the measures of one judge in one cell.
type row struct {
	Set, Noise string
	Seed       int
	Judge      string
	Values     map[string]float64 // by column, NaN where it has none
}

// measures are the columns of numbers:
//
//	wrong      share of labels that are wrong
//	auroc, ap  of the order
//	found      share of wrong labels among as many most suspect ones as labels are wrong: precision, recall and F1 in one
//	mended     share of the wrong labels whose suggestion is the true label
//	expected   mean of 1 - score: the share of wrong labels that the scores add up to; probabilities only
//	error      mean |score - share right| over ten bins of equal size; probabilities only
//	chosen     share of the images that --precision 0.9 takes; probabilities only
//	precision  how many of these are wrong
//	seconds    of one judge, on a machine with other work to do
var measures = []string{"images", "classes", "wrong", "auroc", "ap", "found", "mended", "expected", "error", "chosen", "precision", "seconds"}

func (r row) key() string { return fmt.Sprintf("%s, %s, seed %d, %s", r.Set, r.Noise, r.Seed, r.Judge) }

func readRows(path string) ([]row, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var rows []row
	for i, record := range records[min(1, len(records)):] {
		if len(record) != 4+len(measures) {
			return nil, fmt.Errorf("%s:%d: %d columns, expected %d", path, i+2, len(record), 4+len(measures))
		}
		r := row{Set: record[0], Noise: record[1], Judge: record[3], Values: map[string]float64{}}
		if r.Seed, err = strconv.Atoi(record[2]); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+2, err)
		}
		for k, m := range measures {
			if record[4+k] == "" {
				continue
			}
			if r.Values[m], err = strconv.ParseFloat(record[4+k], 64); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, i+2, err)
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func appendRow(path string, r row) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	if info, err := f.Stat(); err == nil && info.Size() == 0 {
		w.Write(append([]string{"set", "noise", "seed", "judge"}, measures...))
	}
	record := []string{r.Set, r.Noise, strconv.Itoa(r.Seed), r.Judge}
	for _, m := range measures {
		v, ok := r.Values[m]
		text := ""
		if ok {
			text = strconv.FormatFloat(v, 'g', 5, 64)
		}
		record = append(record, text)
	}
	w.Write(record)
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}
