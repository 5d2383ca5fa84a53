package studies

import (
	_ "embed"
	"html/template"
	"io"
)

//go:embed report.html.tmpl
var pageText string

var page = template.Must(template.New("report").Parse(pageText))

// pageData is what the page shows.
type pageData struct {
	Study       *Study
	Explanation string
	Tables      []pageTable
	Verdicts    []pageVerdict
	Charts      []pageChart
}

type pageTable struct {
	Head []string
	Rows [][]string
}

type pageVerdict struct {
	Sentence string
	State    string // yes, partly, no; soft where nothing was compared
	Failed   []string
}

type pageChart struct {
	Title   string
	Drawing template.HTML
}

// HTML writes one self-contained page: tables, charts, claims.
func (r *Results) HTML(w io.Writer) error {
	d := pageData{Study: r.Study, Explanation: r.explanation()}
	for _, m := range r.Study.Measures {
		if lines := r.grid(m); len(lines) > 1 {
			d.Tables = append(d.Tables, pageTable{lines[0], lines[1:]})
		}
	}
	for _, v := range r.Verdicts() {
		p := pageVerdict{Sentence: v.sentence(r.StandIn), State: "partly", Failed: v.failed()}
		switch holds, _ := v.Holds(); {
		case len(v.Comparisons) == 0:
			p.State = "soft"
		case holds == len(v.Comparisons):
			p.State = "yes"
		case holds == 0:
			p.State = "no"
		}
		d.Verdicts = append(d.Verdicts, p)
	}
	d.Charts = r.charts()
	return page.Execute(w, d)
}
