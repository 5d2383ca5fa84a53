package inspect

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/internal/regular"
)

// aside are columns that hold no probabilities. A column without a name numbers the rows.
var aside = []string{"", "path", "label", "given_label", "true_label", "split"}

// checkTableSize refuses more values than may be held. Every 8 bytes of text count as a value.
func checkTableSize(values, most int64) error {
	if values > most {
		return fmt.Errorf("holds more than %d probabilities, or paths of that size: raise the memory limit, of which "+
			"each takes 8 bytes", most)
	}
	return nil
}

func tableOfNPY(path string, most int64) (*table, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := checkTableSize(info.Size()/8, most); err != nil { // as if they were float64
		return nil, err
	}
	a, err := features.ReadNPY(f, info.Size())
	if err != nil {
		return nil, err
	}
	x, err := a.Matrix()
	return &table{x: x, at: func(row int) string { return fmt.Sprintf("row %d, from 0", row) }}, err
}

// tableOfCSV reads a row from each line. A first line that holds anything but numbers names the columns.
func tableOfCSV(path string, most int64) (*table, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := csv.NewReader(f)
	in.ReuseRecord = true
	var lines []int
	t := &table{at: func(row int) string { return fmt.Sprintf("line %d", lines[row]) }}
	var data []float32
	paths, use := -1, []int(nil) // columns
	for first := true; ; first = false {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if first {
			record[0] = strings.TrimPrefix(record[0], "\ufeff")
			named := isHead(record)
			if paths, use = t.findHead(record, named); named {
				continue
			}
		}
		line, _ := in.FieldPos(0)
		lines = append(lines, line)
		if paths >= 0 {
			t.paths = append(t.paths, strings.Clone(record[paths]))
		}
		for _, k := range use {
			v, err := strconv.ParseFloat(strings.TrimSpace(record[k]), 32)
			if err != nil {
				return nil, fmt.Errorf("line %d: found %.80q, expected a number", line, record[k])
			}
			data = append(data, float32(v))
		}
		if err := checkTableSize(int64(len(data)), most); err != nil {
			return nil, err
		}
	}
	t.x = blas32.General{Rows: len(lines), Cols: len(use), Stride: max(len(use), 1), Data: data}
	return t, nil
}

// isHead reports whether a first line names columns: not all fields are numbers, or they are 0, 1, 2, …, the
// header that other tools give a table without names.
func isHead(record []string) bool {
	counts := true
	for k, s := range record {
		if _, err := strconv.ParseFloat(strings.TrimSpace(s), 32); err != nil {
			return true
		}
		counts = counts && s == strconv.Itoa(k)
	}
	return counts
}

// findHead finds the column of paths, -1 for none, and the columns of probabilities. It stores their names if record
// has names.
func (t *table) findHead(record []string, named bool) (paths int, use []int) {
	paths = -1
	for k, name := range record {
		key := strings.ToLower(strings.TrimSpace(name))
		switch {
		case named && key == "path":
			paths = k
		case named && slices.Contains(aside, key):
		default:
			if use = append(use, k); named {
				t.names = append(t.names, strings.TrimSpace(name))
			}
		}
	}
	return paths, use
}
