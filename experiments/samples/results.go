package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"winnow/internal/atomicfile"
)

const resultsFile = "results.csv"

// row is one scorer's outcome.
type row struct {
	Set, Rate            string
	Seed                 int
	Training, Scorer     string
	Samples, Wrong       int
	AUROC, AP, Precision float64 // precision at the true number of wrong labels
	Mended               float64 // share of the wrong labels whose suggestion is the true one
}

var header = []string{"set", "rate", "seed", "training", "scorer", "samples", "wrong", "auroc", "ap", "precision_at_true_number", "true_label_suggested"}

func (r row) key() string { return fmt.Sprint(r.Set, r.Rate, r.Seed, r.Training, r.Scorer) }

func (r row) record() []string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }
	return []string{r.Set, r.Rate, fmt.Sprint(r.Seed), r.Training, r.Scorer, fmt.Sprint(r.Samples), fmt.Sprint(r.Wrong), number(r.AUROC), number(r.AP), number(r.Precision), number(r.Mended)}
}

// append adds the row to the file.
func (r row) append(path string) error {
	_, missing := os.Stat(path)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	if missing != nil {
		w.Write(header) // errors are told by Error
	}
	w.Write(r.record())
	w.Flush()
	return errors.Join(w.Error(), f.Close())
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
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil || len(lines) == 0 || !slices.Equal(lines[0], header) {
		return nil, fmt.Errorf("%s: found %v, %w; expected the columns %v", path, lines[:min(1, len(lines))], err, header)
	}
	var rows []row
	for _, l := range lines[1:] {
		r := row{Set: l[0], Rate: l[1], Training: l[3], Scorer: l[4]}
		for i, to := range map[int]*int{2: &r.Seed, 5: &r.Samples, 6: &r.Wrong} {
			if *to, err = strconv.Atoi(l[i]); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		for i, to := range map[int]*float64{7: &r.AUROC, 8: &r.AP, 9: &r.Precision, 10: &r.Mended} {
			if *to, err = strconv.ParseFloat(l[i], 64); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func (b *bench) has(r row) bool {
	return slices.ContainsFunc(b.rows, func(o row) bool { return o.key() == r.key() })
}

func (b *bench) finished(set, rate string, seed int, training string) bool {
	for _, scorer := range scorers {
		if !b.has(row{Set: set, Rate: rate, Seed: seed, Training: training, Scorer: scorer}) {
			return false
		}
	}
	return true
}

// report writes the means over seeds.
func (b *bench) report() error {
	var out strings.Builder
	out.WriteString("AUROC, average precision, precision at the true number of wrong labels, and the share of the wrong labels whose\nsuggestion is the true one; means over seeds, in brackets the standard deviation of the AUROC.\n\n")
	out.WriteString("| set | noise | training | scorer | seeds | AUROC | AP | precision | suggested |\n|---|---|---|---|---|---|---|---|---|\n")
	var seen []string
	for _, first := range b.rows {
		group := first.Set + first.Rate + first.Training + first.Scorer
		if slices.Contains(seen, group) {
			continue
		}
		seen = append(seen, group)
		var of []row
		for _, r := range b.rows {
			if r.Set+r.Rate+r.Training+r.Scorer == group {
				of = append(of, r)
			}
		}
		mean := func(v func(row) float64) (sum float64) {
			for _, r := range of {
				sum += v(r) / float64(len(of))
			}
			return sum
		}
		auroc := mean(func(r row) float64 { return r.AUROC })
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %d | %.4f (%s) | %.4f | %.4f | %.3f |\n", first.Set, first.Rate, first.Training, first.Scorer, len(of), auroc,
			deviation(of, auroc), mean(func(r row) float64 { return r.AP }), mean(func(r row) float64 { return r.Precision }), mean(func(r row) float64 { return r.Mended }))
	}
	return atomicfile.WriteBytes(filepath.Join(b.here, "tables.md"), []byte(out.String()))
}

// deviation returns the sample standard deviation of the AUROC, a dash of one seed.
func deviation(of []row, mean float64) string {
	if len(of) < 2 {
		return "–"
	}
	var sum float64
	for _, r := range of {
		sum += (r.AUROC - mean) * (r.AUROC - mean)
	}
	return fmt.Sprintf("%.4f", math.Sqrt(sum/float64(len(of)-1)))
}
