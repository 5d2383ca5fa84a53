package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"winnow/experiments/bench"
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

func (b *trial) has(r row) bool {
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

func rowOf(rec map[string]string) (r row, err error) {
	r.Set, r.Noise, r.Mode, r.Filter = rec["set"], rec["noise"], rec["mode"], rec["filter"]
	var errs [8]error
	r.Seed, errs[0] = strconv.Atoi(rec["seed"])
	for i, to := range []*float64{&r.P1, &r.MAP, &r.FrozenP1, &r.FrozenMAP, &r.WhitenedP1, &r.WhitenedMAP, &r.Seconds} {
		*to, errs[1+i] = strconv.ParseFloat(rec[columns[5+i]], 64)
	}
	for _, text := range strings.Fields(rec["validation_p1"]) {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return r, err
		}
		r.Curve = append(r.Curve, v)
	}
	return r, errors.Join(errs[:]...)
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
	for i, rec := range list {
		r, err := rowOf(rec)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+2, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}
