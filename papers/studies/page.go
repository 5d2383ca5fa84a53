package studies

import (
	"fmt"
	"io"
	"slices"

	"winnow/report/page"
)

// HTML writes a self-contained page: claims, charts, tables.
func (r *Results) HTML(w io.Writer) error {
	p := page.Report{
		Command: r.Command, Title: r.Study.Title, Verdict: r.Lead, Warnings: r.Warnings, Facts: r.Facts,
		Queries: r.drawQueries(),
	}
	p.Verdict = append(p.Verdict, fmt.Sprintf("%s, %s. %s", r.Study.Paper, r.Study.Source, r.explainTables()))
	read := func(q page.QueryCard) bool { return q.Query.Data != nil }
	if len(p.Queries) > 0 && !slices.ContainsFunc(p.Queries, read) {
		p.Warnings = append(p.Warnings, "The pictures were not found, so their paths are shown: name the folder of "+
			"the images, or a .zip file of it, as the root.")
	}
	if verdicts := r.TestClaims(); len(verdicts) > 0 {
		p.Sections = append(p.Sections, r.claimsSection(verdicts))
	}
	if drawings := append(r.drawStudyCharts(), r.Drawings...); len(drawings) > 0 {
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

// claimsSection lists the claims, and every comparison in a table that the reader opens.
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
	return page.Section{Title: "What holds of the claims", Notes: []string{explainTests(verdicts)},
		Tables: []page.Table{claims, all}}
}

// Shown returns the paths of the images of a column that the page shows.
func (r *Results) Shown(column int) (paths []string) {
	r.eachQuery(column, func(_ int, q Query) {
		paths = append(paths, q.Path)
		for _, n := range q.Nearest {
			paths = append(paths, n.Path)
		}
	})
	return paths
}

// eachQuery calls visit for every query of a column for the lowest seed and the trained rows, as in the paper.
func (r *Results) eachQuery(column int, visit func(row int, q Query)) {
	if r.Study.Chart == nil || r.Study.Chart.Kind != Neighbours {
		return
	}
	for k, more := 0, true; more; k++ {
		more = false
		for i, row := range r.Study.Rows {
			if o, _ := r.findFirstOutcome(i, column); row.Recipe != "" && k < len(o.Queries) {
				visit(i, o.Queries[k])
				more = true
			}
		}
	}
}

// drawQueries draws the neighbours of each column's queries, the rows one below the other.
func (r *Results) drawQueries() (cards []page.QueryCard) {
	for j, column := range r.Study.Columns {
		var files map[string][]byte
		if j < len(r.Pictures) {
			files = r.Pictures[j]
		}
		r.eachQuery(j, func(row int, q Query) {
			card := page.QueryCard{By: r.Study.Rows[row].Name + ", " + column.Name,
				Query: page.Picture{Data: files[q.Path], Caption: q.Class, File: q.Path}}
			for _, n := range q.Nearest {
				card.Nearest = append(card.Nearest, page.Picture{Data: files[n.Path], Caption: n.Class,
					Note: fmt.Sprintf("%.3f", n.Similarity), File: n.Path, Good: n.Hit})
			}
			cards = append(cards, card)
		})
	}
	return cards
}
