package studies

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"winnow/internal/paired"
	"winnow/internal/text"
)

// summary is a cell over its seeds, in printed units: percent if the study is in percent.
type summary struct {
	paired.Summary
	Paper    float64 // NaN: none
	Doubtful bool    // the paper's number
}

// summarizeCell sums up a measure of a row on a column.
func (r *Results) summarizeCell(row, column int, measure string) summary {
	values := r.collectValues(row, column, measure)
	scale := r.computePrintFactor(row, measure)
	var list []float64
	for _, seed := range listSortedKeys(values) {
		list = append(list, scale*values[seed])
	}
	s := summary{Summary: paired.Summarize(list), Paper: math.NaN()}
	if p, ok := r.paperValue(side{row, column}, measure); ok && !r.StandIn {
		s.Paper, s.Doubtful = p*r.Study.computePrintScale(measure), r.Study.Rows[row].Paper[column].Doubtful
	}
	return s
}

// computePrintFactor returns the factor from a row's value to its printed value; ratios are not shares.
func (r *Results) computePrintFactor(row int, measure string) float64 {
	if r.Study.Rows[row].Ratio != nil {
		return 1
	}
	return r.Study.computePrintScale(measure)
}

// countPrintedDigits returns the number of printed digits: two of percent, four of shares.
func (s *Study) countPrintedDigits(measure string) int {
	if n, ok := notShares[measure]; ok {
		return n
	}
	if s.computePrintScale(measure) == 100 {
		return 2
	}
	return 4
}

// cellText returns a summary as text: "83.60 ±0.41 (83.30)", with the paper's number in brackets. n is added if there
// are fewer seeds than in other cells.
func (r *Results) cellText(row, column int, measure string) string {
	s := r.summarizeCell(row, column, measure)
	d := r.Study.countPrintedDigits(measure)
	if r.Study.Rows[row].Ratio != nil {
		d = 3
	}
	text := ""
	if s.N > 0 {
		text = strconv.FormatFloat(s.Mean, 'f', d, 64)
	}
	if s.N > 1 {
		text += " ±" + strconv.FormatFloat(s.SD, 'f', d, 64)
	}
	if s.N > 0 && s.N < r.countMostSeeds() {
		text += fmt.Sprintf(" n=%d", s.N)
	}
	if math.IsNaN(s.Paper) {
		return text
	}
	text = cmp.Or(text, "–")
	text += " (" + strconv.FormatFloat(s.Paper, 'f', d, 64)
	if s.Doubtful {
		text += "?"
	}
	return text + ")"
}

// countMostSeeds returns the largest number of seeds of a cell.
func (r *Results) countMostSeeds() (n int) {
	for _, all := range r.outcomes {
		n = max(n, len(all))
	}
	return n
}

// measureTable returns the table of a measure: a header, then a line for each row. Empty rows and columns are left out.
func (r *Results) measureTable(measure string) (lines [][]string) {
	var columns []int
	for j := range r.Study.Columns {
		for i := range r.Study.Rows {
			if r.summarizeCell(i, j, measure).N > 0 {
				columns = append(columns, j)
				break
			}
		}
	}
	head := []string{r.Study.measureTitle(measure)}
	for _, j := range columns {
		head = append(head, r.columnTitle(j))
	}
	lines = append(lines, head)
	for i, row := range r.Study.Rows {
		line, known := []string{row.Name}, false
		for _, j := range columns {
			text := r.cellText(i, j, measure)
			known = known || text != ""
			line = append(line, text)
		}
		if known {
			lines = append(lines, line)
		}
	}
	return lines
}

// columnTitle returns the name of a column and, for given labels, their share of wrong ones if known.
func (r *Results) columnTitle(j int) string {
	c := r.Study.Columns[j]
	if c.Noise != "given" {
		return c.Name
	}
	for i := range r.Study.Rows {
		for _, o := range r.collectOutcomes(i, j) {
			if o.NoiseRate > 0 {
				return fmt.Sprintf("%s (%.1f %% wrong)", c.Name, 100*o.NoiseRate)
			}
		}
	}
	return c.Name
}

func (s *Study) measureTitle(measure string) string {
	if s.computePrintScale(measure) == 100 {
		name, last := strings.CutSuffix(measure, LastState)
		if last {
			return name + " %" + LastState
		}
		return name + " %"
	}
	return measure
}

