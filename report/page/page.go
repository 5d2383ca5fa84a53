// Package page draws lines, histograms, box plots and maps as SVG, and writes a report with them as one self-contained
// HTML page: a comparison, charts, tables, pictures. It computes nothing and decodes no pictures.
//
// Every drawing is a complete file; [Inline] makes it a part of a page. Charts are light or dark by the reader's
// preference, and take their colours from the CSS variables --card, --ink, --soft and --line if the page defines them.
// Numbers that are not finite are left out. Colours of a map are never the only mark: if there are few groups, their
// names are on the drawing.
package page

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"winnow/eval"
	"winnow/internal/pagestyle"
)

// Report is everything that a page shows, in order. Pictures are encoded files (PNG, JPEG …), reduced by the
// caller. Empty parts are left out of the page.
type Report struct {
	Command     string // the winnow command that made the page: report, audit …
	Title       string
	Verdict     []string // plain sentences, the most important first
	Next        string   // the command to continue with
	Warnings    []string
	RowsTitle   string
	Rows        []Row // the comparison, in order
	K           []int // the recalls shown
	Charts      []Drawing
	Sections    []Section
	Suspects    []SuspectCard
	Foremost    bool // show suspects before the sections
	Galleries   []Gallery
	Queries     []QueryCard
	Facts       []Fact
	Definitions []Fact // explanations of the numbers on the page
}

// Gallery is a part of the page that shows findings as pictures.
type Gallery struct {
	Title, Note string
	Cards       []GalleryCard
}

// GalleryCard shows one picture, or the copies of one.
type GalleryCard struct {
	Pictures []Picture // captions are labels
	Tags     []string
	Why      string
}

// Section is a part of the page with its own heading.
type Section struct {
	Title  string
	Notes  []string
	Facts  []Fact
	Charts []Drawing
	Tables []Table
}

// Table has a line of headings. The first cell of a row names the row.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]string
	Words   bool // cells hold words, not numbers
	Folded  bool // shown only when the reader opens it, and not printed
}

// heading is a link target: a part of the page.
type heading struct{ ID, Title string }

// Fact is a line of the page's small print: what was run, on what.
type Fact struct{ Name, Value string }

// Row is one line of the comparison.
type Row struct {
	Name, Note string
	Retrieval  eval.Retrieval
	Detection  *eval.Detection // nil: not measured
	Strong     bool            // the row the page is about
}

// Picture is an encoded image with a caption.
type Picture struct {
	Data    []byte // nil: it could not be read
	Caption string
	Note    string // small text below the caption
	File    string // path, smaller, shortened if it is long
	Good    bool   // marked as a hit (or support) rather than a miss
}

// SuspectCard shows one suspect label.
type SuspectCard struct {
	Picture          Picture
	Given, Suggested string
	True             string    // "": unknown
	Tags             []string  // other oddities of the image
	Said             string    // how right the given label looks
	SaidSuggested    string    // how right the suggested label looks
	Unlike           bool      // the image fits no class
	ForGiven         []Picture // nearest images with the given label
	ForSuggested     []Picture // nearest images with the suggested label
}

// Right reports whether the suspicion was right; false if the truth is not known.
func (s SuspectCard) Right() bool { return s.True != "" && s.True != s.Given }

// Default headings of the page's parts.
const (
	retrievalTitle   = "Retrieval"
	suspectsTitle    = "The most suspect labels"
	queriesTitle     = "Retrieval examples"
	factsTitle       = "What was run"
	definitionsTitle = "What the numbers mean"
)

// Contents lists the parts of a long page, or nothing for a short one.
func (r Report) Contents() []heading {
	var list []heading
	add := func(there bool, id, title string) {
		if there {
			list = append(list, heading{id, title})
		}
	}
	add(len(r.Rows) > 0, "retrieval", cmp.Or(r.RowsTitle, retrievalTitle))
	add(r.Foremost && len(r.Suspects) > 0, "suspects", suspectsTitle)
	for i, g := range r.Galleries {
		add(true, r.Gallery(i), g.Title)
	}
	for i, s := range r.Sections {
		add(true, r.Section(i), s.Title)
	}
	add(!r.Foremost && len(r.Suspects) > 0, "suspects", suspectsTitle)
	add(len(r.Queries) > 0, "queries", queriesTitle)
	add(len(r.Facts) > 0, "run", factsTitle)
	add(len(r.Definitions) > 0, "definitions", definitionsTitle)
	if len(r.Sections) == 0 {
		return nil
	}
	return list
}

