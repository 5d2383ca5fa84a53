package main

import (
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"winnow/papers/studies"
)

// fewest is the smallest number of seeds of a row that EXPERIMENTS.md shows.
const fewest = 5

// read reads the stored results.csv of a folder, which has a line for each measure of each cell. It also describes the
// cells' numbers of seeds, as in "3 to 5 seeds", and returns the results without the cells of less than fewest seeds.
func read(folder string) (r, enough *studies.Results, seeds string, err error) {
	path := filepath.Join(folder, "results.csv")
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, "", err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil || len(lines) < 2 {
		return nil, nil, "", fmt.Errorf("%s: %d lines: %w", path, len(lines), err)
	}
	study, err := studies.Find(lines[1][0])
	if err != nil {
		return nil, nil, "", err
	}
	r = studies.NewResults(&study, lines[1][3], true)
	found, counts := map[studies.Cell]studies.Outcome{}, map[string]int{}
	for at, line := range lines[1:] {
		var numbers [4]float64 // realised_rate, seed, value, seconds
		for k, column := range []int{6, 7, 9, 11} {
			if numbers[k], err = strconv.ParseFloat(line[column], 64); err != nil {
				return nil, nil, "", fmt.Errorf("%s: line %d: %w", path, at+2, err)
			}
		}
		row, column := slices.Index(study.RowNames(), line[1]), slices.Index(study.ColumnNames(), line[2])
		if row < 0 || column < 0 {
			return nil, nil, "", fmt.Errorf("%s: line %d: found %s, %s, expected a cell of the study", path, at+2,
				line[1], line[2])
		}
		counts[line[1]+"\n"+line[2]+"\n"+line[8]]++
		if !study.Rows[row].Runs() {
			continue
		}
		cell := studies.Cell{Row: row, Column: column, Seed: uint64(numbers[1])}
		o, ok := found[cell]
		if !ok {
			o = studies.Outcome{Study: line[0], Row: line[1], Column: line[2], Seed: cell.Seed, Data: line[3],
				NoiseRate: numbers[0], Seconds: numbers[3], Measures: map[string]float64{}, Last: map[string]float64{}}
		}
		if name, last := strings.CutSuffix(line[8], studies.LastState); last {
			o.Last[name] = numbers[2]
		} else {
			o.Measures[name] = numbers[2]
		}
		r.StandIn = r.StandIn && line[10] == ""
		found[cell] = o
	}
	repeated := map[[2]int]int{}
	for cell := range found {
		repeated[[2]int{cell.Row, cell.Column}]++
	}
	enough = studies.NewResults(&study, r.Data, r.StandIn)
	for cell, o := range found {
		r.Add(cell, o)
		if repeated[[2]int{cell.Row, cell.Column}] >= fewest {
			enough.Add(cell, o)
		}
	}
	return r, enough, describeSeeds(slices.Collect(maps.Values(counts))), nil
}

// describeSeeds returns the range of some numbers of seeds.
func describeSeeds(counts []int) string {
	least, most := slices.Min(counts), slices.Max(counts)
	switch {
	case least < most:
		return fmt.Sprintf("%d to %d seeds", least, most)
	case most == 1:
		return "1 seed"
	}
	return fmt.Sprintf("%d seeds", most)
}
