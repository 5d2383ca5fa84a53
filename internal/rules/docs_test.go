package rules

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"winnow/internal/testing/reference"
)

// readmeWords is the largest number of words in README.md, as counted by wc.
const readmeWords = 700

func TestReadmeWords(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(reference.Root(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(text))); n > readmeWords {
		t.Errorf("README.md has %d words, expected at most %d: move details to docs",
			n, readmeWords)
	}
}

var (
	fenced   = regexp.MustCompile("(?ms)^```.*?^```$")
	code     = regexp.MustCompile("`[^`\n]*`")
	target   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	unlinked = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`) // characters that code hosts remove from anchors
)

// anchors returns the anchors of a page's headings.
func anchors(page string) []string {
	var all []string
	seen := make(map[string]int)
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		title := target.ReplaceAllString(m[1], "")
		anchor := strings.ReplaceAll(unlinked.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
		seen[anchor]++
		if n := seen[anchor]; n > 1 {
			anchor += "-" + string(rune('0'+n-1))
		}
		all = append(all, anchor)
	}
	return all
}

// broken returns the broken links of a page; read returns files of the repository by path.
func broken(name, page string, read func(path string) (string, error)) []string {
	var all []string
	for _, m := range target.FindAllStringSubmatch(code.ReplaceAllString(fenced.ReplaceAllString(page, ""), ""), -1) {
		link := m[1]
		if strings.HasPrefix(link, "https://") {
			continue
		}
		path, anchor, _ := strings.Cut(link, "#")
		to := page
		if path != "" {
			var err error
			if to, err = read(filepath.Join(filepath.Dir(name), path)); err != nil {
				all = append(all, link)
				continue
			}
		}
		if anchor != "" && !slices.Contains(anchors(to), anchor) {
			all = append(all, link)
		}
	}
	return all
}

// TestLinks checks the links of every page except links to the web.
func TestLinks(t *testing.T) {
	root := reference.Root(t)
	read := func(path string) (string, error) {
		path = filepath.Join(root, path)
		if info, err := os.Stat(path); err != nil || info.IsDir() { // code hosts show folders
			return "", err
		}
		text, err := os.ReadFile(path)
		return string(text), err
	}
	links := 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/log/*.md", "experiments/*/README.md", "models/*.md",
		"internal/testing/reference/golden/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			page, err := read(name)
			if err != nil {
				t.Fatal(err)
			}
			links += len(target.FindAllString(page, -1))
			for _, link := range broken(name, page, read) {
				t.Errorf("%s: the link %s leads nowhere", name, link)
			}
		}
	}
	if links < 100 {
		t.Errorf("found %d links, expected 100 and more: were pages moved?", links)
	}
}

// TestDocsIndex checks that docs/README.md links to every page.
func TestDocsIndex(t *testing.T) {
	docs := filepath.Join(reference.Root(t), "docs")
	index, err := os.ReadFile(filepath.Join(docs, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(docs, "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal("docs holds no page", err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(string(index), "]("+name+")") {
			t.Errorf("docs/README.md does not lead to %s", name)
		}
	}
}
