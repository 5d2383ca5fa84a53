package studies

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"winnow/internal/text"
)

// Summary is a cell over its seeds, in what is printed: percent where the study is in percent.
type Summary struct {
	N        int
	Mean, SD float64 // SD is the sample's; NaN for one seed
	Paper    float64 // NaN where there is none
	Doubtful bool    // the paper's number
}

// Summary sums up a measure of a row on a column.
func (r *Results) Summary(row, column int, measure string) Summary {
	s := Summary{Mean: math.NaN(), SD: math.NaN(), Paper: math.NaN()}
	values := r.values(row, column, measure)
	scale := r.printed(row, measure)
	var list []float64
	for _, seed := range sorted(values) {
		list = append(list, scale*values[seed])
	}
	if s.N = len(list); s.N > 0 {
		s.Mean = stat.Mean(list, nil)
	}
	if s.N > 1 {
		s.SD = stat.StdDev(list, nil)
	}
	if p, ok := r.paperValue(side{row, column}, measure); ok && !r.StandIn {
		s.Paper, s.Doubtful = p*r.Study.scale(measure), r.Study.Rows[row].Paper[column].Doubtful
	}
	return s
}

// printed returns what turns a value of a row into what is printed: ratios are no shares.
func (r *Results) printed(row int, measure string) float64 {
	if r.Study.Rows[row].Ratio != nil {
		return 1
	}
	return r.Study.scale(measure)
}

// digits of what is printed: two of percent, four of shares.
func (s *Study) digits(measure string) int {
	switch {
	case measure == "seconds":
		return 1
	case s.scale(measure) == 100:
		return 2
	}
	return 4
}

// cellText returns a summary in words: "83.60 ±0.41 (83.30 +0.30)". In brackets stand the paper's number and how far ours is
// above it; n where fewer seeds are there than in other cells.
func (r *Results) cellText(row, column int, measure string) string {
	s := r.Summary(row, column, measure)
	d := r.Study.digits(measure)
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
	if s.N > 0 && s.N < r.most() {
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
	if s.N > 0 {
		text += fmt.Sprintf(" %+.*f", d, s.Mean-s.Paper)
	}
	return text + ")"
}

// most returns the number of seeds of the cells that have the most.
func (r *Results) most() (n int) {
	for _, all := range r.outcomes {
		n = max(n, len(all))
	}
	return n
}

// grid returns the table of a measure: a head, then a line a row. Rows and columns of which nothing is known are left out.
func (r *Results) grid(measure string) (lines [][]string) {
	var columns []int
	for j := range r.Study.Columns {
		for i := range r.Study.Rows {
			if r.Summary(i, j, measure).N > 0 {
				columns = append(columns, j)
				break
			}
		}
	}
	head := []string{r.Study.measureTitle(measure)}
	for _, j := range columns {
		head = append(head, r.Study.Columns[j].Name)
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

func (s *Study) measureTitle(measure string) string {
	if s.scale(measure) == 100 {
		return measure + " %"
	}
	return measure
}

// explanation says how to read the tables.
func (r *Results) explanation() string {
	least, most, untrained := math.MaxInt, 0, 0
	for _, all := range r.outcomes {
		least, most = min(least, len(all)), max(most, len(all))
		for _, o := range all {
			if o.Untrained {
				untrained++
			}
		}
	}
	text := fmt.Sprintf("Mean ± standard deviation over %d seeds", most)
	switch {
	case most <= 1:
		text = "One seed"
	case least < most:
		text = fmt.Sprintf("Mean ± standard deviation over %d to %d seeds (results.csv has each)", least, most)
	}
	if untrained > 0 {
		text += fmt.Sprintf("; in %d of %d trainings no state was better on the validation split than the head before its first step, which is measured there", untrained, r.Len())
	}
	if r.StandIn {
		return text + "; run on " + r.Data + ", which is not the paper's data: its numbers are not comparable and not shown."
	}
	if slices.ContainsFunc(r.Study.Rows, func(row Row) bool { return len(row.Paper) > 0 }) {
		text += "; in brackets the paper's number (?: doubtful) and how far ours is above it"
	}
	return text + "."
}

// sentence says a verdict in one line: "PRISM above unfiltered at every rate: 8 of 8 (7 with p < 0.05); in the paper 8 of 8".
func (v Verdict) sentence(standIn bool) string {
	holds, significant := v.Holds()
	if len(v.Comparisons) == 0 {
		return v.Claim.Say + ": not run"
	}
	text := fmt.Sprintf("%s: %d of %d (%d with p < %v)", v.Claim.Say, holds, len(v.Comparisons), significant, Significance)
	if c := v.Comparisons[0]; len(v.Comparisons) == 1 && c.Holds {
		text += fmt.Sprintf(", %+.4f", c.Difference)
		if !math.IsNaN(c.P) {
			text += fmt.Sprintf(", p %.2g", c.P)
		}
	}
	if in, of := v.InPaper(); of > 0 && !standIn {
		text += fmt.Sprintf("; in the paper's numbers %d of %d", in, of)
	}
	return text
}

// failed says which comparisons do not hold, one line each.
func (v Verdict) failed() (lines []string) {
	for _, c := range v.Comparisons {
		if !c.Holds {
			p := fmt.Sprintf("p %.2g, n %d", c.P, c.N)
			if math.IsNaN(c.P) {
				p = "one seed"
			}
			lines = append(lines, fmt.Sprintf("not %s against %s: %+.4f (%s)", c.Better, c.Than, c.Difference, p))
		}
	}
	return lines
}

// Text writes tables and verdicts for a terminal.
func (r *Results) Text(w io.Writer) error {
	var b strings.Builder
	s := r.Study
	fmt.Fprintf(&b, "%s — %s, %s\n%s\n", s.Title, s.Paper, s.Source, r.explanation())
	for _, m := range s.Measures {
		b.WriteString("\n")
		text.Aligned(&b, r.grid(m), 0)
	}
	if verdicts := r.Verdicts(); len(verdicts) > 0 {
		fmt.Fprintf(&b, "\nclaims (paired t-test over the seeds)\n")
		for _, v := range verdicts {
			fmt.Fprintf(&b, "  %s\n", v.sentence(r.StandIn))
			for _, line := range v.failed() {
				fmt.Fprintf(&b, "    %s\n", line)
			}
		}
	}
	for _, note := range s.Notes {
		fmt.Fprintf(&b, "\nnote: %s\n", note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
