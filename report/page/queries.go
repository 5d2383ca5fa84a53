package page

import (
	_ "embed"
	"html/template"
	"strings"
)

// QueryCard shows one query and its nearest images; the Good ones are hits.
type QueryCard struct {
	By      string // which model found them, if there are several; else ""
	Query   Picture
	Nearest []Picture
}

// Hits counts the hits among the nearest.
func (q QueryCard) Hits() (n int) {
	for _, p := range q.Nearest {
		if p.Good {
			n++
		}
	}
	return n
}

//go:embed queries.html.tmpl
var queriesPart string

// QueryStyle is the style of [Queries].
//
//go:embed queries.css
var QueryStyle string

// QueryLegend says what the marks of [Queries] mean.
const QueryLegend template.HTML = `<p class="soft">Query pictures and their nearest neighbours, nearest first. ` +
	`<span class="mark right">✓</span> and a solid frame: of the same class; ` +
	`<span class="mark wrong">✗</span> and a dashed frame: of another.</p>`

// Queries renders cards as a part of a page whose style includes [QueryStyle].
func Queries(cards []QueryCard) (template.HTML, error) {
	functions := template.FuncMap{"uri": dataURI, "tiny": isTinyPicture, "breaks": breakName, "tail": shortenPath}
	part, err := template.New("queries").Funcs(functions).Parse(queriesPart)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = part.Execute(&b, cards)
	return template.HTML(b.String()), err
}
