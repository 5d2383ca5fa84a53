package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"winnow/report/chart"
)

// writeReport turns results.csv into tables.md and one picture of curves for each set and noise.
func writeReport(here string) error {
	rows, err := readRows(filepath.Join(here, resultsFile))
	if err != nil {
		return err
	}
	var text bytes.Buffer
	for _, set := range unique(rows, func(r row) string { return r.Set }) {
		ofSet := where(rows, func(r row) bool { return r.Set == set })
		fmt.Fprintf(&text, "## %s\n", set)
		for _, score := range []struct {
			name string
			of   func(r row) [3]float64 // trained, frozen, whitened
		}{
			{"P@1", func(r row) [3]float64 { return [3]float64{r.P1, r.FrozenP1, r.WhitenedP1} }},
			{"MAP@R", func(r row) [3]float64 { return [3]float64{r.MAP, r.FrozenMAP, r.WhitenedMAP} }},
		} {
			table(&text, score.name, ofSet, score.of)
		}
		for _, noise := range noisesOf(set, ofSet) {
			name := fmt.Sprintf("curves-%s-%s.svg", set, strings.NewReplacer(" ", "", "%", "", ",", "-").Replace(noise))
			drawing := curves(set, noise, where(ofSet, func(r row) bool { return r.Noise == noise }))
			if drawing == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(here, name), []byte(drawing), 0o644); err != nil {
				return err
			}
			fmt.Fprintf(&text, "\n![validation P@1 over the training, %s, %s](%s)\n", set, noise, name)
		}
		fmt.Fprintln(&text)
	}
	return os.WriteFile(filepath.Join(here, "tables.md"), text.Bytes(), 0o644)
}

// table prints one score: a line for each noise, a column for each mode and filter.
func table(w *bytes.Buffer, name string, rows []row, score func(row) [3]float64) {
	modes := modesOf(rows)
	fmt.Fprintf(w, "\n| %s | frozen | whitened |", name)
	for _, m := range modes {
		fmt.Fprintf(w, " %s | %s, PRISM |", m, m)
	}
	fmt.Fprintf(w, "\n|---|%s\n", strings.Repeat("---|", 2+2*len(modes)))
	for _, noise := range noisesOf(rows[0].Set, rows) {
		of := where(rows, func(r row) bool { return r.Noise == noise })
		fmt.Fprintf(w, "| %s | %s | %s |", noise, spread(firsts(of), func(r row) float64 { return score(r)[1] }), spread(firsts(of), func(r row) float64 { return score(r)[2] }))
		for _, m := range modes {
			for _, filter := range []string{"none", "vmf"} {
				cell := where(of, func(r row) bool { return r.Mode == m && r.Filter == filter })
				fmt.Fprintf(w, " %s |", spread(cell, func(r row) float64 { return score(r)[0] }))
			}
		}
		fmt.Fprintln(w)
	}
}

// firsts returns one row of each seed, for values that training does not change.
func firsts(rows []row) []row {
	var list []row
	for _, r := range rows {
		if !slices.ContainsFunc(list, func(f row) bool { return f.Seed == r.Seed }) {
			list = append(list, r)
		}
	}
	return list
}

// spread returns mean ± sample standard deviation, and how many values if they are not three.
func spread(rows []row, score func(row) float64) string {
	if len(rows) == 0 {
		return "–"
	}
	mean, square := 0.0, 0.0
	for _, r := range rows {
		mean += score(r) / float64(len(rows))
	}
	for _, r := range rows {
		square += (score(r) - mean) * (score(r) - mean)
	}
	if len(rows) == 1 {
		return fmt.Sprintf("%.3f (one seed)", mean)
	}
	text := fmt.Sprintf("%.3f ± %.3f", mean, math.Sqrt(square/float64(len(rows)-1)))
	if len(rows) != 3 {
		text += fmt.Sprintf(" (%d seeds)", len(rows))
	}
	return text
}

// curves draws the mean over seeds of the validation score against the share of the training done.
func curves(set, noise string, rows []row) string {
	drawing := chart.Lines{Frame: chart.Frame{Title: set + ", " + noise, X: "share of the training, %", Y: "validation P@1"}}
	for i, m := range modesOf(rows) {
		for j, filter := range []string{"none", "vmf"} {
			cell := where(rows, func(r row) bool { return r.Mode == m && r.Filter == filter && len(r.Curve) > 1 })
			if len(cell) == 0 {
				continue
			}
			n := len(cell[0].Curve)
			s := chart.Line{Name: strings.TrimPrefix(m, "last ") + [2]string{"", "+P"}[j], X: make([]float64, n), Y: make([]float64, n), Tone: 2*i + j}
			for k := range n {
				s.X[k] = 100 * float64(k) / float64(n-1)
				for _, r := range cell {
					s.Y[k] += r.Curve[min(k, len(r.Curve)-1)] / float64(len(cell))
				}
			}
			drawing.Series = append(drawing.Series, s)
		}
	}
	if len(drawing.Series) == 0 {
		return ""
	}
	var svg strings.Builder
	drawing.WriteSVG(&svg) // a builder takes everything
	return svg.String()
}

// noisesOf returns the noises that rows are of, in the order of the set.
func noisesOf(set string, rows []row) (list []string) {
	for _, n := range sets[set].noises {
		if slices.ContainsFunc(rows, func(r row) bool { return r.Noise == n.name }) {
			list = append(list, n.name)
		}
	}
	return list
}

// modesOf returns the modes that rows are of, in the order of the story.
func modesOf(rows []row) []string {
	return slices.DeleteFunc([]string{"head", "last stage", "all"}, func(m string) bool {
		return !slices.ContainsFunc(rows, func(r row) bool { return r.Mode == m })
	})
}

func unique(rows []row, of func(row) string) []string {
	var list []string
	for _, r := range rows {
		if v := of(r); !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

func where(rows []row, keep func(row) bool) []row {
	var list []row
	for _, r := range rows {
		if keep(r) {
			list = append(list, r)
		}
	}
	return list
}
