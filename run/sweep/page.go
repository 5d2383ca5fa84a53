package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"winnow/internal/paired"
	"winnow/internal/text"
	"winnow/report/chart"
	"winnow/report/page"
)

// mostCurves bounds the curves of a chart; more cannot be told apart.
const mostCurves = 8

// page returns the report of the sweep.
func (r *Results) page() page.Report {
	var keys []string
	for _, a := range r.Axes {
		keys = append(keys, a.Key)
	}
	report := page.Report{
		Command: "sweep", Title: fmt.Sprintf("%s over %s", text.Plural(r.len(), "training"), strings.Join(keys, " × ")),
		Verdict: r.verdict(), Warnings: r.cautions(),
	}
	if lines := r.table(); len(lines) > 1 {
		report.Sections = append(report.Sections, page.Section{Title: "The settings, best first",
			Tables: []page.Table{{Head: lines[0], Rows: lines[1:]}}})
	}
	if d := r.differences(); len(d.Rows) > 0 {
		report.Sections = append(report.Sections, page.Section{
			Title: "Against the first setting, seed by seed",
			Notes: []string{fmt.Sprintf("Validation P@1 of each setting minus that of %s with the same seed, in "+
				"points.",
				r.Points[0].Words)},
			Tables: []page.Table{d},
		})
	}
	if lines := r.curves(); len(lines.Series) > 0 {
		s := page.Section{Title: "Validation during training", Charts: []chart.Drawing{lines}}
		if n := len(r.ranked()); n > mostCurves {
			s.Notes = []string{fmt.Sprintf("The best %d of %d settings.", mostCurves, n)}
		}
		report.Sections = append(report.Sections, s)
	}
	var plots []chart.Drawing
	for k, a := range r.Axes {
		if a.isNumeric() {
			plots = append(plots, r.plot(k))
		}
	}
	if len(plots) > 0 {
		report.Sections = append(report.Sections, page.Section{Title: "By setting", Charts: plots})
	}
	report.Sections = append(report.Sections, page.Section{Title: "Every " +
		"training", Tables: []page.Table{r.trainings()}})
	report.Facts = []page.Fact{{Name: "shared settings", Value: r.shared}, {Name: "folder", Value: r.dir}}
	if _, c, ok := r.best(); ok {
		report.Facts = append(report.Facts, page.Fact{Name: "train the best again", Value: c.Command})
	}
	define := func(name, value string) {
		report.Definitions = append(report.Definitions, page.Fact{Name: name, Value: value})
	}
	define("validation P@1", "share of the validation images whose nearest neighbour has their given label; of the "+
		"state that the training keeps")
	define("±", "standard deviation over the seeds")
	define("against the first", "mean over the seeds of the difference to the first setting with the same seed, in "+
		"points; 95 %: its interval by Student's t over the seeds, which is wide for few")
	define("best", "the highest mean validation P@1 among the settings with the most seeds done. The best of many "+
		"looks better on the images that chose it: other images show how good it is")
	if r.tests() {
		define("p (Holm)", "two-sided paired t-test over the seeds, corrected for the number of settings (Holm 1979)")
	} else if len(r.Points) > 1 {
		define("p-values", "are not given for one seed")
	}
	if r.Held != "" {
		define(r.Held+" P@1", "the same on images that choose neither the state of a training nor the setting")
	}
	return report
}

// differences returns a table with a row for each setting but the first, and a column for each seed.
func (r *Results) differences() (t page.Table) {
	if len(r.Points) < 2 {
		return t
	}
	first, seeds := map[uint64]float64{}, []uint64(nil)
	for _, c := range r.of(0) {
		first[c.Seed], seeds = c.Outcome.Validation, append(seeds, c.Seed)
	}
	t.Head = []string{"setting"}
	for _, seed := range seeds {
		t.Head = append(t.Head, fmt.Sprintf("seed %d", seed))
	}
	t.Head = append(t.Head, "mean", "95 %")
	for _, i := range r.ranked() {
		d := r.Points[i].Against
		if d.N == 0 {
			continue
		}
		of := map[uint64]float64{}
		for _, c := range r.of(i) {
			of[c.Seed] = c.Outcome.Validation
		}
		line := []string{r.Points[i].Words}
		for _, seed := range seeds {
			cell := "–"
			if v, ok := of[seed]; ok {
				cell = fmt.Sprintf("%+.2f", 100*(v-first[seed]))
			}
			line = append(line, cell)
		}
		t.Rows = append(t.Rows, append(line, differenceText(i, d), intervalText(d)))
	}
	return t
}

