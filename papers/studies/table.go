package studies

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"winnow/internal/spread"
	"winnow/internal/text"
)

// summary summarises a cell over its seeds, in printed units (percent if the study's unit is percent).
type summary struct {
	spread.Summary
	Paper    float64 // the paper's number; NaN: no number
	Doubtful bool    // the paper's number is doubtful
}

// summarizeCell summarises a measure of a row on a column over the seeds.
func (r *Results) summarizeCell(row, column int, measure string) summary {
	values := r.collectValues(row, column, measure)
	scale := r.computePrintFactor(row, measure)
	var list []float64
	for _, seed := range listSortedKeys(values) {
		list = append(list, scale*values[seed])
	}
	s := summary{Summary: spread.Summarize(list), Paper: math.NaN()}
	if p, ok := r.paperValue(side{row, column}, measure); ok && !r.StandIn {
		s.Paper, s.Doubtful = p*r.Study.computePrintScale(measure), r.Study.Rows[row].Paper[column].Doubtful
	}
	return s
}

// computePrintFactor returns the factor from a row's value to its printed value: 1 for ratios, which are not shares.
func (r *Results) computePrintFactor(row int, measure string) float64 {
	if r.Study.Rows[row].Ratio != nil {
		return 1
	}
	return r.Study.computePrintScale(measure)
}

// countPrintedDigits returns the number of printed decimal places: two for percent, four for shares.
func (s *Study) countPrintedDigits(measure string) int {
	if n, ok := notShares[measure]; ok {
		return n
	}
	if s.computePrintScale(measure) == 100 {
		return 2
	}
	return 4
}

// cellText returns a summary as text: "83.60 ±0.41 (83.30)", with the paper's number in brackets. If the cell has fewer
// seeds than other cells, the text contains their number n.
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

// measureTable returns the table of a measure: a header and a line for each row. It leaves out empty rows and columns.
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

// columnTitle returns the name of a column. For given labels it adds the share of wrong labels, if known.
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

// explainTables returns the sentence that explains the numbers in the tables.
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
		text += ", which is not the paper's data: the paper's numbers are not comparable and not shown"
	case hasNumbers:
		text += "; brackets contain the number in the paper (?: doubtful), for its own network and training"
	}
	return text + "."
}

// CountStates returns the number of comparisons that were run and their number in each state, as in "6 of 9 comparisons
// run, holds in 4, does not in 1".
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

// formatVerdictNumbers returns the numbers of a verdict, without the text of its claim.
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

// Format returns a comparison in numbers: "mean difference +0.0123, 5 seeds, p 0.004, corrected p 0.03".
func (c Comparison) Format() string {
	s := fmt.Sprintf("mean difference %+.4f, %s", c.Mean, text.Plural(c.N, "seed"))
	if !math.IsNaN(c.P) {
		s += fmt.Sprintf(", p %.2g, corrected p %.2g", c.P, c.Holm)
	}
	if c.Seeds > 0 {
		s += fmt.Sprintf("; about %d seeds would decide", c.Seeds)
	}
	return s
}

// listFailed returns a line for each comparison that does not hold. It returns none for a claim with a single
// comparison, whose numbers are part of the verdict's sentence.
func (v Verdict) listFailed() (lines []string) {
	for _, c := range v.Comparisons {
		if c.State == Fails && v.Of > 1 {
			lines = append(lines, fmt.Sprintf("%s: %s against %s: %s", c.State, c.Better, c.Than, c.Format()))
		}
	}
	return lines
}

// explainTests returns the sentences that explain the comparisons.
func (s *Study) explainTests() string {
	family := map[bool]string{false: "of a claim", true: "here"}[s.Joint]
	return fmt.Sprintf("Comparisons are paired by seed. A difference counts if it is significant (two-sided t-test, "+
		"p < %v after Holm's correction for the comparisons %s), for any number of seeds. An undecided comparison "+
		"states how many seeds would detect the difference with a power of 80 %%, if at most 1,000. A claim fails "+
		"with one significant counterexample, and holds only if all its comparisons were run and hold. All seeds "+
		"share one test set: the result applies to other trainings, not to other images.", significance, family)
}
