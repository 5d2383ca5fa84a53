package sweep

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"winnow/internal/atomicfile"
	"winnow/internal/spread"
	"winnow/internal/text"
	"winnow/papers/studies"
	"winnow/report/page"
	"winnow/run/grid"
)

// validation is the measure by which settings are ranked.
const validation = "validation p@1"

// mostCurves is the maximum number of curves in a chart. More curves cannot be distinguished.
const mostCurves = 8

// results presents a sweep's trainings as a study: a row for each setting, the best first, and for each setting the
// claim that it is better than the first setting.
type results struct {
	*grid.Results
	table  *studies.Results
	ranked []int // settings with finished trainings, highest mean validation first
	best   *grid.Training
}

// newResults returns the results of the trainings finished so far.
func newResults(r *grid.Results) *results {
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
	out.table.Facts = []page.Fact{{Name: "shared settings", Value: r.Shared}, {Name: "folder", Value: r.Dir}}
	return out
}

// chooseBest chooses the setting with the highest mean validation among the settings with the most finished seeds, and
// then its best training. Among equal settings it chooses the first.
func (r *results) chooseBest(finished []int, means []float64) {
	point := -1
	for i, n := range finished {
		if n > 0 && n == slices.Max(finished) && (point < 0 || means[i] > means[point]+spread.Rounding) {
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

// fillTable builds the study from the finished trainings.
func (r *results) fillTable() {
	var keys []string
	for _, a := range r.Axes {
		keys = append(keys, a.Key)
	}
	s := &studies.Study{
		Name: "sweep", Paper: "winnow sweep", Source: r.Manifest, Unit: "percent", Measures: []string{validation},
		Title:   text.Plural(r.Finished(), "training") + " over " + strings.Join(keys, " × "),
		Columns: []studies.Column{{Name: filepath.Base(r.Manifest)}}, Joint: true,
		Chart: &studies.Chart{Kind: studies.OverSteps, Trace: validation, X: "epochs", Y: validation},
		Notes: []string{"P@1: the share of images whose nearest neighbour has their given label. The P@1 of the best " +
			"of many settings is biased upwards on the images used to choose it."},
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

// describeBest returns sentences about the best setting.
func (r *results) describeBest() []string {
	if r.best == nil {
		return []string{"No training is finished."}
	}
	o := r.best.Outcome
	lines := []string{fmt.Sprintf("Best by validation: %s.", r.Points[r.best.Point])}
	if o.Validation <= max(o.Whitened, o.Frozen) {
		lines = append(lines, fmt.Sprintf("On the validation images, it is NOT better than untrained features "+
			"(frozen %.2f %%, whitened %.2f %%).", 100*o.Frozen, 100*o.Whitened))
	}
	lines = append(lines, fmt.Sprintf("Its best training has seed %d: %s", r.best.Seed, r.best.Folder))
	return append(lines, "To train it again: "+r.best.Command)
}

// sweepWarnings returns warnings about the sweep's data, trainings and failures.
func (r *results) sweepWarnings() (lines []string) {
	if r.Held == "" {
		lines = append(lines, "The manifest has no test split: the best setting was chosen on validation, so its "+
			"validation result is biased upwards.")
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
		lines = append(lines, fmt.Sprintf("In %d of %d settings, no training improved on its untrained head, which "+
			"was therefore kept.", n, len(r.ranked)))
	}
	failures := r.Failures()
	for _, t := range text.First(failures, 10) {
		lines = append(lines, "Failed: "+t.Failed)
	}
	if n := len(failures); n > 10 {
		lines = append(lines, fmt.Sprintf("… and %d more: results.json lists all", n-10))
	}
	if open := len(r.Trainings) - r.Finished() - len(failures); open > 0 {
		lines = append(lines, fmt.Sprintf("%s of %d not finished: the same command continues.",
			text.Plural(open, "training"), len(r.Trainings)))
	}
	return lines
}

// writeSweepFiles writes report.md, report.html, results.csv and results.json.
func (r *results) writeSweepFiles() error {
	return atomicfile.WriteAll(r.Dir, map[string]func(io.Writer) error{"results.csv": r.table.CSV,
		"results.json": r.writeJSON, "report.html": r.table.HTML, "report.md": r.table.Markdown})
}

// writeText writes the table, its lead and warnings, and the names of the written files as text.
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

// writeJSON writes the best training, all trainings, the table and its verdicts.
func (r *results) writeJSON(w io.Writer) error {
	return text.JSON(w, struct {
		Best      *grid.Training  `json:"best"` // best by validation
		TestSplit string          `json:"test_split"`
		Settings  []string        `json:"settings"` // descriptions of the settings
		Trainings []grid.Training `json:"trainings"`
	}{r.best, r.Held, r.Points, r.Trainings})
}
