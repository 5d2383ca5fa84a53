// Command site writes the documentation as a static site with a search. It converts README.md, docs/README.md and all
// pages that they link to, directly or indirectly, to HTML at the same paths. The site needs no server.
//
//	make site    # site/index.html
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"html/template"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

var (
	//go:embed page.html.tmpl
	pageText string
	//go:embed site.css
	style []byte
	//go:embed search.js
	script []byte

	pageTemplate = template.Must(template.New("page").Parse(pageText))
	markdown     = goldmark.New(goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(html.WithXHTML()))
)

// contents is the page whose tables define the navigation. The site has the pages in reads and all pages linked there.
const contents = "docs/README.md"

var reads = []string{"README.md", contents, "EXPERIMENTS.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"}

func main() {
	root := flag.String("root", ".", "`DIR` of the repository")
	out := flag.String("out", "site", "`DIR` to write")
	flag.Parse()
	if err := build(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// site collects the pages of the site while it is built.
type site struct {
	root, out string
	queue     []string         // paths of the pages to write, in the repository
	pages     map[string]*page // pages by path
	groups    []group
	index     []entry
}

type page struct {
	path, title string
	doc         ast.Node
	source      []byte
}

// group is a heading of the navigation with its pages.
type group struct {
	Title string
	Links []link
}

type link struct{ Title, Path string }

// entry describes a section to the search.
type entry struct {
	Page    string `json:"p"`
	Section string `json:"s"`
	Address string `json:"a"`
	Text    string `json:"t"`
}

func build(root, out string) error {
	s := &site{root: root, out: out, queue: slices.Clone(reads), pages: map[string]*page{}}
	for i := 0; i < len(s.queue); i++ { // read may append pages to the queue
		if err := s.read(s.queue[i]); err != nil {
			return err
		}
	}
	s.navigation()
	for _, name := range s.queue {
		if err := s.write(s.pages[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	sections, err := json.Marshal(s.index)
	if err != nil {
		return err
	}
	shared, err := os.ReadFile(filepath.Join(root, "internal/pagestyle/style.css"))
	if err != nil {
		return err
	}
	icon, err := os.ReadFile(filepath.Join(root, "internal/pagestyle/icon.svg"))
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"site.css": slices.Concat(shared, style), "icon.svg": icon,
		"search.js": slices.Concat([]byte("const sections = "), sections, []byte(";\n"), script)} {
		if err := s.put(name, data); err != nil {
			return err
		}
	}
	fmt.Printf("%s: %d pages, %d sections to search\n", filepath.Join(out, "index.html"), len(s.queue), len(s.index))
	return nil
}

// ids generates the same anchors for headings as code hosts do.
type ids map[string]int

var (
	target   = regexp.MustCompile(`\]\([^)]*\)`)
	unlinked = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

func (t ids) Generate(value []byte, _ ast.NodeKind) []byte {
	title := strings.ToLower(target.ReplaceAllString(string(value), ""))
	anchor := strings.ReplaceAll(unlinked.ReplaceAllString(title, ""), " ", "-")
	n := t[anchor]
	t[anchor]++
	if n > 0 {
		anchor = fmt.Sprintf("%s-%d", anchor, n)
	}
	return []byte(anchor)
}

func (t ids) Put(value []byte) { t[string(value)]++ }

// read parses a page, points its links to files of the site, and appends linked pages to the queue.
func (s *site) read(name string) error {
	source, err := os.ReadFile(filepath.Join(s.root, name))
	if err != nil {
		return err
	}
	p := &page{path: name, source: source, title: name}
	p.doc = markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(
		parser.WithIDs(ids{}))))
	s.pages[name] = p
	var missing []ast.Node // links to folders, which the site does not have
	err = ast.Walk(p.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var err error
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 1 && p.title == name {
				p.title = plain(n, source)
			}
		case *ast.Image:
			n.Destination, err = s.follow(name, n.Destination)
		case *ast.Link:
			if n.Destination, err = s.follow(name, n.Destination); n.Destination == nil {
				missing = append(missing, n)
			}
		}
		return ast.WalkContinue, err
	})
	for _, n := range missing { // replace the link by its text
		for c := n.FirstChild(); c != nil; c = n.FirstChild() {
			n.Parent().InsertBefore(n.Parent(), n, c)
		}
		n.Parent().RemoveChild(n.Parent(), n)
	}
	return err
}

// follow returns the target of a link on the site, or nil if the site does not have it, and copies linked files.
func (s *site) follow(from string, to []byte) ([]byte, error) {
	u, err := url.Parse(string(to))
	if err != nil || u.Scheme != "" || u.Path == "" {
		return to, err
	}
	name := path.Join(path.Dir(from), u.Path)
	info, err := os.Stat(filepath.Join(s.root, name))
	if err == nil && info.IsDir() {
		name = path.Join(name, "README.md")
		if _, err = os.Stat(filepath.Join(s.root, name)); err != nil {
			return nil, nil // a folder of source files, which only code hosts can show
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the link %s: %w", to, err)
	}
	if path.Ext(name) == ".md" {
		if !slices.Contains(s.queue, name) {
			s.queue = append(s.queue, name)
		}
	} else if data, err := os.ReadFile(filepath.Join(s.root, name)); err != nil {
		return nil, err
	} else if err := s.put(address(name), data); err != nil {
		return nil, err
	}
	u.Path = relative(from, name)
	return []byte(u.String()), nil
}

// address returns the path on the site of a page or a linked file.
func address(name string) string {
	if name == "README.md" {
		return "index.html"
	}
	if base, ok := strings.CutSuffix(name, ".md"); ok {
		return base + ".html"
	}
	if !slices.Contains(shown, path.Ext(name)) {
		return name + ".txt"
	}
	return name
}

// shown lists endings that browsers can show. Other files get .txt, so that Go does not compile copies of sources.
var shown = []string{".png", ".gif", ".svg", ".csv", ".txt"}

func relative(from, to string) string {
	rel, err := filepath.Rel(path.Dir(address(from)), address(to))
	if err != nil {
		panic(err) // impossible, because both paths are relative
	}
	return filepath.ToSlash(rel)
}

// plain returns the text of a node without markup.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				b.Write(n.Lines().Value(source))
			}
		case *tables.TableCell, *ast.Paragraph, *ast.ListItem:
			b.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// navigation makes a group of each table: its title is the first header cell, its pages are links of the last column.
func (s *site) navigation() {
	p := s.pages[contents]
	s.groups = []group{{"winnow", []link{{"Overview", "README.md"}, {"All pages", contents}}}}
	for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
		table, ok := n.(*tables.Table)
		if !ok {
			continue
		}
		g := group{Title: plain(table.FirstChild().FirstChild(), p.source)}
		for row := table.FirstChild().NextSibling(); row != nil; row = row.NextSibling() {
			for c := row.LastChild().FirstChild(); c != nil; c = c.NextSibling() {
				to, ok := c.(*ast.Link)
				if !ok {
					continue
				}
				at := slices.IndexFunc(s.queue, func(name string) bool {
					return relative(contents, name) == string(to.Destination)
				})
				if at >= 0 {
					g.Links = append(g.Links, link{plain(to, p.source), s.queue[at]})
				}
			}
		}
		if len(g.Links) > 0 {
			s.groups = append(s.groups, g)
		}
	}
}

