package page

import (
	_ "embed"
	"html/template"
	"strings"
)

// QueryCard shows one query and its nearest images, of which the Good ones are hits.
type QueryCard struct {
	By      string // who found them, where several are asked; else ""
	Query   Picture
	Nearest []Picture
}

// Hits counts those of the nearest that are.
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
const QueryLegend template.HTML = `<p class="soft">Pictures that ask, and their nearest neighbours, nearest first. <span class="mark right">✓</span> and a solid frame: of the same class; <span class="mark wrong">✗</span> and a dashed frame: of another.</p>`

// Queries draws cards as a part of a page whose style holds [QueryStyle].
func Queries(cards []QueryCard) (template.HTML, error) {
	part, err := template.New("queries").Funcs(template.FuncMap{"uri": dataURI, "tiny": tiny, "breaks": breakable, "tail": tail}).Parse(queriesPart)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = part.Execute(&b, cards)
	return template.HTML(b.String()), err
}
