package studies

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"

	"winnow/internal/look"
)

//go:embed report.html.tmpl
var pageText string

//go:embed report.css
var pageStyle string

// pageData is what the page shows.
type pageData struct {
	Study        *Study
	Explanation  string
	Tables       []pageTable
	Verdicts     []pageVerdict
	Charts       []pageChart
	Significance float64
}

type pageTable struct {
	Head []string
	Rows [][]string
}

type pageVerdict struct {
	Sentence string
	State    string // yes, partly, no; none where nothing was compared
	Says     string // the state in words
	Failed   []string
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
	Kind string // sure, not; empty where it may be chance
	Says string
}

// Zero and Left put a place on a line into a style.
func (pageData) Zero(at float64) template.CSS {
	return template.CSS(fmt.Sprintf("--zero:%.2f%%", 100*at))
}
func (pageData) Left(at float64) template.CSS {
	return template.CSS(fmt.Sprintf("left:%.2f%%", 100*at))
}

// dots puts the comparisons of a claim on a line that holds them and what the claim asks for.
func (v Verdict) dots() *pageDots {
	if len(v.Comparisons) == 0 {
		return nil
	}
	low, high := 0.0, 0.0
	for _, c := range v.Comparisons {
		low, high = min(low, c.Difference), max(high, c.Difference)
	}
	wide := high - low
	if wide == 0 {
		wide = 1
	}
	low, high = low-0.06*wide, high+0.06*wide
	place := func(d float64) float64 { return (d - low) / (high - low) }
	holds, significant := v.Holds()
	d := &pageDots{Zero: place(0), Low: fmt.Sprintf("%+.2g", low), High: fmt.Sprintf("%+.2g", high),
		Says: fmt.Sprintf("%d comparisons: %d hold, %d of them more than chance", len(v.Comparisons), holds, significant)}
	for _, c := range v.Comparisons {
		dot := pageDot{At: place(c.Difference), Says: fmt.Sprintf("%s against %s: %+.4f", c.Better, c.Than, c.Difference)}
		if !math.IsNaN(c.P) {
			dot.Says += fmt.Sprintf(", p %.2g", c.P)
		}
		switch {
		case !c.Holds:
			dot.Kind = "not"
		case c.P < Significance:
			dot.Kind = "sure"
		}
		d.Dots = append(d.Dots, dot)
	}
	return d
}

type pageChart struct {
	Title   string
	Drawing template.HTML
}

// HTML writes one self-contained page: claims, charts, tables.
func (r *Results) HTML(w io.Writer) error {
	d := pageData{Study: r.Study, Explanation: r.explanation(), Charts: r.charts(), Significance: Significance}
	for _, m := range r.Study.Measures {
		if lines := r.grid(m); len(lines) > 1 {
			d.Tables = append(d.Tables, pageTable{lines[0], lines[1:]})
		}
	}
	for _, v := range r.Verdicts() {
		p := pageVerdict{Sentence: v.sentence(r.StandIn), State: "partly", Says: "holds in part", Failed: v.failed(), Dots: v.dots()}
		switch holds, _ := v.Holds(); {
		case len(v.Comparisons) == 0:
			p.State, p.Says = "none", "not run"
		case holds == len(v.Comparisons):
			p.State, p.Says = "yes", "holds"
		case holds == 0:
			p.State, p.Says = "no", "does not hold"
		}
		d.Verdicts = append(d.Verdicts, p)
	}
	page, err := template.New("report").Funcs(template.FuncMap{
		"begin":  look.Page{Command: "reproduce", Title: r.Study.Name + " – winnow reproduce", Style: pageStyle}.Begin,
		"finish": func() template.HTML { return look.End },
	}).Parse(pageText)
	if err != nil {
		return err
	}
	return page.Execute(w, d)
}
