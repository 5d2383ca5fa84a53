// Package pagestyle contains the common parts of winnow's pages: style sheet, icon and header. A page stored as a file
// starts with [Page.Begin], followed by its content, and ends with [End]. winnow studio serves the style sheet and the
// icon.
package pagestyle

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"html/template"
)

// CSS is the common style sheet of all pages.
//
//go:embed style.css
var CSS string

// Icon is the program's icon, an SVG.
//
//go:embed icon.svg
var Icon []byte

// Generator is the line that identifies a page as written by winnow.
const Generator = `<meta name="generator" content="winnow">`

// Page describes the head of a page.
type Page struct {
	Command string // the winnow command that wrote the page: report, audit, map …
	Title   string // title of the window
	Style   string // the page's own CSS, which follows the common CSS
}

// Begin returns the HTML before a page's content.
func (p Page) Begin() template.HTML {
	icon := "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(Icon)
	return template.HTML(fmt.Sprintf(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
`+Generator+`
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<link rel="icon" href="%s">
<style>
%s%s</style>
</head>
<body>
<header class="bar"><p class="brand"><img src="%[2]s" alt="" width="26" height="26">`+
		`<span>winnow <b>%[5]s</b></span></p></header>
<main>
`, html.EscapeString(p.Title), icon, CSS, p.Style, html.EscapeString(p.Command)))
}

// End is the HTML after a page's content.
const End template.HTML = "</main>\n</body>\n</html>\n"