// searched is the number of letters indexed per section of the log and the experiments; others are indexed completely.
const searched = 600

// write writes a page and adds its sections to the search index.
func (s *site) write(p *page) error {
	var body bytes.Buffer
	if p.title == p.path {
		fmt.Fprintf(&body, "<h1>%s</h1>\n", p.title)
	}
	if err := markdown.Renderer().Render(&body, p.source, p.doc); err != nil {
		return err
	}
	record := strings.HasPrefix(p.path, "docs/log/") || strings.HasPrefix(p.path, "experiments/")
	at := entry{Page: p.title, Section: p.title, Address: address(p.path)}
	for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			if at.Text != "" {
				s.index = append(s.index, at)
			}
			id, _ := h.AttributeString("id")
			at = entry{p.title, plain(h, p.source), fmt.Sprintf("%s#%s", address(p.path), id), ""}
		} else if !record || len(at.Text) < searched {
			at.Text += plain(n, p.source) + " "
		}
	}
	s.index = append(s.index, at)
	content := strings.NewReplacer("<table>", `<div class="scroll" tabindex="0"><table>`, "</table>", "</table></div>",
		"<pre>", `<pre class="scroll" tabindex="0">`, "<th></th>", "<td></td>").Replace(body.String())
	groups := make([]group, len(s.groups))
	for i, g := range s.groups {
		groups[i].Title = g.Title
		for _, l := range g.Links {
			groups[i].Links = append(groups[i].Links, link{l.Title, relative(p.path, l.Path)})
		}
	}
	var out bytes.Buffer
	err := pageTemplate.Execute(&out, map[string]any{"Title": p.title, "Content": template.HTML(content),
		"Groups": groups, "Here": relative(p.path, p.path), "Root": strings.Repeat("../", strings.Count(p.path, "/"))})
	if err != nil {
		return err
	}
	return s.put(address(p.path), out.Bytes())
}

func (s *site) put(name string, data []byte) error {
	to := filepath.Join(s.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}
