package studies

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"winnow/report/page"

	"gonum.org/v1/gonum/stat"
)

// DrawCharts draws the study's charts.
func (r *Results) DrawCharts() (all []page.Drawing) {
	c := r.Study.Chart
	if c == nil || r.Len() == 0 {
		return nil
	}
	switch c.Kind {
	case OverColumns:
		for _, data := range r.Study.Datasets() {
			if lines := r.overColumns(data); len(lines.Series) > 0 {
				all = append(all, lines)
			}
		}
		return all
	case OverSteps:
		for j := range r.Study.Columns {
			if lines := r.overSteps(j); len(lines.Series) > 0 {
				all = append(all, lines)
			}
		}
	case Boxes:
		for j := range r.Study.Columns {
			if boxes := r.drawBoxes(j); len(boxes.Places) > 0 {
				all = append(all, boxes)
			}
		}
	case Histograms:
		for j := range r.Study.Columns {
			for i := range r.Study.Rows {
				for _, h := range r.drawHistograms(i, j) {
					all = append(all, h)
				}
			}
		}
	}
	return all
}

// overColumns draws a measure over the columns of a dataset. If the study has ratios, it draws only the ratios.
func (r *Results) overColumns(data string) page.Lines {
	s, c := r.Study, r.Study.Chart
	measure := cmp.Or(c.Measure, s.Measures[0])
	lines := page.Lines{Frame: page.Frame{Title: s.Title, X: c.X, Y: c.Y, LogX: c.Log, LogY: c.Log}}
	if len(s.Datasets()) > 1 {
		lines.Title += ": " + data
	}
	ratios := slices.ContainsFunc(s.Rows, func(row Row) bool { return row.Ratio != nil })
	for i, row := range s.Rows {
		if ratios && row.Ratio == nil || len(c.Rows) > 0 && !slices.Contains(c.Rows, row.Name) {
			continue
		}
		line := page.Line{Name: row.Name, Tone: len(lines.Series), Dots: true}
		for j, column := range s.Columns {
			sum := r.summarizeCell(i, j, measure)
			if column.Data != data || sum.N == 0 || len(c.Columns) > 0 && !slices.Contains(c.Columns, column.Name) {
				continue
			}
			x := column.Rate
			if column.X != nil {
				x = *column.X
			}
			sd := sum.SD
			if math.IsNaN(sd) {
				sd = 0
			}
			line.X, line.Y = append(line.X, x), append(line.Y, sum.Mean)
			line.Low, line.High = append(line.Low, sum.Mean-sd), append(line.High, sum.Mean+sd)
		}
		if len(line.X) > 0 {
			lines.Series = append(lines.Series, line)
		}
	}
	return lines
}

// overSteps draws the traces of a column: the means over the seeds, with a band of one standard deviation.
func (r *Results) overSteps(column int) page.Lines {
	c := r.Study.Chart
	lines := page.Lines{Frame: r.newColumnFrame(column)}
	for i, row := range r.Study.Rows {
		at := map[float64][]float64{}
		for _, o := range r.collectOutcomes(i, column) {
			t := o.Traces[c.Trace]
			for k, x := range t.X {
				at[x] = append(at[x], t.Y[k])
			}
		}
		if len(at) == 0 {
			continue
		}
		line := page.Line{Name: row.Name, Tone: len(lines.Series)}
		for _, x := range listSortedKeys(at) {
			mean, sd := stat.Mean(at[x], nil), 0.0
			if len(at[x]) > 1 {
				sd = stat.StdDev(at[x], nil)
			}
			line.X, line.Y = append(line.X, x), append(line.Y, mean)
			line.Low, line.High = append(line.Low, mean-sd), append(line.High, mean+sd)
		}
		lines.Series = append(lines.Series, line)
	}
	return lines
}

// newColumnFrame returns the title and axes of a column's chart.
func (r *Results) newColumnFrame(column int) page.Frame {
	c := r.Study.Chart
	return page.Frame{Title: r.Study.Title + ": " + r.Study.Columns[column].Name, X: c.X, Y: c.Y}
}

// findFirstOutcome returns the outcome for the lowest seed.
func (r *Results) findFirstOutcome(row, column int) (Outcome, bool) {
	all := r.collectOutcomes(row, column)
	for _, seed := range listSortedKeys(all) {
		return all[seed], true
	}
	return Outcome{}, false
}

// drawBoxes draws the distributions of values after some steps. It uses only the lowest seed, because box plots of
// several seeds cannot be combined.
func (r *Results) drawBoxes(column int) page.Boxes {
	c := r.Study.Chart
	b := page.Boxes{Frame: r.newColumnFrame(column)}
	for _, share := range c.At {
		var place page.Place
		for i, row := range r.Study.Rows {
			o, _ := r.findFirstOutcome(i, column)
			if s, ok := findNearestSpread(o.Spreads[c.Trace], share*float64(o.Steps)); ok {
				place.Name = fmt.Sprint(s.Step)
				box := s.Box
				place.Boxes = append(place.Boxes, page.Box{
					Name: row.Name, Tone: i, Low: box[0], Q1: box[1], Median: box[2], Q3: box[3], High: box[4],
				})
			}
		}
		if len(place.Boxes) > 0 {
			b.Places = append(b.Places, place)
		}
	}
	return b
}

// findNearestSpread returns the recorded box nearest to a step.
func findNearestSpread(list []Spread, step float64) (s Spread, ok bool) {
	for _, o := range list {
		if len(o.Box) == 5 && (!ok || math.Abs(float64(o.Step)-step) < math.Abs(float64(s.Step)-step)) {
			s, ok = o, true
		}
	}
	return s, ok
}

// drawHistograms draws the scores of right and wrong labels after each step of the chart, for the lowest seed. Heights
// are shares of all scores.
func (r *Results) drawHistograms(row, column int) (all []page.Histogram) {
	c := r.Study.Chart
	o, _ := r.findFirstOutcome(row, column)
	for _, s := range o.Spreads[c.Trace] {
		total := 0
		for _, n := range slices.Concat(s.Right.N, s.Wrong.N) {
			total += n
		}
		if total == 0 {
			continue
		}
		title := fmt.Sprintf("%s, %s, steps %d to %d by %s",
			r.Study.Rows[row].Name, r.Study.Columns[column].Name, s.From, s.Step, s.Judge)
		h := page.Histogram{Frame: page.Frame{Title: title, X: c.X, Y: c.Y, Percent: true}}
		if s.Threshold != nil {
			name := "threshold " + strconv.FormatFloat(*s.Threshold, 'g', 3, 64)
			h.Marks = []page.Mark{{At: *s.Threshold, Name: name}}
		}
		for k, side := range []struct {
			name string
			of   Counts
			tone int
		}{{"right labels", s.Right, 0}, {"wrong labels", s.Wrong, 1}} {
			bars := page.Bars{Name: side.name, Edges: side.of.Edges, Tone: side.tone}
			for _, n := range side.of.N {
				bars.Heights = append(bars.Heights, float64(n)/float64(total))
			}
			if len(bars.Heights) > 0 || k == 0 {
				h.Bars = append(h.Bars, bars)
			}
		}
		all = append(all, h)
	}
	return all
}
