package studies

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"winnow/internal/pagestyle"
	"winnow/report/page"
)

//go:embed report.html.tmpl
var pageText string

//go:embed report.css
var pageStyle string

// pageData is what the page shows.
type pageData struct {
	Study       *Study
	Notes       []string
	Explanation string
	Tables      []pageTable
	Verdicts    []pageVerdict
	Charts      []pageChart
	Found       []pageFound
	Tested      string // how the comparisons are made
}

type pageTable struct {
	Head []string
	Rows [][]string
}

type pageVerdict struct {
	Sentence string
	State    string    // yes, no, unsure; none where nothing was compared
	Says     string    // the state in words
	Others   []string  // comparisons that do not hold or of which nothing can be said
	Dots     *pageDots // nil where nothing was compared
}

// pageDots is a claim's comparisons on a line, places from 0 to 1.
type pageDots struct {
	Zero      float64 // what the claim asks for
	Dots      []pageDot
	Low, High string // the ends of the line
	Says      string
}

type pageDot struct {
	At   float64
	Kind string // yes, no, unsure
	Says string
}

// Legend says what the marks of neighbours mean.
func (pageData) Legend() template.HTML { return page.QueryLegend }

// Zero and Left put a place on a line into a style.
func (pageData) Zero(at float64) template.CSS {
	return template.CSS(fmt.Sprintf("--zero:%.2f%%", 100*at))
}
func (pageData) Left(at float64) template.CSS {
	return template.CSS(fmt.Sprintf("left:%.2f%%", 100*at))
}

// kinds are the states as the page's style names them.
var kinds = map[State]string{Holds: "yes", Fails: "no", CannotSay: "unsure"}

// dots puts the comparisons of a claim on a line that holds them and what the claim asks for.
func (v Verdict) dots() *pageDots {
	if len(v.Comparisons) == 0 {
		return nil
	}
	low, high := 0.0, 0.0
	for _, c := range v.Comparisons {
		low, high = min(low, c.Mean), max(high, c.Mean)
	}
	wide := high - low
	if wide == 0 {
		wide = 1
	}
	low, high = low-0.06*wide, high+0.06*wide
	place := func(d float64) float64 { return (d - low) / (high - low) }
	d := &pageDots{Zero: place(0), Low: fmt.Sprintf("%+.2g", low), High: fmt.Sprintf("%+.2g", high), Says: v.counts()}
	for _, c := range v.Comparisons {
		dot := pageDot{At: place(c.Mean), Kind: kinds[c.State], Says: fmt.Sprintf("%s: %s against %s: %s", c.State, c.Better, c.Than, c.numbers())}
		d.Dots = append(d.Dots, dot)
	}
	return d
}

type pageChart struct {
	Title   string
	Drawing template.HTML
}

// pageFound is what queries of a column find.
type pageFound struct {
	Title   string
	Note    string
	Queries []template.HTML
}

// HTML writes one self-contained page: claims, charts, tables.
func (r *Results) HTML(w io.Writer) error {
	d := pageData{Study: r.Study, Notes: r.notes(), Explanation: r.explanation(), Charts: r.charts(), Tested: r.tested()}
	for _, m := range r.measures() {
		if lines := r.grid(m); len(lines) > 1 {
			d.Tables = append(d.Tables, pageTable{lines[0], lines[1:]})
		}
	}
	var err error
	if d.Found, err = r.found(); err != nil {
		return err
	}
	style := pageStyle
	if len(d.Found) > 0 {
		style += page.QueryStyle + foundStyle
	}
	for _, v := range r.Verdicts() {
		p := pageVerdict{Sentence: v.sentence(r.StandIn), State: kinds[v.State()], Says: v.says(), Others: v.others(), Dots: v.dots()}
		if len(v.Comparisons) == 0 {
			p.State = "none"
		}
		d.Verdicts = append(d.Verdicts, p)
	}
	t, err := template.New("report").Funcs(template.FuncMap{
		"begin":  pagestyle.Page{Command: "reproduce", Title: r.Study.Name + " – winnow reproduce", Style: style}.Begin,
		"finish": func() template.HTML { return pagestyle.End },
	}).Parse(pageText)
	if err != nil {
		return err
	}
	return t.Execute(w, d)
}
