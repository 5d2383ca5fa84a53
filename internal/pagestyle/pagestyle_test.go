package pagestyle_test

import (
	"encoding/xml"
	"html/template"
	"io"
	"regexp"
	"strings"
	"testing"

	"winnow/internal/pagestyle"
)

// A page escapes its title, puts its own style after the common style, and loads nothing from elsewhere.
func TestBegin(t *testing.T) {
	page := string(pagestyle.Page{Command: "audit", Title: "a <b> & c", Style: ".own { color:red }"}.Begin() +
		"<p>x</p>" + pagestyle.End)
	for _, want := range []string{"<title>a &lt;b&gt; &amp; c</title>", "winnow <b>audit</b>",
		"<main>\n<p>x</p></main>", `lang="en"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	if own, shared := strings.Index(page, ".own {"), strings.Index(page, "--paper:"); shared < 0 || own < shared {
		t.Errorf("the page's own style at %d, that of all pages at %d", own, shared)
	}
	if regexp.MustCompile(`(src|href)="(?:[^d]|d[^a])|url\(|@import`).MatchString(page) {
		t.Error("the page needs something else")
	}
	if _, err := template.New("").Parse(page); err != nil {
		t.Error(err)
	}
	for d := xml.NewDecoder(strings.NewReader(string(pagestyle.Icon))); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("the icon: %v", err)
		}
	}
}

// Every colour used in the style sheet is a named variable with a value for light and dark mode.
func TestColours(t *testing.T) {
	named := map[string]bool{}
	names := regexp.MustCompile(`(--[a-z-]+):(light-dark\([^;]*, [^;]*\)|#fff)`)
	for _, m := range names.FindAllStringSubmatch(pagestyle.CSS, -1) {
		named[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`var\((--[a-z-]+)\)`).FindAllStringSubmatch(pagestyle.CSS, -1) {
		if !named[m[1]] {
			t.Errorf("%s has no colours", m[1])
		}
	}
	if len(named) < 20 {
		t.Errorf("%d colours, expected at least 20", len(named))
	}
}
