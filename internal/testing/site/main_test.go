package main

import (
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	linked   = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	named    = regexp.MustCompile(` id="([^"]*)"`)
	loaded   = regexp.MustCompile(`<(?:script|img|link|iframe|source)[^>]*(?:src|href)="([a-z]+:|//)`)
	imported = regexp.MustCompile(`url\(|@import`)
)

// built builds the site of this repository and returns the content of its files by path.
func built(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	if err := build("../../..", dir); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(file)
		name, _ := filepath.Rel(dir, file)
		files[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// leads reports whether an address is external, or names an existing file of the site and, if given, an anchor in it.
func leads(files map[string]string, from, to string) bool {
	u, err := url.Parse(to)
	if err != nil {
		return false
	}
	if u.Scheme != "" {
		return u.Scheme == "https" || u.Scheme == "mailto"
	}
	name := from
	if u.Path != "" {
		name = path.Join(path.Dir(from), u.Path)
	}
	text, ok := files[name]
	return ok && (u.Fragment == "" || slices.ContainsFunc(named.FindAllStringSubmatch(text, -1),
		func(m []string) bool { return m[1] == u.Fragment }))
}

// TestSite checks that every link has a target, that pages load no files from elsewhere, and that each has one title.
func TestSite(t *testing.T) {
	files := built(t)
	pages, links := 0, 0
	for name, text := range files {
		if name == "site.css" && imported.MatchString(text) {
			t.Error("site.css loads something")
		}
		if path.Ext(name) != ".html" {
			continue
		}
		pages++
		for _, m := range linked.FindAllStringSubmatch(text, -1) {
			links++
			if to := strings.ReplaceAll(m[1], "&amp;", "&"); !leads(files, name, to) {
				t.Errorf("%s: the link %s has no target", name, to)
			}
		}
		if m := loaded.FindString(text); m != "" {
			t.Errorf("%s: loads %s", name, m)
		}
		if n := strings.Count(text, "<h1"); n != 1 {
			t.Errorf("%s: has %d titles, expected 1", name, n)
		}
	}
	docs, err := filepath.Glob("../../../docs/*.md")
	if err != nil || len(docs) == 0 {
		t.Fatal("docs has no page", err)
	}
	for _, doc := range docs {
		name := strings.TrimSuffix(filepath.Base(doc), ".md") + ".html"
		if _, ok := files["docs/"+name]; !ok {
			t.Errorf("docs/%s is not on the site", filepath.Base(doc))
		}
		if !strings.Contains(files["index.html"], `<li><a href="docs/`+name+`">`) {
			t.Errorf("the navigation does not name docs/%s", name)
		}
	}
	if pages < 60 || links < 4500 {
		t.Errorf("found %d pages and %d links, expected at least 60 and 4500", pages, links)
	}
}

// TestSearch checks that the search has a section of each page, and that all its addresses exist.
func TestSearch(t *testing.T) {
	files := built(t)
	text, _, ok := strings.Cut(strings.TrimPrefix(files["search.js"], "const sections = "), ";\n//")
	var sections []entry
	if err := json.Unmarshal([]byte(text), &sections); err != nil || !ok {
		t.Fatal(err, ok)
	}
	known := map[string]bool{}
	for _, s := range sections {
		known[strings.Split(s.Address, "#")[0]] = true
		if !leads(files, "index.html", s.Address) {
			t.Errorf("the search has the address %s, which does not exist", s.Address)
		}
	}
	for name := range files {
		if path.Ext(name) == ".html" && !known[name] {
			t.Errorf("%s is missing in the search", name)
		}
	}
	if !slices.ContainsFunc(sections, func(s entry) bool {
		return s.Address == "docs/review.html#who-can-see-it" && strings.Contains(s.Text, "--allow-host")
	}) {
		t.Error("the section about who can see a review does not name --allow-host")
	}
}

// TestLinks checks that a broken link is an error, and that a link to a folder without a page becomes plain text.
func TestLinks(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range reads {
		write(name, "# Page\n\n## A `code` & more\n\n## Twice\n\n## Twice\n")
	}
	write("internal/pagestyle/style.css", "")
	write("internal/pagestyle/icon.svg", "")
	write("cmd/main.go", "package main\n")
	write("README.md", "# Page\n\n[sources](cmd), [one](cmd/main.go), [two](docs/README.md#twice-1)\n")
	out := t.TempDir()
	if err := build(root, out); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(out, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	if want := `<p>sources, <a href="cmd/main.go.txt">one</a>, <a href="docs/README.html#twice-1">two</a></p>`; !strings.Contains(
		string(page), want) {
		t.Errorf("found %s, expected %s", page, want)
	}
	write("README.md", "# Page\n\n[nothing](docs/none.md)\n")
	if err := build(root, out); err == nil || !strings.Contains(err.Error(), "docs/none.md") {
		t.Errorf("a link to a missing page: %v", err)
	}
}
