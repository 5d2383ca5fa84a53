// Package docs tests the pages: it runs their commands and compares the output with the output that the pages show.
package docs

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"winnow/internal/testing/orttest"
	"winnow/internal/testing/reference"
	"winnow/internal/testing/winnowtest"
	"winnow/losses"
	"winnow/run/config"
)

func TestMain(m *testing.M) {
	if os.Getenv(reviewerVariable) != "" {
		if err := reviewServed(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	winnowtest.Main(m)
}

// notRun lists the allowed reasons in `<!-- not run: REASON -->`. The tests skip the block of commands after this mark.
var notRun = []string{"a GPU", "a server that waits for a browser", "servers of databases", "somebody's data or model",
	"minutes", "installs software"}

// block is a fenced part of a page.
type block struct {
	language, text string
	line, section  int    // number of its first line, from 1; number of headings before the block
	mark           string // text of the HTML comment before the block, or ""
}

var (
	comment = regexp.MustCompile(`^<!-- (.*) -->$`)
	command = regexp.MustCompile(`(?m)^(\$ )?(winnow [a-z]|make [a-z])`)
)

// blocks returns the fenced parts of a page.
func blocks(text string) []block {
	var all []block
	inside, mark, section := false, "", 0
	for i, line := range strings.Split(text, "\n") {
		switch {
		case inside && line == "```":
			inside = false
		case inside:
			all[len(all)-1].text += line + "\n"
		case strings.HasPrefix(line, "```"):
			all = append(all, block{language: line[3:], line: i + 1, section: section, mark: mark})
			inside, mark = true, ""
		case comment.MatchString(line):
			mark = comment.FindStringSubmatch(line)[1]
		case line != "":
			mark = ""
			if strings.HasPrefix(line, "#") {
				section++
			}
		}
	}
	return all
}

// docPages returns the text of each page whose commands are run. The keys are paths relative to docs: the repository's
// README.md is "../README.md".
func docPages(t *testing.T) map[string]string {
	t.Helper()
	docs := filepath.Join(reference.Root(t), "docs")
	files, err := filepath.Glob(filepath.Join(docs, "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatal("found no page in docs", err)
	}
	pages := make(map[string]string)
	for _, file := range append(files, filepath.Join(docs, "..", "README.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(docs, file)
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = string(text)
	}
	return pages
}

// shell runs the commands of pages in bash, each page in its own folder.
type shell struct {
	pages   map[string]string
	bin     string            // folder of the program winnow, put on PATH
	folders map[string]string // by page, set when its commands were run
	ran     int               // number of blocks
	skipped map[string]int    // number of blocks, by reason
}

// TestDocsCommands runs every block of commands in README.md and docs, and checks that the output contains the lines on
// the page. A page starts with the example images of docs/README.md, or, if it has a comment `<!-- goes on from PAGE
// -->`, in a copy of the folder of PAGE.
func TestDocsCommands(t *testing.T) {
	orttest.Runtime(t)
	s := &shell{pages: docPages(t), bin: t.TempDir(), folders: map[string]string{}, skipped: map[string]int{}}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, variable := range map[string]string{"winnow": winnowtest.Variable, "reviewed": reviewerVariable} {
		program := fmt.Sprintf("#!/bin/sh\n%s=yes exec %q \"$@\"\n", variable, self)
		if name == "winnow" { // the reviewer also starts this program, which must then not act as a reviewer
			program = strings.Replace(program, "exec", "exec env -u "+reviewerVariable, 1)
		}
		if err := os.WriteFile(filepath.Join(s.bin, name), []byte(program), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("WINNOW_MODEL_DIRS", "")
	for _, page := range slices.Sorted(maps.Keys(s.pages)) {
		s.page(t, page)
	}
	s.fields(t, "files-on-disk.md")
	t.Logf("%d blocks of commands were run", s.ran)
	for _, reason := range slices.Sorted(maps.Keys(s.skipped)) {
		t.Logf("%d were skipped: %s", s.skipped[reason], reason)
	}
}

// page runs the commands of a page, unless they were run before, and returns the page's folder.
func (s *shell) page(t *testing.T, page string) string {
	t.Helper()
	if folder, ok := s.folders[page]; ok {
		if folder == "" {
			t.Fatalf("docs/%s: its comments `goes on from` form a cycle", page)
		}
		return folder
	}
	text, ok := s.pages[page]
	if !ok {
		t.Fatalf("docs/%s: does not exist, but a comment `goes on from` names it", page)
	}
	s.folders[page] = ""
	before := "README.md"
	if m := regexp.MustCompile(`(?m)^<!-- goes on from (\S+) -->$`).FindStringSubmatch(text); m != nil {
		before = m[1]
	}
	folder := t.TempDir()
	if page != before {
		if err := os.CopyFS(folder, os.DirFS(s.page(t, before))); err != nil {
			t.Fatal(err)
		}
	}
	t.Run(page, func(t *testing.T) { s.run(t, page, folder) })
	s.folders[page] = folder
	return folder
}

// run runs the blocks of one page.
func (s *shell) run(t *testing.T, page, folder string) {
	var script strings.Builder
	script.WriteString("set -euo pipefail\n")
	var done []block // blocks in the script
	outputs := make(map[int][]block)
	for _, b := range blocks(s.pages[page]) {
		where := fmt.Sprintf("docs/%s:%d", page, b.line)
		reason, skip := strings.CutPrefix(b.mark, "not run: ")
		byCommand := strings.HasPrefix(b.mark, "printed")
		switch {
		case b.language == "text" && len(done) > 0 && done[len(done)-1].section == b.section && !byCommand &&
			!strings.HasPrefix(b.mark, "not compared"):
			outputs[len(done)-1] = append(outputs[len(done)-1], b)
		case b.language != "sh" && command.MatchString(b.text) && !byCommand:
			t.Errorf("%s: this block contains a command: start the block with ```sh, so that the command is run", where)
		case b.language != "sh":
		case skip && !slices.Contains(notRun, reason):
			t.Errorf("%s: not run: found the reason %q, expected one of %q", where, reason, notRun)
		case skip:
			s.skipped[reason]++
		case strings.HasPrefix(b.mark, served):
			text, err := servedBlock(b)
			if err != nil {
				t.Errorf("%s: %v", where, err)
			}
			fmt.Fprintf(&script, "%s\necho '\x1e'\n", text)
			done = append(done, b)
		case b.mark == "fails":
			fmt.Fprintf(&script, "if\n%s\nthen\necho this should fail; exit 1; fi\necho '\x1e'\n", b.text)
			done = append(done, b)
		default:
			fmt.Fprintf(&script, "%s\necho '\x1e'\n", b.text)
			done = append(done, b)
		}
	}
	if len(done) == 0 {
		return
	}
	bash := exec.CommandContext(t.Context(), "bash", "-c", script.String())
	bash.Dir = folder
	bash.Env = append(os.Environ(), "PATH="+s.bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"WINNOW_MODELS="+filepath.Join(folder, "models.json"))
	out, err := bash.CombinedOutput()
	parts := strings.Split(string(out), "\x1e\n")
	if err != nil {
		b := done[min(len(parts), len(done))-1]
		t.Fatalf("docs/%s:%d: %v\n%s%s", page, b.line, err, b.text, parts[len(parts)-1])
	}
	s.ran += len(done)
	for i, shown := range outputs {
		for _, b := range shown {
			if missing := notPrinted(b.text, parts[i]); missing != "" && *update {
				s.pages[page] = strings.Replace(s.pages[page], b.text, updateNumbers(b.text, parts[i]), 1)
				err := os.WriteFile(filepath.Join(reference.Root(t), "docs", page), []byte(s.pages[page]), 0o644)
				if err != nil {
					t.Fatal(err)
				}
			} else if missing != "" {
				t.Errorf("docs/%s:%d: %q is missing in the output:\n%s", page, b.line, missing, parts[i])
			}
		}
	}
}

// fields checks that a page names every column and every JSON key of the files that its commands wrote.
func (s *shell) fields(t *testing.T, page string) {
	names := make(map[string]string) // maps each field to a file that contains it
	err := filepath.WalkDir(s.page(t, page), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		kind := filepath.Ext(path)
		if kind != ".csv" && kind != ".json" && kind != ".jsonl" {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if kind == ".csv" {
			header, err := csv.NewReader(f).Read()
			for _, name := range header {
				names[name] = path
			}
			return err
		}
		for in := json.NewDecoder(f); ; {
			var value any
			if err := in.Decode(&value); err == io.EOF {
				return nil
			} else if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			keys(value, func(name string) { names[name] = path })
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 100 {
		t.Errorf("the files of docs/%s have %d fields, expected at least 100", page, len(names))
	}
	for name, path := range names {
		if !strings.Contains(s.pages[page], "`"+name+"`") && !regexp.MustCompile(`^e?[0-9]+$`).MatchString(name) {
			t.Errorf("docs/%s: the field `%s` of %s is not documented", page, name, filepath.Base(path))
		}
	}
}

// keys calls visit with every key of the objects in a JSON value. It skips objects keyed by the names of loss terms.
func keys(value any, visit func(string)) {
	switch v := value.(type) {
	case []any:
		for _, each := range v {
			keys(each, visit)
		}
	case map[string]any:
		for name, each := range v {
			if visit(name); name != "terms" && name != "pulls" { // their keys are names of loss terms
				keys(each, visit)
			}
		}
	}
}

var (
	number = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)
	spaces = regexp.MustCompile(`\s+`)
	// free matches units of time, speed and memory: a number before such a unit depends on the machine.
	free = regexp.MustCompile(`^ ?(s|ms|m[0-9]+s|min|h|[a-z]+/s|s left|[KMG]i?B)\b`)
	// digest matches part of a hexadecimal checksum, or a time of day; their digits are not compared.
	digest = regexp.MustCompile(`\b[0-9a-f]*[0-9][0-9a-f]*[a-f][0-9a-f]{4,}\b|[0-9]+:[0-9]+:[0-9]+`)
)

// plain replaces every number in a line by 0 and every run of spaces by one space.
func plain(line string) string {
	line = number.ReplaceAllString(digest.ReplaceAllString(line, "0"), "0")
	return strings.TrimSpace(spaces.ReplaceAllString(line, " "))
}

// sameNumbers reports whether the numbers of two otherwise equal lines agree within 2 % plus one unit in the last
// place: results of a training depend on the processor and its threads. It ignores times, speeds and checksums.
func sameNumbers(a, b string) bool {
	a, b = digest.ReplaceAllString(a, "0"), digest.ReplaceAllString(b, "0")
	inA, inB := number.FindAllStringIndex(a, -1), number.FindAllStringIndex(b, -1)
	if len(inA) != len(inB) {
		return false
	}
	for i := range inA {
		x, y := a[inA[i][0]:inA[i][1]], b[inB[i][0]:inB[i][1]]
		if x == y || free.MatchString(a[inA[i][1]:]) && free.MatchString(b[inB[i][1]:]) {
			continue
		}
		v, _ := strconv.ParseFloat(x, 64)
		w, _ := strconv.ParseFloat(y, 64)
		place := 1.0
		if _, behind, ok := strings.Cut(x, "."); ok {
			place = math.Pow(10, -float64(len(behind)))
		}
		if math.Abs(v-w) > 0.02*math.Max(v, w)+1.01*place {
			return false
		}
	}
	return true
}

// notPrinted returns the first line of shown that is missing in printed, or "". Printed lines between two shown lines,
// such as progress, may be left out, with or without a line "…".
func notPrinted(shown, printed string) string {
	var lines []string
	for line := range strings.Lines(printed) {
		lines = append(lines, line[strings.LastIndexByte(strings.TrimRight(line, "\r\n"), '\r')+1:])
	}
	for line := range strings.Lines(shown) {
		want := plain(line)
		if want == "…" || want == "" {
			continue
		}
		at := slices.IndexFunc(lines, func(l string) bool {
			beginning, cut := strings.CutSuffix(want, "…")
			if cut {
				return strings.HasPrefix(plain(l), strings.TrimSpace(beginning))
			}
			return plain(l) == want && sameNumbers(line, l)
		})
		if at < 0 {
			return strings.TrimSpace(line)
		}
		lines = lines[at+1:]
	}
	return ""
}

// updateNumbers returns shown with the numbers that were printed in the same lines.
func updateNumbers(shown, printed string) string {
	lines := strings.SplitAfter(printed, "\n")
	var out strings.Builder
	for line := range strings.Lines(shown) {
		at := slices.IndexFunc(lines, func(l string) bool { return plain(l) == plain(line) })
		if at >= 0 && plain(line) != "" {
			line, lines = lines[at], lines[at+1:]
		}
		out.WriteString(line)
	}
	return out.String()
}

func TestNotPrinted(t *testing.T) {
	printed := "epoch 1: 0.25\nepoch 2: 0.5\nrun/head.winnow:   the state after step 102 of 120\n"
	for shown, want := range map[string]string{
		"epoch 1: 0.26\n…\nrun/head.winnow: the state after step 103 of 120\n": "",
		"epoch 1: 0.35": "epoch 1: 0.35",
		"run/head.winnow:   the state after step 112 of 120\n": "run/head.winnow:   the state after step 112 of 120",
		"epoch 2: 0.5\nepoch 1: 0.25\nepoch 1: 0.25\n":         "epoch 1: 0.25",
		"run/head.winnow: …":                                   "",
		"run/last.winnow: …":                                   "run/last.winnow: …",
		"run/head.winnow: the state before step 1":             "run/head.winnow: the state before step 1",
	} {
		if got := notPrinted(shown, printed); got != want {
			t.Errorf("%q: found %q missing, expected %q", shown, got, want)
		}
	}
}

// TestDocsCounts checks the numbers of recipes and losses on the pages.
func TestDocsCounts(t *testing.T) {
	pages := docPages(t)
	for page, want := range map[string]string{
		"papers.md":    fmt.Sprintf("%d recipes", len(config.Recipes())),
		"../README.md": fmt.Sprintf("%d losses", len(losses.Catalog)),
		"README.md":    fmt.Sprintf("[%d](losses.md)", len(losses.Catalog)),
	} {
		if !strings.Contains(pages[page], want) {
			t.Errorf("docs/%s does not contain %q", page, want)
		}
	}
}
