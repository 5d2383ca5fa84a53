// Package look is how all pages of winnow look: one style sheet, one icon, one header. A page that is a file of its own begins with
// [Page.Begin], behind which main's content stands, and ends with [End]; winnow review serves the style sheet and the icon.
package look

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"html/template"
)

// CSS is the style that all pages share.
//
//go:embed look.css
var CSS string

// Icon is the program's sign, an SVG.
//
//go:embed icon.svg
var Icon []byte

// Page is what begins a page.
type Page struct {
	Command string // of winnow, that made it: report, audit, map …
	Title   string // of the window
	Style   string // CSS of its own, behind that of all pages
}

// Begin returns a page up to its content.
func (p Page) Begin() template.HTML {
	icon := "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(Icon)
	return template.HTML(fmt.Sprintf(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<link rel="icon" href="%s">
<style>
%s%s</style>
</head>
<body>
<header class="bar"><p class="brand"><img src="%[2]s" alt="" width="26" height="26"><span>winnow <b>%[5]s</b></span></p></header>
<main>
`, html.EscapeString(p.Title), icon, CSS, p.Style, html.EscapeString(p.Command)))
}

// End ends a page.
const End template.HTML = "</main>\n</body>\n</html>\n"