// trainings returns a table with a row for each training.
func (r *Results) trainings() page.Table {
	t := page.Table{Head: []string{"training", "state", "validation P@1 %"}, Folded: len(r.Cells) > 12}
	if r.Held != "" {
		t.Head = append(t.Head, r.Held+" P@1 %")
	}
	t.Head = append(t.Head, "best step", "steps", "seconds")
	t.Caption = "Every training is a run folder below cells"
	for _, c := range r.Cells {
		line := []string{fmt.Sprintf("%s, seed %d", r.Points[c.Point].Words, c.Seed), c.state()}
		o := c.Outcome
		if o == nil {
			for len(line) < len(t.Head) {
				line = append(line, "–")
			}
			t.Rows = append(t.Rows, line)
			continue
		}
		line = append(line, fmt.Sprintf("%.2f", 100*o.Validation))
		if r.Held != "" {
			test := "–"
			if o.Test != nil {
				test = fmt.Sprintf("%.2f", 100**o.Test)
			}
			line = append(line, test)
		}
		t.Rows = append(t.Rows, append(line, strconv.Itoa(o.BestStep), strconv.Itoa(o.Steps),
			fmt.Sprintf("%.1f", o.Seconds)))
	}
	return t
}

// curves returns the validation curves of the best settings: mean, minimum and maximum over the seeds.
func (r *Results) curves() chart.Lines {
	lines := chart.Lines{Frame: chart.Frame{Title: "Validation, mean over the seeds", X: "epochs", Y: "score",
		Percent: true}}
	order := r.ranked()
	for tone, i := range order[:min(len(order), mostCurves)] {
		all, line := r.of(i), chart.Line{Name: r.Points[i].Words, Tone: tone}
		for k, x := range all[0].Outcome.Curve.X {
			sum, low, high, n := 0.0, math.Inf(1), math.Inf(-1), 0
			for _, c := range all {
				if at := slices.Index(c.Outcome.Curve.X, x); at >= 0 {
					v := c.Outcome.Curve.Y[at]
					sum, low, high, n = sum+v, min(low, v), max(high, v), n+1
				}
			}
			if n == len(all) || k == 0 && n > 0 {
				line.X, line.Y = append(line.X, x), append(line.Y, sum/float64(n))
				line.Low, line.High = append(line.Low, low), append(line.High, high)
			}
		}
		lines.Series = append(lines.Series, line)
	}
	return lines
}

// plot returns validation over the values of an axis: a line for each combination of the others or, if there are many
// or points are drawn, a dot for each point.
func (r *Results) plot(axis int) chart.Lines {
	a := r.Axes[axis]
	plot := chart.Lines{Frame: chart.Frame{Title: "Validation P@1 by " + a.Key, X: a.Key, Y: "validation P@1",
		Percent: true}}
	type dot struct {
		x float64
		s paired.Summary
	}
	lines, names := map[string][]dot{}, []string(nil)
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range r.Points {
		x, err := strconv.ParseFloat(p.Values[axis], 64)
		if err != nil || p.N == 0 {
			continue
		}
		low, high = min(low, x), max(high, x)
		var others []string
		for k, v := range p.Values {
			if k != axis {
				others = append(others, r.Axes[k].Key+"="+v)
			}
		}
		name := strings.Join(others, ", ")
		if lines[name] == nil {
			names = append(names, name)
		}
		lines[name] = append(lines[name], dot{x, p.Validation})
	}
	plot.LogX = low > 0 && (high >= 30*low || a.Range != nil && a.Range.Log)
	apart := a.Range != nil || len(names) > mostCurves
	for tone, name := range names {
		dots := lines[name]
		slices.SortStableFunc(dots, func(x, y dot) int { return cmp.Compare(x.x, y.x) })
		if apart {
			for _, d := range dots {
				plot.Series = append(plot.Series, chart.Line{X: []float64{d.x}, Y: []float64{d.s.Mean}, Dots: true})
			}
			continue
		}
		line := chart.Line{Name: name, Tone: tone, Dots: true}
		for _, d := range dots {
			spread := d.s.SD
			if math.IsNaN(spread) {
				spread = 0
			}
			line.X, line.Y = append(line.X, d.x), append(line.Y, d.s.Mean)
			line.Low, line.High = append(line.Low, d.s.Mean-spread), append(line.High, d.s.Mean+spread)
		}
		plot.Series = append(plot.Series, line)
	}
	return plot
}
