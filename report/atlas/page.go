package atlas

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"image"
	"io"
	"math"
	"strings"

	"winnow/internal/pagestyle"
)

//go:embed page.html.tmpl
var pageText string

//go:embed part.html.tmpl
var partText string

// pageStyle is the style of the page around the map.
const pageStyle = `main { max-width:1600px; margin:0 auto; padding:24px 20px 56px }
h1 { font-size:26px; line-height:1.2; margin:0 0 8px }
@media (max-width:820px) { main { padding:16px 12px 40px } h1 { font-size:22px } }
`

//go:embed page.js
var pageScript string

// pageLimit is the largest size in bytes of a page of 10,000 points with their pictures.
const pageLimit = 10 << 20

// pageData is the script's data: the points in the order of drawing. Label, True and Split are positions in
// Names.
type pageData struct {
	X      []float64  `json:"x"`
	Y      []float64  `json:"y"`
	Shade  []int      `json:"shade"`
	Path   []string   `json:"path"`
	Label  []int      `json:"label"`
	True   []int      `json:"true"`
	Split  []int      `json:"split"`
	Score  []*float64 `json:"score"`
	Names  []string   `json:"names"`
	Height float64    `json:"height"` // height of the drawing, whose width is 1000
	Radius float64    `json:"radius"`
	Tile   int        `json:"tile"`   // side of a tile in pixels; 0: no pictures
	Across int        `json:"across"` // tiles in a row of a sheet
	Sheets []string   `json:"sheets"`
}

// legendItem is a group in the legend.
type legendItem struct {
	Shade int
	Name  string
	Count int
}

// WritePage writes the map as one self-contained page: the drawing; a name and a picture for each point under
// the pointer or reached with the arrow keys; a legend that highlights a group; a search. pictures belong to
// Points, nil for a missing one; they should be no wider and no higher than ThumbnailSide. With a nil list
// there are no pictures. Pictures are compressed until the page is at most pageLimit; if that fails they are
// left out, and the page says so.
func (m Map) WritePage(w io.Writer, pictures []image.Image) error {
	return m.write(w, "page", pictures, pageLimit)
}

// WritePart writes the same without its title, as a part of another page, in at most limit bytes unless the
// points alone need more. The other page must have the style sheet of winnow/internal/pagestyle, must not use the
// element ids in, out, all, map, frame, card, ring, find, found, legend and said, and can hold only one map.
func (m Map) WritePart(w io.Writer, pictures []image.Image, limit int) error {
	return m.write(w, "map", pictures, limit)
}

// write executes one of the two templates.
func (m Map) write(w io.Writer, name string, pictures []image.Image, limit int) error {
	page, err := template.New("page").Funcs(template.FuncMap{
		"breaks": breakable,
		"begin":  pagestyle.Page{Command: "map", Title: m.Title, Style: pageStyle}.Begin,
		"finish": func() template.HTML { return pagestyle.End },
	}).Parse(pageText)
	if err == nil {
		page, err = page.Parse(partText)
	}
	if err != nil {
		return err
	}
	var drawing strings.Builder
	m.drawPoints(&drawing)
	data := m.data()
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	facts := m.Facts
	if pictures != nil {
		room := limit - 64<<10 - drawing.Len() - len(text)
		shown, err := makeSprites(m.drawn(pictures), room/4*3)
		if err != nil {
			return err
		}
		fact := Fact{"pictures", fmt.Sprintf("%d, at most %d pixels wide", count(pictures), shown.Side)}
		if shown.Sheets == nil {
			fact.Value = fmt.Sprintf("none: with %d pictures the page would exceed %d MiB", len(pictures), limit>>20)
		}
		facts = append(facts[:len(facts):len(facts)], fact)
		data.Tile, data.Across = shown.Side, acrossSheet
		for _, s := range shown.Sheets {
			data.Sheets = append(data.Sheets, "data:image/jpeg;base64,"+base64.StdEncoding.EncodeToString(s))
		}
		if text, err = json.Marshal(data); err != nil {
			return err
		}
	}
	return page.ExecuteTemplate(w, name, map[string]any{
		"Title": m.Title, "Notes": m.Notes, "Facts": facts,
		"Scale": m.Scale, "Legend": m.legend(), "Points": len(m.Points),
		"Ramp": scaleColours(), "Radius": m.radius(), "Height": data.Height,
		"Drawing": template.HTML(drawing.String()), // numbers, and names that drawPoints escapes
		"Light":   template.CSS(m.style(false)), "Dark": template.CSS(m.style(true)),
		"Data":   template.JS(text), // JSON with <, > and & escaped
		"Script": template.JS(pageScript),
	})
}

// breakable returns a name that may break after the characters that separate its words.
func breakable(name string) template.HTML {
	breaks := strings.NewReplacer("_", "_<wbr>", "-", "-<wbr>", "/", "/<wbr>", ".", ".<wbr>")
	return template.HTML(breaks.Replace(template.HTMLEscapeString(name)))
}

// drawn returns pictures in the order of drawing.
func (m Map) drawn(pictures []image.Image) []image.Image {
	out := make([]image.Image, len(pictures))
	for k, i := range m.order() {
		out[k] = pictures[i]
	}
	return out
}

func count(pictures []image.Image) (n int) {
	for _, p := range pictures {
		if p != nil {
			n++
		}
	}
	return n
}

func (m Map) data() pageData {
	d := pageData{Radius: m.radius(), Names: []string{}, Sheets: []string{}}
	numbers := map[string]int{}
	number := func(name string) int {
		n, known := numbers[name]
		if !known {
			n = len(d.Names)
			numbers[name], d.Names = n, append(d.Names, name)
		}
		return n
	}
	at, height := m.place()
	d.Height = height
	for _, i := range m.order() {
		p := m.Points[i]
		d.X, d.Y = append(d.X, math.Round(10*at[i][0])/10), append(d.Y, math.Round(10*at[i][1])/10)
		d.Shade, d.Path = append(d.Shade, m.shade(i)), append(d.Path, p.Path)
		d.Label = append(d.Label, number(p.Label))
		d.True = append(d.True, number(p.True))
		d.Split = append(d.Split, number(p.Split))
		var score *float64
		if !math.IsNaN(p.Score) {
			score = new(math.Round(1e4*p.Score) / 1e4)
		}
		d.Score = append(d.Score, score)
	}
	return d
}

// legend lists the groups that have points, and the points without a group.
func (m Map) legend() []legendItem {
	counts := map[int]int{}
	for i := range m.Points {
		counts[m.shade(i)]++
	}
	var list []legendItem
	if m.Scale == nil {
		for g, name := range m.Groups {
			if counts[g] > 0 {
				list = append(list, legendItem{g, name, counts[g]})
			}
		}
	}
	if counts[-1] > 0 {
		list = append(list, legendItem{-1, "unknown", counts[-1]})
	}
	return list
}
