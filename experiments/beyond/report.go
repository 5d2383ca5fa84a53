package main

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"winnow/internal/atomicfile"
)

// writeReport writes tables.md: for each experiment and measure a table of means ± standard deviations over the seeds.
func writeReport(here string, rows []row) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "Mean ± standard deviation over the seeds, in percent. Made by `go run ./experiments/beyond -report` from results.csv.\n")
	for _, experiment := range unique(rows, func(r row) string { return r.Experiment }) {
		of := only(rows, func(r row) bool { return r.Experiment == experiment })
		if experiment == "rate" {
			writeRates(&out, of)
			continue
		}
		of = untrained(of)
		for _, measure := range unique(of, func(r row) string { return r.Measure }) {
			of := only(of, func(r row) bool { return r.Measure == measure })
			writeTable(&out, experiment+": "+measure, of, func(r row) string { return r.Variant })
			if measure == "p1" || measure == "map_at_r" {
				writeDifferences(&out, experiment+": "+measure, of)
			}
		}
	}
	return atomicfile.WriteBytes(filepath.Join(here, "tables.md"), out.Bytes())
}

// untrained makes the whitened features, which are the same in all variants, one of them.
func untrained(rows []row) []row {
	const measure = "whitened p1"
	first := rows[0].Variant
	rows = only(rows, func(r row) bool { return r.Measure != measure || r.Variant == first })
	for i := range rows {
		if rows[i].Measure == measure {
			rows[i].Measure, rows[i].Variant = "p1", "untrained"
		}
	}
	return rows
}

// baseline returns the variant that another is compared with, seed by seed; "": none.
func baseline(r row) string {
	switch {
	case strings.HasSuffix(r.Variant, ", match"):
		return strings.TrimSuffix(r.Variant, ", match")
	case r.Experiment == "losses" && strings.HasPrefix(r.Variant, "margin, "):
		return "margin"
	case r.Experiment == "correct" && r.Variant != "none":
		return "none"
	case r.Experiment == "auto" && r.Variant != "true rate":
		return "true rate"
	}
	return ""
}

// writeDifferences lists, for each variant that has a baseline, the mean difference from it on the same labels.
func writeDifferences(out *bytes.Buffer, title string, rows []row) {
	at := map[string]float64{}
	for _, r := range rows {
		at[r.key()] = r.Value
	}
	fmt.Fprintf(out, "\n## %s, difference from its baseline on the same labels, in points\n\n| set | noise | variant | difference | better in |\n|---|---|---|---:|---:|\n", title)
	for _, line := range unique(rows, func(r row) string { return r.Set + " | " + r.Noise + " | " + r.Variant }) {
		var differences []float64
		better := 0
		for _, r := range rows {
			base := r
			base.Variant = baseline(r)
			v, ok := at[base.key()]
			if r.Set+" | "+r.Noise+" | "+r.Variant != line || base.Variant == "" || !ok || r.Variant == "untrained" {
				continue
			}
			differences = append(differences, r.Value-v)
			if r.Value > v {
				better++
			}
		}
		if len(differences) > 0 {
			fmt.Fprintf(out, "| %s | %s | %d of %d |\n", line, percent(differences), better, len(differences))
		}
	}
}

// writeRates shows the estimates beside the truth, and how often its interval holds the truth.
func writeRates(out *bytes.Buffer, rows []row) {
	estimates := only(rows, func(r row) bool {
		return !strings.HasSuffix(r.Measure, " low") && !strings.HasSuffix(r.Measure, " high")
	})
	writeTable(out, "rate: estimates", estimates, func(r row) string { return r.Measure })
	truth := map[string]float64{}
	for _, r := range rows {
		if r.Measure == "true" {
			truth[r.key()] = r.Value
		}
	}
	fmt.Fprintf(out, "\n## rate: mean absolute error in points\n\n| method | symmetric, to 50 %% | symmetric, 70 %% | people | largest | truth in the interval |\n|---|---:|---:|---:|---:|---:|\n")
	for _, method := range unique(estimates, func(r row) string { return r.Measure }) {
		if method == "true" {
			continue
		}
		var low, high, people []float64
		inside, n := 0, 0
		bounds := map[string][2]float64{}
		for _, r := range rows {
			b := bounds[r.key()]
			switch r.Measure {
			case method + " low":
				b[0] = r.Value
			case method + " high":
				b[1] = r.Value
			}
			bounds[r.key()] = b
		}
		for _, r := range only(rows, func(r row) bool { return r.Measure == method }) {
			t := truth[r.key()]
			off := math.Abs(r.Value - t)
			switch {
			case strings.HasPrefix(r.Noise, "people"):
				people = append(people, off)
			case t > 0.6:
				high = append(high, off)
			default:
				low = append(low, off)
			}
			n++
			if b := bounds[r.key()]; b[0] <= t && t <= b[1] {
				inside++
			}
		}
		worst := slices.Max(slices.Concat(low, high, people))
		fmt.Fprintf(out, "| %s | %s | %s | %s | %.1f | %d of %d |\n", method, percent(low), percent(high), percent(people), 100*worst, inside, n)
	}
}

// writeTable has a line for each set and noise and a column for each value of by.
func writeTable(out *bytes.Buffer, title string, rows []row, by func(row) string) {
	columns := unique(rows, by)
	fmt.Fprintf(out, "\n## %s\n\n| set | noise | seeds | %s |\n|---|---|---:|%s\n", title, strings.Join(columns, " | "), strings.Repeat("---:|", len(columns)))
	for _, place := range unique(rows, func(r row) string { return r.Set + " | " + r.Noise }) {
		line, seeds := "", 0
		for _, c := range columns {
			var values []float64
			for _, r := range rows {
				if r.Set+" | "+r.Noise == place && by(r) == c {
					values = append(values, r.Value)
				}
			}
			line += " | " + percent(values)
			seeds = max(seeds, len(values))
		}
		fmt.Fprintf(out, "| %s | %d%s |\n", place, seeds, line)
	}
}

// percent returns the mean ± standard deviation of shares.
func percent(x []float64) string {
	if len(x) == 0 {
		return "–"
	}
	var sum, squares float64
	for _, v := range x {
		sum += v
	}
	m := sum / float64(len(x))
	for _, v := range x {
		squares += (v - m) * (v - m)
	}
	if len(x) == 1 {
		return fmt.Sprintf("%.1f", 100*m)
	}
	return fmt.Sprintf("%.1f ± %.1f", 100*m, 100*math.Sqrt(squares/float64(len(x)-1)))
}

func only(rows []row, keep func(row) bool) []row {
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !keep(r) })
}

// unique returns the distinct values of the rows, in the order of their first places.
func unique(rows []row, of func(row) string) []string {
	var list []string
	for _, r := range rows {
		if v := of(r); !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}
