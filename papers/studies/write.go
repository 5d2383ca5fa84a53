package studies

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"winnow/internal/atomicfile"
)

// Markdown writes tables and verdicts as a page.
func (r *Results) Markdown(w io.Writer) error {
	var b strings.Builder
	s := r.Study
	fmt.Fprintf(&b, "# %s\n\n%s, %s. %s\n", s.Title, s.Paper, s.Source, r.explainTables())
	for _, m := range r.listMeasures() {
		if len(r.measureTable(m)) > 1 {
			b.WriteString("\n" + r.markdownTable(m))
		}
	}
	b.WriteString(r.writeClaimsPart())
	for _, note := range r.Study.Notes {
		fmt.Fprintf(&b, "\n%s\n", note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Brief returns the table of the study's first measure and the verdicts, as on the page.
func (r *Results) Brief() string {
	more := ""
	if others := r.listMeasures()[1:]; len(others) > 0 {
		more = fmt.Sprintf("\nreport.md and report.html also have: %s.\n", strings.Join(others, "; "))
	}
	return fmt.Sprintf("%s, %s. %s\n\n", r.Study.Paper, r.Study.Source, r.explainTables()) +
		r.markdownTable(r.Study.Measures[0]) + r.writeClaimsPart() + more
}

// markdownTable returns the table of a measure, as on the page.
func (r *Results) markdownTable(measure string) string {
	var b strings.Builder
	lines := r.measureTable(measure)
	fmt.Fprintf(&b, "| %s |\n|---%s|\n",
		strings.Join(escapeCells(lines[0]), " | "), strings.Repeat("|---:", len(lines[0])-1))
	for _, line := range lines[1:] {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(escapeCells(line), " | "))
	}
	return b.String()
}

// writeClaimsPart returns the part of the page about the claims, or "" if the study has no claims. The claims that are
// decided have a line each; all others share a line.
func (r *Results) writeClaimsPart() string {
	verdicts := r.TestClaims()
	if len(verdicts) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## Claims\n\n%s\n\n", r.Study.explainTests())
	undecided := map[string][]string{}
	for _, v := range verdicts {
		if state := v.DescribeState(); v.State() == CannotSay {
			say := v.Claim.Say
			if len(v.Comparisons) > 0 {
				say += " (" + v.formatVerdictNumbers(r.StandIn) + ")"
			}
			undecided[state] = append(undecided[state], say)
			continue
		}
		fmt.Fprintf(&b, "- **%s** – %s\n", v.DescribeState(), v.formatVerdict(r.StandIn))
		for _, line := range v.listFailed() {
			fmt.Fprintf(&b, "  - %s\n", line)
		}
	}
	for _, state := range listSortedKeys(undecided) {
		fmt.Fprintf(&b, "- **%s** – %s\n", state, strings.Join(undecided[state], "; "))
	}
	return b.String()
}

func escapeCells(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = strings.ReplaceAll(c, "|", `\|`)
	}
	return out
}

// csvHead lists the columns of [Results.CSV].
var csvHead = []string{"study", "row", "column", "data", "noise", "rate", "realised_rate", "seed", "measure", "value",
	"paper", "seconds"}

// CSV writes a line with the columns of csvHead for each measure of each cell. value and paper, the paper's value, are
// in the measure's own scale.
func (r *Results) CSV(w io.Writer) error {
	table := csv.NewWriter(w)
	table.Write(csvHead) // Error returns the writer's errors
	for i, row := range r.Study.Rows {
		for j, column := range r.Study.Columns {
			all := r.collectOutcomes(i, j)
			for _, seed := range listSortedKeys(all) {
				o := all[seed]
				for _, m := range r.listMeasures() {
					v, ok := r.collectValues(i, j, m)[seed]
					if !ok {
						continue
					}
					paper := ""
					if p, ok := r.paperValue(side{i, j}, m); ok && !r.StandIn {
						paper = formatResult(p)
					}
					table.Write([]string{
						r.Study.Name, row.Name, column.Name, o.Data, column.Noise, formatResult(column.Rate),
						formatResult(
							o.NoiseRate,
						), strconv.Itoa(seed), m, formatResult(v), paper, strconv.FormatFloat(o.Seconds,
							'f', 2, 64),
					})
				}
			}
		}
	}
	table.Flush()
	return table.Error()
}

func formatResult(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// Write writes report.md, report.html and results.csv into a folder.
func (r *Results) Write(dir string) error {
	return atomicfile.WriteAll(dir, map[string]func(io.Writer) error{
		"report.md": r.Markdown, "report.html": r.HTML, "results.csv": r.CSV})
}
