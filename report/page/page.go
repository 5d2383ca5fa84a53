// Package page draws line charts, histograms, box plots and maps as SVG, and writes reports as self-contained HTML
// pages with charts, tables and images. It neither computes measures nor decodes images.
//
// Every drawing is a complete SVG file; [Inline] makes it an element of a page. Charts follow the reader's preference
// for light or dark pages, and use the CSS variables --card, --ink, --soft and --line if the page defines them. Numbers
// that are not finite are left out. A map with few groups shows their names, so that it can be read without colours.
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

// Report holds everything that a page shows, in order. Empty parts are left out of the page. The images are encoded
// files (PNG, JPEG, …) that the caller has reduced to thumbnails.
type Report struct {
	Command     string // the winnow command that made the page: report, audit …
	Title       string
	Verdict     []string // sentences, the most important first
	Next        string   // the command to run next
	Warnings    []string
	RowsTitle   string
	Rows        []Row // the comparison, in order
	K           []int // values of K for R@K
	Charts      []Drawing
	Sections    []Section
	Suspects    []SuspectCard
	Foremost    bool // show suspects before the sections
	Galleries   []Gallery
	Queries     []QueryCard
	Facts       []Fact
	Definitions []Fact // explanations of the numbers on the page
}

// Gallery is a part of the page that shows findings as images.
type Gallery struct {
	Title, Note string
	Cards       []GalleryCard
}

// GalleryCard shows one image, or a group of duplicates.
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

// Table is a table with a row of column headings. The first cell of each row is the row's heading.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]string
	Words   bool // cells contain words, not numbers
	Folded  bool // shown only when the reader opens it, and not printed
}

// heading is an entry of the table of contents. ID is the link target of a part of the page.
type heading struct{ ID, Title string }

// Fact is a name and a value, such as a setting of the run or the definition of a number.
type Fact struct{ Name, Value string }

// Row is one row of the retrieval comparison.
type Row struct {
	Name, Note string
	Retrieval  eval.Retrieval
	Detection  *eval.Detection // nil: not measured
	Strong     bool            // emphasize the row
}

// Picture is an encoded image with a caption.
type Picture struct {
	Data    []byte // nil: the image could not be read
	Caption string
	Note    string // small text below the caption
	File    string // path; the page shows its last two elements
	Good    bool   // marked as a hit (or support) rather than a miss
}

// SuspectCard shows one suspect: an image with its given and its suggested label.
type SuspectCard struct {
	Picture          Picture
	Given, Suggested string
	True             string    // "": unknown
	Tags             []string  // other findings about the image
	Said             string    // probability or score of the given label
	SaidSuggested    string    // the same of the suggested label
	Unlike           bool      // the image fits no class
	ForGiven         []Picture // nearest images with the given label
	ForSuggested     []Picture // nearest images with the suggested label
}

// Right reports whether the given label is known to be wrong.
func (s SuspectCard) Right() bool { return s.True != "" && s.True != s.Given }

// Default headings of the page's parts.
const (
	retrievalTitle   = "Retrieval"
	suspectsTitle    = "The most suspect labels"
	queriesTitle     = "Retrieval examples"
	factsTitle       = "What was run"
	definitionsTitle = "What the numbers mean"
)

// Contents returns the table of contents, or nil if the page has no sections.
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

// Supported reports whether any suspect has supporting images. Scorers that do not compare images return none.
func (r Report) Supported() bool {
	return slices.ContainsFunc(r.Suspects, func(s SuspectCard) bool {
		return len(s.ForGiven)+len(s.ForSuggested) > 0
	})
}

// Section returns the link id of a section.
func (r Report) Section(i int) string { return fmt.Sprintf("section-%d", i+1) }

// Gallery returns the link id of a gallery.
func (r Report) Gallery(i int) string { return fmt.Sprintf("gallery-%d", i+1) }

// Detected reports whether a row has detection measures to show: measured, with at least one wrong label.
func (r Report) Detected() bool {
	return slices.ContainsFunc(r.Rows, func(row Row) bool {
		return row.Detection != nil && row.Detection.Wrong > 0
	})
}

//go:embed page.html.tmpl
var reportPage string

//go:embed page.css
var pageStyle string

// WriteHTML writes the report as one self-contained HTML page without scripts, fonts or links to other sites.
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
		// Drawings consist of numbers and escaped text, so they are safe HTML.
		"svg": func(d Drawing) template.HTML { return template.HTML(Inline(d)) },
	}).Parse(reportPage)
	if err != nil {
		return err
	}
	return page.Execute(w, r)
}

// formatMeasured formats a number, or returns a dash if the number is not finite.
func formatMeasured(format string, v float64) string {
	if !isFiniteValue(v) {
		return "–"
	}
	return fmt.Sprintf(format, v)
}

// shortenPath returns the last two elements of a path: the folder and the file name.
func shortenPath(file string) string {
	parts := strings.Split(file, "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// breakName returns a name as HTML that allows line breaks after "/", "_", "." and "-".
func breakName(name string) template.HTML {
	return template.HTML(breaks.Replace(template.HTMLEscapeString(name)))
}

var breaks = strings.NewReplacer("/", "/<wbr>", "_", "_<wbr>", ".", ".<wbr>", "-", "-<wbr>")

const pngHead = "\x89PNG\r\n\x1a\n"

// isTinyPicture reports whether data is a PNG at most 64 pixels wide. The page enlarges such images without smoothing.
func isTinyPicture(data []byte) bool {
	return len(data) >= 24 && bytes.HasPrefix(data, []byte(pngHead)) && binary.BigEndian.Uint32(data[16:]) <= 64
}

// dataURI returns a data URI of a JPEG or PNG file. It does not detect the type by net/http, which imports net and so
// would link cgo into every program that imports this package.
func dataURI(data []byte) template.URL {
	kind := "image/jpeg"
	if bytes.HasPrefix(data, []byte(pngHead)) {
		kind = "image/png"
	}
	return template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data))
}

// QueryCard shows one query and its nearest images, nearest first. Good marks the hits.
type QueryCard struct {
	By      string // the model that ranked the images; "" if there is only one model
	Query   Picture
	Nearest []Picture
}

// Hits returns the number of hits among the nearest images.
func (q QueryCard) Hits() (n int) {
	for _, p := range q.Nearest {
		if p.Good {
			n++
		}
	}
	return n
}
