package studies

import (
	"fmt"
	"io"

	"winnow/report/page"
)

// HTML writes a self-contained page with claims, charts and tables.
func (r *Results) HTML(w io.Writer) error {
	p := page.Report{
		Command: r.Command, Title: r.Study.Title, Verdict: r.Lead, Warnings: r.Warnings, Facts: r.Facts,
	}
	p.Verdict = append(p.Verdict, fmt.Sprintf("%s, %s. %s", r.Study.Paper, r.Study.Source, r.explainTables()))
	if verdicts := r.TestClaims(); len(verdicts) > 0 {
		p.Sections = append(p.Sections, r.claimsSection(verdicts))
	}
	if drawings := append(r.DrawCharts(), r.Drawings...); len(drawings) > 0 {
		p.Sections = append(p.Sections, page.Section{Title: "In pictures", Charts: drawings})
	}
	numbers := page.Section{Title: "In numbers", Notes: r.Study.Notes}
	for _, m := range r.listMeasures() {
		if lines := r.measureTable(m); len(lines) > 1 {
			numbers.Tables = append(numbers.Tables, page.Table{Caption: lines[0][0], Head: lines[0], Rows: lines[1:]})
		}
	}
	p.Sections = append(p.Sections, numbers)
	return p.WriteHTML(w)
}

// claimsSection returns the section of the claims. A folded table contains every comparison.
func (r *Results) claimsSection(verdicts []Verdict) page.Section {
	claims := page.Table{Head: []string{"claim", "verdict", "comparisons"}, Words: true}
	all := page.Table{Caption: "Every comparison", Words: true, Folded: true,
		Head: []string{"better", "than", "verdict", "difference"}}
	for _, v := range verdicts {
		claims.Rows = append(claims.Rows, []string{v.Claim.Say, v.DescribeState(), v.formatVerdictNumbers(r.StandIn)})
		for _, c := range v.Comparisons {
			all.Rows = append(all.Rows, []string{c.Better, c.Than, string(c.State), c.Format()})
		}
	}
	return page.Section{Title: "What holds of the claims", Notes: []string{r.Study.explainTests()},
		Tables: []page.Table{claims, all}}
}
