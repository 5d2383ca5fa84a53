package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

const resultsFile = "results.csv"

// row is one training: what it was, and what its last state reaches on the test classes.
type row struct {
	Set, Noise              string
	Seed                    int
	Mode, Filter            string
	P1, MAP                 float64
	FrozenP1, FrozenMAP     float64
	WhitenedP1, WhitenedMAP float64
	Seconds                 float64
	Curve                   []float64 // validation P@1 over the run, from before the first step
}

var columns = []string{"set", "noise", "seed", "mode", "filter", "p1", "map_at_r", "frozen_p1", "frozen_map_at_r", "whitened_p1", "whitened_map_at_r", "seconds", "validation_p1"}

func (r row) key() string {
	return fmt.Sprintf("%s, %s, seed %d, %s, %s", r.Set, r.Noise, r.Seed, r.Mode, r.Filter)
}

func (b *bench) has(r row) bool {
	for _, old := range b.rows {
		if old.key() == r.key() {
			return true
		}
	}
	return false
}

func (r row) record() []string {
	list := []string{r.Set, r.Noise, strconv.Itoa(r.Seed), r.Mode, r.Filter}
	for _, v := range []float64{r.P1, r.MAP, r.FrozenP1, r.FrozenMAP, r.WhitenedP1, r.WhitenedMAP} {
		list = append(list, fmt.Sprintf("%.4f", v))
	}
	list = append(list, fmt.Sprintf("%.0f", r.Seconds))
	points := make([]string, len(r.Curve))
	for i, v := range r.Curve {
		points[i] = fmt.Sprintf("%.4f", v)
	}
	return append(list, strings.Join(points, " "))
}

func rowOf(rec []string) (r row, err error) {
	if len(rec) != len(columns) {
		return r, fmt.Errorf("found %d columns, expected %d", len(rec), len(columns))
	}
	r.Set, r.Noise, r.Mode, r.Filter = rec[0], rec[1], rec[3], rec[4]
	var errs [8]error
	r.Seed, errs[0] = strconv.Atoi(rec[2])
	for i, to := range []*float64{&r.P1, &r.MAP, &r.FrozenP1, &r.FrozenMAP, &r.WhitenedP1, &r.WhitenedMAP, &r.Seconds} {
		*to, errs[1+i] = strconv.ParseFloat(rec[5+i], 64)
	}
	for _, text := range strings.Fields(rec[12]) {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return r, err
		}
		r.Curve = append(r.Curve, v)
	}
	return r, errors.Join(errs[:]...)
}

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
	for i, rec := range records[min(1, len(records)):] {
		r, err := rowOf(rec)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+2, err)
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
		w.Write(columns)
	}
	w.Write(r.record())
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}
