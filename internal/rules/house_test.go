package rules

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"winnow/internal/testing/reference"
)

// Patterns that are counted in the code.
var (
	funcName     = regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?([A-Za-z_]\w*)[\[(]`)
	oneWord      = regexp.MustCompile(`^[a-z]+$`)
	cliFlag      = regexp.MustCompile(`\bcli\.\w*Flag\{`)
	namesFlag    = regexp.MustCompile(`"[^"\n]*--[a-z][^"\n]*"`)
	directModule = regexp.MustCompile(`(?m)^\t\S+ v\S+$`)
	privateWord  = regexp.MustCompile(`\b(mend(s|ed|ing)?|strangers?|alike|told|tells?|look(s|ed|ing)? at|` +
		`call(s|ed)? (\w+ )?wrong|likeness|beside)\b`)
)

// TestHouse limits the size of the code and the forms of its names: no number of house.txt may be exceeded. -update
// lowers numbers that have decreased. To raise a number, edit the file, lower another number, and give the reason in
// the commit.
func TestHouse(t *testing.T) {
	const file = "house.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := measureHouse(t)
	limits := map[string]int{}
	for line := range strings.Lines(string(text)) {
		number, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		if limits[what], err = strconv.Atoi(number); err != nil {
			t.Fatalf("%s: %q: %v", file, line, err)
		}
	}
	var out strings.Builder
	for _, what := range slices.Sorted(maps.Keys(found)) {
		limit, known := limits[what]
		if !known || found[what] > limit {
			t.Errorf("%s: %d, expected at most %d (%s): remove as much elsewhere, or explain the increase", what,
				found[what], limit, file)
		}
		fmt.Fprintf(&out, "%d %s\n", min(found[what], max(limit, found[what])), what)
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// measureHouse returns the numbers limited by house.txt.
func measureHouse(t *testing.T) map[string]int {
	found, names, packages := map[string]int{}, map[string]int{}, map[string]bool{}
	for name, text := range goFiles(t) {
		lines := strings.Count(text, "\n")
		room, _, nested := strings.Cut(name, "/")
		switch {
		case strings.HasSuffix(name, "_test.go"):
			found["lines of tests"] += lines
			continue
		case room == "experiments" || strings.HasPrefix(name, "internal/testing/"):
			found["lines of experiments and internal/testing"] += lines
			continue
		case !nested:
			room = "."
		}
		found["lines of product Go"] += lines
		found["lines of room "+room] += lines
		packages[filepath.Dir(name)] = true
		found["flags declared"] += len(cliFlag.FindAllString(text, -1))
		if room != "cmd" {
			found["texts outside cmd that name flags"] += len(namesFlag.FindAllString(text, -1))
		}
		for _, m := range funcName.FindAllStringSubmatch(text, -1) {
			names[m[1]]++
		}
	}
	found["packages"] = len(packages)
	all, shared, small, one := 0, 0, 0, 0
	for name, n := range names {
		all += n
		if n > 1 {
			shared += n
		}
		if name[0] >= 'a' && name[0] <= 'z' && name != "main" && name != "init" {
			small += n
			if oneWord.MatchString(name) {
				one += n
			}
		}
	}
	found["percent of functions that share their name"] = (100*shared + all - 1) / all
	found["percent of unexported names of one word"] = (100*one + small - 1) / small
	countWords(t, found)
	return found
}

// countWords counts the words of README and docs, and in them and in cmd the words that are not terms of the field.
func countWords(t *testing.T, found map[string]int) {
	root := reference.Root(t)
	var files []string
	for _, pattern := range []string{"README.md", "docs/*.md", "cmd/winnow/*/*.go", "cmd/winnow/*/*.txt",
		"report/review/page/*.js", "report/review/page/*.html"} {
		more, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(more) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(more), err)
		}
		files = append(files, more...)
	}
	for _, name := range append(files, filepath.Join(root, "go.mod")) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		switch text := string(data); {
		case filepath.Ext(name) == ".mod":
			found["direct modules"] = len(directModule.FindAllString(text, -1))
		case filepath.Ext(name) == ".md":
			found["words of docs"] += len(strings.Fields(text))
			fallthrough
		case !strings.HasSuffix(name, "_test.go"):
			found["words that are not the field's"] += len(privateWord.FindAllString(strings.ToLower(text), -1))
		}
	}
}
