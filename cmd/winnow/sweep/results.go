package sweep

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"winnow/internal/atomicfile"
	"winnow/internal/paired"
	"winnow/internal/text"
	"winnow/papers/studies"
	"winnow/report/chart"
	"winnow/report/page"
	"winnow/run/sweep"
)

// validation is the measure that chooses.
const validation = "validation p@1"

// mostCurves bounds the curves of a chart; more cannot be distinguished.
const mostCurves = 8

// results are a sweep's trainings as a study: a row for each setting, the best first, and a claim that each beats the
// first setting.
type results struct {
	*sweep.Results
	table  *studies.Results
	ranked []int // settings with finished trainings, by their mean validation
	best   *sweep.Training
}

// newResults sums up the trainings so far.
func newResults(r *sweep.Results) *results {
	out := &results{Results: r}
	finished, means := make([]int, len(r.Points)), make([]float64, len(r.Points))
	for _, t := range r.Trainings {
		if t.Outcome != nil {
			finished[t.Point]++
			means[t.Point] += t.Outcome.Validation
		}
	}
	for i, n := range finished {
		if means[i] /= float64(max(n, 1)); n > 0 {
			out.ranked = append(out.ranked, i)
		}
	}
	slices.SortStableFunc(out.ranked, func(a, b int) int { return cmp.Compare(means[b], means[a]) })
	out.chooseBest(finished, means)
	out.fillTable()
	out.table.Lead, out.table.Warnings = out.describeBest(), out.sweepWarnings()
	out.table.Drawings = out.plotAxes(means)
	out.table.Facts = []page.Fact{{Name: "shared settings", Value: r.Shared}, {Name: "folder", Value: r.Dir}}
	return out
}

// chooseBest chooses the setting with the highest mean validation among those with the most finished seeds, the first
// of equal ones, and the best of its trainings.
func (r *results) chooseBest(finished []int, means []float64) {
	point := -1
	for i, n := range finished {
		if n > 0 && n == slices.Max(finished) && (point < 0 || means[i] > means[point]+paired.Rounding) {
			point = i
		}
	}
	for i := range r.Trainings {
		t := &r.Trainings[i]
		if t.Point == point && t.Outcome != nil && (r.best == nil || t.Outcome.Validation > r.best.Outcome.Validation) {
			r.best = t
		}
	}
}

// fillTable makes the study of the finished trainings.
func (r *results) fillTable() {
	var keys []string
	for _, a := range r.Axes {
		keys = append(keys, a.Key)
	}
	s := &studies.Study{
		Name: "sweep", Paper: "winnow sweep", Source: r.Manifest, Unit: "percent", Measures: []string{validation},
		Title:   text.Plural(r.Finished(), "training") + " over " + strings.Join(keys, " × "),
		Columns: []studies.Column{{Name: filepath.Base(r.Manifest)}},
		Chart:   &studies.Chart{Kind: studies.OverSteps, Trace: validation, X: "epochs", Y: validation},
		Notes: []string{"P@1: the share of images whose nearest neighbour has their given label. The best of many " +
			"settings looks better on the images that chose it."},
	}
	if r.Held != "" {
		s.Measures = append(s.Measures, r.Held+" p@1")
	}
	first := r.Points[0]
	for _, i := range r.ranked {
		s.Rows = append(s.Rows, studies.Row{Name: r.Points[i]})
		if i > 0 {
			s.Claims = append(s.Claims, studies.Claim{Say: r.Points[i] + " is better than " + first,
				Better: studies.Names{r.Points[i]}, Than: studies.Names{first}})
		}
	}
	if !slices.Contains(r.ranked, 0) {
		s.Claims = nil
	}
	r.table = studies.NewResults(s, r.Manifest, false)
	r.table.Command = "sweep"
	for _, t := range r.Trainings {
		if t.Outcome == nil {
			continue
		}
		row := slices.Index(r.ranked, t.Point)
		o := studies.Outcome{Study: s.Name, Row: r.Points[t.Point], Column: s.Columns[0].Name, Seed: t.Seed,
			Data: r.Manifest, Seconds: t.Outcome.Seconds,
			Measures: map[string]float64{validation: t.Outcome.Validation}}
		if t.Outcome.Test != nil {
			o.Measures[r.Held+" p@1"] = *t.Outcome.Test
		}
		if row < mostCurves {
			o.Traces = map[string]studies.Trace{validation: {X: t.Outcome.Curve.X, Y: t.Outcome.Curve.Y}}
		}
		r.table.Add(studies.Cell{Row: row, Seed: t.Seed}, o)
	}
}

// describeBest says which setting is best.
func (r *results) describeBest() []string {
	if r.best == nil {
		return []string{"No training is done."}
	}
	o := r.best.Outcome
	lines := []string{fmt.Sprintf("Best by validation: %s.", r.Points[r.best.Point])}
	if o.Validation <= max(o.Whitened, o.Frozen) {
		lines = append(lines, fmt.Sprintf("On the validation images it is NOT better than features without training "+
			"(frozen %.2f %%, whitened %.2f %%).", 100*o.Frozen, 100*o.Whitened))
	}
	lines = append(lines, fmt.Sprintf("Its best training has seed %d: %s", r.best.Seed, r.best.Folder))
	return append(lines, "To train it again: "+r.best.Command)
}

