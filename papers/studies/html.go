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

// pageData is the content of the page.
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
	State    string    // yes, no, unsure; none: nothing was compared
	Says     string    // the state in words
	Others   []string  // comparisons that do not hold or are undecided
	Dots     *pageDots // nil: nothing was compared
}

// pageDots is a claim's comparisons on a line, at positions from 0 to 1.
type pageDots struct {
	Zero      float64 // position of the claim's limit
	Dots      []pageDot
	Low, High string // the ends of the line
	Says      string
}

type pageDot struct {
	At   float64
	Kind string // yes, no, unsure
	Says string
}

// Legend explains the marks of neighbours.
func (pageData) Legend() template.HTML { return page.QueryLegend }

// Zero returns the style of the claim's limit at a position.
func (pageData) Zero(at float64) template.CSS {
	return template.CSS(fmt.Sprintf("--zero:%.2f%%", 100*at))
}

// Left returns the style of a mark at a position.
func (pageData) Left(at float64) template.CSS {
	return template.CSS(fmt.Sprintf("left:%.2f%%", 100*at))
}

// kinds are the names of the states in the page's style sheet.
var kinds = map[State]string{Holds: "yes", Fails: "no", CannotSay: "unsure"}

// dots puts the comparisons of a claim on a line that also shows the claim's limit.
func (v verdict) dots() *pageDots {
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
		says := fmt.Sprintf("%s: %s against %s: %s", c.State, c.Better, c.Than, c.numbers())
		d.Dots = append(d.Dots, pageDot{At: place(c.Mean), Kind: kinds[c.State], Says: says})
	}
	return d
}

type pageChart struct {
	Title   string
	Drawing template.HTML
}

// pageFound shows what queries of a column find.
type pageFound struct {
	Title   string
	Note    string
	Queries []template.HTML
}

// HTML writes a self-contained page: claims, charts, tables.
func (r *Results) HTML(w io.Writer) error {
	d := r.pageClaims()
	d.Study, d.Notes, d.Explanation, d.Charts = r.Study, r.notes(), r.explanation(), r.charts()
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
	t, err := r.template(style)
	if err != nil {
		return err
	}
	return t.Execute(w, d)
}

// pageClaims returns what the page's part about the claims shows.
func (r *Results) pageClaims() (d pageData) {
	verdicts := r.verdicts()
	d.Tested = tested(verdicts)
	for _, v := range verdicts {
		p := pageVerdict{
			Sentence: v.sentence(r.StandIn), State: kinds[v.State()], Says: v.says(),
			Others: v.others(), Dots: v.dots(),
		}
		if len(v.Comparisons) == 0 {
			p.State = "none"
		}
		d.Verdicts = append(d.Verdicts, p)
	}
	return d
}

// template returns the page's template with a style.
func (r *Results) template(style string) (*template.Template, error) {
	begins := pagestyle.Page{Command: "reproduce", Title: r.Study.Name + " – winnow reproduce", Style: style}
	return template.New("report").Funcs(template.FuncMap{
		"begin":  begins.Begin,
		"finish": func() template.HTML { return pagestyle.End },
	}).Parse(pageText)
}
