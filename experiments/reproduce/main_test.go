package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var root = filepath.Join("..", "..")

// The stored pages and the tables of EXPERIMENTS.md equal those made from the stored numbers by current rules.
func TestPages(t *testing.T) {
	files, err := rendered(root)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(got), string(want)); diff != "" {
			t.Errorf("%s is out of date (to renew it: go -C experiments run ./reproduce): %s", path, diff)
		}
	}
}

var (
	// measured matches text that looks like a measured number, with a decimal point or a sign.
	measured = regexp.MustCompile(`\.[0-9]|(^|[ (])[-+±][0-9]`)
	numbered = regexp.MustCompile(`^\|.*\| *[0-9]+ *\|`)  // a line of a table of numbers
	address  = regexp.MustCompile(`\]\([^)]*\)|p < \.05`) // the address of a link, or the significance level
)

// typed returns the lines of a page that contain a measured number or belong to a table of numbers. It ignores the
// parts that are printed from stored numbers.
func typed(page string) (lines []string) {
	printed := false
	for line := range strings.Lines(page) {
		switch {
		case strings.HasPrefix(line, "<!-- printed: "):
			printed = true
		case strings.HasPrefix(line, "<!-- end -->"):
			printed = false
		}
		words := address.ReplaceAllString(line, "")
		if !printed && (measured.MatchString(words) || numbered.MatchString(line)) {
			lines = append(lines, line)
		}
	}
	return lines
}

// Every measured number of EXPERIMENTS.md is printed from a stored study, so that no number is typed by hand.
func TestNoNumberIsTyped(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "EXPERIMENTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range typed(string(page)) {
		t.Errorf("a measured number outside the printed tables: %s", line)
	}
	const sample = "MCL gains 2 points [table](a-1.5.md) (p < .05)\n<!-- printed: 001 -->\n| MCL | 58.6 |\n" +
		"<!-- end -->\n"
	if got := typed(sample); len(got) > 0 {
		t.Errorf("found %q", got)
	}
	for _, line := range []string{"MCL has 58.6 %\n", "worse by -3\n", "| MCL | 58 |\n", ".55 of it\n"} {
		if got := typed(sample + line); len(got) != 1 {
			t.Errorf("%q: found %q", line, got)
		}
	}
}
