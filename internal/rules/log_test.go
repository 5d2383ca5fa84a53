package rules

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"winnow/internal/testing/reference"
)

// TestLog checks that the index of docs/log has exactly one link for each heading, in any order.
func TestLog(t *testing.T) {
	folder := filepath.Join(reference.Root(t), "docs", "log")
	index, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	links := make(map[string]bool)
	for _, link := range regexp.MustCompile(`\]\(([^)]+\.md#[^)]+)\)`).FindAllSubmatch(index, -1) {
		links[string(link[1])] = true
	}
	months, err := filepath.Glob(filepath.Join(folder, "20*.md"))
	if err != nil || len(months) == 0 {
		t.Fatalf("no months in %s (%v)", folder, err)
	}
	dropped := regexp.MustCompile(`[^\p{L}\p{N}\- ]`) // characters that GitHub removes from anchors
	for _, month := range months {
		text, err := os.ReadFile(month)
		if err != nil {
			t.Fatal(err)
		}
		for _, heading := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllSubmatch(text, -1) {
			anchor := strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(string(heading[1])), ""), " ", "-")
			link := filepath.Base(month) + "#" + anchor
			if !links[link] {
				t.Errorf("docs/log/README.md has no link to %s", link)
			}
			delete(links, link)
		}
	}
	for link := range links {
		t.Errorf("docs/log/README.md links to %s, which is no heading", link)
	}
}