// Supported reports whether any suspect has supporting pictures. None has if the judge looked at each image
// alone.
func (r Report) Supported() bool {
	return slices.ContainsFunc(r.Suspects, func(s SuspectCard) bool {
		return len(s.ForGiven)+len(s.ForSuggested) > 0
	})
}

// Section returns the link id of a section.
func (r Report) Section(i int) string { return fmt.Sprintf("section-%d", i+1) }

// Gallery returns the link id of a gallery.
func (r Report) Gallery(i int) string { return fmt.Sprintf("gallery-%d", i+1) }

// Detected reports whether there is a detection to show. If no label is wrong, a ranking finds nothing.
func (r Report) Detected() bool {
	return slices.ContainsFunc(r.Rows, func(row Row) bool {
		return row.Detection != nil && row.Detection.Wrong > 0
	})
}

//go:embed page.html.tmpl
var reportPage string

//go:embed page.css
var pageStyle string

// WriteHTML writes the report as one self-contained page, without fonts or external addresses, and without
// scripts.
func (r Report) WriteHTML(w io.Writer) error {
	page, err := template.New("report").Funcs(template.FuncMap{
		"begin":   pagestyle.Page{Command: r.Command, Title: r.Title, Style: pageStyle}.Begin,
		"finish":  func() template.HTML { return pagestyle.End },
		"uri":     dataURI,
		"tiny":    isTinyPicture,
		"breaks":  breakName,
		"tail":    shortenPath,
		"percent": func(v float64) string { return formatMeasured("%.1f", 100*v) },
		"number":  func(v float64) string { return formatMeasured("%.3f", v) },
		"recall": func(r eval.Retrieval, k int) float64 {
			if v, ok := r.Recall[k]; ok {
				return v
			}
			return math.NaN()
		},
		"bar": func(v float64) template.CSS {
			if !(v >= 0) {
				v = 0
			}
			return template.CSS(fmt.Sprintf("width:%.1f%%", 100*math.Min(1, v)))
		},
		"title": func(id string) string {
			return map[string]string{
				"retrieval": cmp.Or(r.RowsTitle, retrievalTitle), "suspects": suspectsTitle, "queries": queriesTitle,
				"run": factsTitle, "definitions": definitionsTitle,
			}[id]
		},
		// A drawing is made of numbers and escaped text.
		"svg": func(d Drawing) template.HTML { return template.HTML(Inline(d)) },
	}).Parse(reportPage)
	if err != nil {
		return err
	}
	return page.Execute(w, r)
}

// formatMeasured formats a number, or a dash if it is not finite.
func formatMeasured(format string, v float64) string {
	if !isFiniteValue(v) {
		return "–"
	}
	return fmt.Sprintf(format, v)
}

// shortenPath returns the last two elements of a path: the folder and the file.
func shortenPath(file string) string {
	parts := strings.Split(file, "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// breakName returns a name that may break after the characters that separate the parts of file names.
func breakName(name string) template.HTML {
	return template.HTML(breaks.Replace(template.HTMLEscapeString(name)))
}

var breaks = strings.NewReplacer("/", "/<wbr>", "_", "_<wbr>", ".", ".<wbr>", "-", "-<wbr>")

const pngHead = "\x89PNG\r\n\x1a\n"

// isTinyPicture reports whether a picture has so few pixels that each should be visible: a PNG at most 64 wide, by its
// header.
func isTinyPicture(data []byte) bool {
	return len(data) >= 24 && bytes.HasPrefix(data, []byte(pngHead)) && binary.BigEndian.Uint32(data[16:]) <= 64
}

// dataURI embeds a JPEG or PNG. net/http would recognise more types, but would link cgo into every program that
// measures.
func dataURI(data []byte) template.URL {
	kind := "image/jpeg"
	if bytes.HasPrefix(data, []byte(pngHead)) {
		kind = "image/png"
	}
	return template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data))
}

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