// sweepWarnings returns warnings for the reader.
func (r *results) sweepWarnings() (lines []string) {
	if r.Held == "" {
		lines = append(lines, "The manifest has no test split: validation chose the best setting, so its score is "+
			"too high.")
	}
	if r.HeldOut != "" {
		lines = append(lines, "The manifest has "+r.HeldOut+".")
	}
	improved := map[int]bool{}
	for _, t := range r.Trainings {
		if t.Outcome != nil && t.Outcome.BestStep != 0 {
			improved[t.Point] = true
		}
	}
	if n := len(r.ranked) - len(improved); n > 0 {
		lines = append(lines, fmt.Sprintf("In %d of %d settings no training found a better state than its untrained "+
			"head, which it keeps.", n, len(r.ranked)))
	}
	failures := r.Failures()
	for _, t := range text.First(failures, 10) {
		lines = append(lines, "Failed: "+t.Failed)
	}
	if n := len(failures); n > 10 {
		lines = append(lines, fmt.Sprintf("… and %d more: results.csv lists all", n-10))
	}
	if open := len(r.Trainings) - r.Finished() - len(failures); open > 0 {
		lines = append(lines, fmt.Sprintf("%s of %d not done yet: the same command continues.",
			text.Plural(open, "training"), len(r.Trainings)))
	}
	return lines
}

// plotAxes draws validation over the values of each numeric axis, a dot for each setting.
func (r *results) plotAxes(means []float64) (all []chart.Drawing) {
	for k, a := range r.Axes {
		if !a.IsNumeric() {
			continue
		}
		plot := chart.Lines{Frame: chart.Frame{Title: "Validation P@1 by " + a.Key, X: a.Key, Y: "validation P@1",
			Percent: true, LogX: a.Range != nil && a.Range.Log}}
		for _, i := range r.ranked {
			if x, err := strconv.ParseFloat(r.Values[i][k], 64); err == nil {
				plot.Series = append(plot.Series, chart.Line{X: []float64{x}, Y: []float64{means[i]}, Dots: true})
			}
		}
		all = append(all, plot)
	}
	return all
}

// writeSweepFiles writes report.md, report.html, results.csv and results.json.
func (r *results) writeSweepFiles() error {
	return atomicfile.WriteAll(r.Dir, map[string]func(io.Writer) error{"results.csv": r.writeCSV,
		"results.json": r.writeJSON, "report.html": r.table.HTML, "report.md": r.table.Markdown})
}

// writeText writes the settings and the best for people.
func (r *results) writeText(w io.Writer) error {
	if err := r.table.Markdown(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, line := range slices.Concat(r.table.Lead, r.table.Warnings) {
		fmt.Fprintln(w, line)
	}
	_, err := fmt.Fprintf(w, "Written to %s: report.html, report.md, results.csv, results.json\n", r.Dir)
	return err
}

// writeCSV writes a row for each training: a column for each setting, seed, state (done, failed, open), validation,
// test, frozen and whitened P@1 as shares, steps, seconds, folder, error.
func (r *results) writeCSV(w io.Writer) error {
	table := csv.NewWriter(w)
	var head []string
	for _, a := range r.Axes {
		head = append(head, a.Key)
	}
	table.Write(append(head, "seed", "state", "validation_p@1", "test_p@1", "frozen_p@1", "whitened_p@1", "best_step",
		"steps", "seconds", "folder", "error")) // Error returns the errors
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	for _, t := range r.Trainings {
		line := append(slices.Clone([]string(r.Values[t.Point])), strconv.FormatUint(t.Seed, 10), t.State())
		cells := make([]string, 7)
		if o := t.Outcome; o != nil {
			if o.Test != nil {
				cells[1] = number(*o.Test)
			}
			cells[0], cells[2], cells[3] = number(o.Validation), number(o.Frozen), number(o.Whitened)
			cells[4], cells[5] = strconv.Itoa(o.BestStep), strconv.Itoa(o.Steps)
			cells[6] = strconv.FormatFloat(o.Seconds, 'f', 2, 64)
		}
		table.Write(append(append(line, cells...), t.Folder, t.Failed))
	}
	table.Flush()
	return table.Error()
}

// writeJSON writes the best training and all trainings.
func (r *results) writeJSON(w io.Writer) error {
	return text.JSON(w, struct {
		Best      *sweep.Training  `json:"best"` // by validation
		TestSplit string           `json:"test_split"`
		Settings  []string         `json:"settings"` // in words
		Trainings []sweep.Training `json:"trainings"`
	}{r.best, r.Held, r.Points, r.Trainings})
}
