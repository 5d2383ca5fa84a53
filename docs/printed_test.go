package docs

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"winnow/internal/testing/reference"
	"winnow/internal/testing/winnowtest"
)

var update = flag.Bool("update", false, "write what commands print into docs")

// printed matches a part of a page that is the output of a command, either unchanged or ("as text") between fences.
var printed = regexp.MustCompile(`(?ms)^<!-- printed( as text)? by (winnow [^\n]*) -->\n(.*?)^<!-- end -->$`)

// TestDocsPrinted compares the printed parts of pages, and all of docs/cli.md, with the current output of their
// commands. With -update it writes the output into the pages.
func TestDocsPrinted(t *testing.T) {
	home := t.TempDir()
	for _, variable := range os.Environ() { // unset them, because help shows their values as defaults of flags
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "WINNOW_") {
			t.Setenv(name, "") // restores the variable when the test ends
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, value := range map[string]string{"HOME": home, "XDG_CACHE_HOME": home, "XDG_CONFIG_HOME": home,
		"WINNOW_MODELS": filepath.Join(home, "models.json")} {
		t.Setenv(name, value)
	}
	parts := 0
	for page, text := range docPages(t) {
		want := printed.ReplaceAllStringFunc(text, func(part string) string {
			parts++
			m := printed.FindStringSubmatch(part)
			out := strings.TrimRight(winnowtest.MustRun(t, m[2]), "\n") + "\n"
			if m[1] != "" {
				out = "```text\n" + out + "```\n"
			}
			return "<!-- printed" + m[1] + " by " + m[2] + " -->\n" + out + "<!-- end -->"
		})
		if page == "cli.md" {
			want = winnowtest.MustRun(t, "winnow manual")
		}
		if want == text {
			continue
		}
		if !*update {
			at, shown, now := firstDifference(text, want)
			t.Errorf("docs/%s:%d: differs from the output of the command\nshown:   %.200q\nprinted: %.200q\n"+
				"to update all pages: go test -vet=off ./docs -run TestDocsPrinted -update", page, at, shown, now)
			continue
		}
		if err := os.WriteFile(filepath.Join(reference.Root(t), "docs", page), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if parts < 3 {
		t.Errorf("found %d printed parts in docs, expected at least 3, those of losses and metrics", parts)
	}
}

// firstDifference returns the number, from 1, of the first line in which two texts differ, and this line of each text.
func firstDifference(a, b string) (at int, inA, inB string) {
	for a != "" || b != "" {
		at++
		inA, a, _ = strings.Cut(a, "\n")
		if inB, b, _ = strings.Cut(b, "\n"); inA != inB {
			break
		}
	}
	return at, inA, inB
}

// TestDocsGo checks that every Go program in docs is part of an example or of the consumer program, which tests run.
func TestDocsGo(t *testing.T) {
	var examples string
	root := reference.Root(t)
	for _, pattern := range []string{"example*_test.go", "doc.go", "internal/testing/consumer/main.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatal("no file matches", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			examples += spaces.ReplaceAllString(string(text), " ")
		}
	}
	shown := 0
	for page, text := range docPages(t) {
		for _, b := range blocks(text) {
			if b.language != "go" {
				continue
			}
			shown++
			if !strings.Contains(examples, strings.TrimSpace(spaces.ReplaceAllString(b.text, " "))) {
				t.Errorf("docs/%s:%d: no example contains this program", page, b.line)
			}
		}
	}
	if shown == 0 {
		t.Error("found no Go program in docs")
	}
}