// explainTables explains the tables.
func (r *Results) explainTables() string {
	least, most := math.MaxInt, 0
	for _, all := range r.outcomes {
		least, most = min(least, len(all)), max(most, len(all))
	}
	text := fmt.Sprintf("Mean ± standard deviation over %d seeds", most)
	switch {
	case most <= 1:
		text = "One seed"
	case least < most:
		text = fmt.Sprintf("Mean ± standard deviation over %d to %d seeds (results.csv has each)", least, most)
	}
	hasNumbers := slices.ContainsFunc(r.Study.Rows, func(row Row) bool { return len(row.Paper) > 0 })
	if r.StandIn {
		text += "; run on " + r.Data
	}
	switch {
	case hasNumbers && r.StandIn:
		text += ", which is not the paper's data: its numbers are not comparable and not shown"
	case hasNumbers:
		text += "; in brackets the paper's number (?: doubtful), of its own network and training"
	}
	return text + "."
}

// CountStates returns how many comparisons were run, and their number in each state: "6 of 9 comparisons run, holds in
// 4, does not in 1".
func (v Verdict) CountStates() string {
	s := fmt.Sprintf("%d of %s run, holds in %d", len(v.Comparisons), text.Plural(v.Of, "comparison"), v.Count(Holds))
	if n := v.Count(Fails); n > 0 {
		s += fmt.Sprintf(", does not in %d", n)
	}
	return s
}

// DescribeState returns the state in words.
func (v Verdict) DescribeState() string {
	if len(v.Comparisons) == 0 {
		return "not run"
	}
	return string(v.State())
}

// formatVerdict returns a verdict in one line: "PRISM above unfiltered at every rate: 8 of 8 comparisons run, holds in
// 7; in the paper's numbers 8 of 8".
func (v Verdict) formatVerdict(standIn bool) string {
	return v.Claim.Say + ": " + v.formatVerdictNumbers(standIn)
}

// formatVerdictNumbers returns a verdict without its claim.
func (v Verdict) formatVerdictNumbers(standIn bool) string {
	if len(v.Comparisons) == 0 {
		return v.DescribeState()
	}
	text := v.CountStates()
	if c := v.Comparisons[0]; v.Of == 1 {
		text = fmt.Sprintf("%s, %s", c.State, c.Format())
	}
	if in, of := v.inPaper(); of > 0 && !standIn {
		text += fmt.Sprintf("; in the paper's numbers %d of %d", in, of)
	}
	return text
}

// Format returns a comparison in numbers: "+0.0123, 5 seeds, p 0.004, corrected 0.03".
func (c Comparison) Format() string {
	s := fmt.Sprintf("%+.4f, %s", c.Mean, text.Plural(c.N, "seed"))
	if !math.IsNaN(c.P) {
		s += fmt.Sprintf(", p %.2g, corrected %.2g", c.P, c.Holm)
	}
	if c.Seeds > 0 {
		s += fmt.Sprintf("; about %d seeds would tell", c.Seeds)
	}
	return s
}

// listUnheld returns a line for each comparison that does not hold, then for each undecided one. A single comparison is
// in the sentence.
func (v Verdict) listUnheld() (lines []string) {
	if v.Of == 1 {
		return nil
	}
	for _, state := range []State{Fails, CannotSay} {
		for _, c := range v.Comparisons {
			if c.State == state {
				lines = append(
					lines,
					fmt.Sprintf("%s: %s against %s: %s", c.State, c.Better, c.Than, c.Format()),
				)
			}
		}
	}
	return lines
}

// explainTests explains the comparisons.
func explainTests(verdicts []Verdict) string {
	asks := map[question]bool{}
	for _, v := range verdicts {
		for _, c := range v.Comparisons {
			asks[newQuestion(v.Claim, c)] = true
		}
	}
	corrected := ""
	switch n := len(asks); n {
	case 0:
		return "No comparison was run."
	case 1: // one needs no correction
	default:
		corrected = fmt.Sprintf(" after Holm's correction for the %d different comparisons here", n)
	}
	return fmt.Sprintf("Comparisons are paired over the seeds. A difference counts if it is significant (two-sided "+
		"t-test, p < %v%s), whatever the number of seeds; of an undecided one the number of seeds is named that "+
		"would find it with a chance of 80 %%, if it is at most 1,000. Of a claim that was not run as a whole "+
		"nothing can be said. All seeds share one test set: the result is about other trainings, not other images.",
		significance, corrected)
}
