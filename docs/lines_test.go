package docs

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/program"
	"winnow/cmd/winnow/term"
)

// docLine, helpLine and readmeLine match winnow command lines in docs, in help texts, in the log and below experiments.
var (
	docLine    = regexp.MustCompile(`(?m)^(?:\$ )?(winnow [^\n]+)$`)
	helpLine   = regexp.MustCompile(`(?m)^   (winnow [^\n]+)$`)
	readmeLine = regexp.MustCompile("(?m)(?:^    (winnow [^\n`]+)$|`(winnow [^`]+?)`)")
)

// TestDocsLines checks every command line in docs, README.md, the log, experiments and help texts, even if no test runs
// it: its command and its flags must exist.
func TestDocsLines(t *testing.T) {
	shown := map[string]string{} // maps each command line to its place
	for page, text := range docPages(t) {
		if page == "cli.md" {
			continue // it consists of help texts, which are checked below
		}
		for _, b := range blocks(text) {
			if b.language == "sh" && b.mark != "fails" {
				collect(shown, docLine, fmt.Sprintf("docs/%s:%d", page, b.line), b.text)
			}
		}
	}
	pages, _ := filepath.Glob("../experiments/*/*.md")
	logs, _ := filepath.Glob("log/*.md")
	if len(pages) < 10 || len(logs) == 0 {
		t.Fatalf("found %d pages below experiments and %d in the log, expected 10 and 1", len(pages), len(logs))
	}
	for _, page := range append(pages, logs...) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		collect(shown, readmeLine, page, string(text))
	}
	docs := len(shown)
	app := term.NewApp(program.Commands(), io.Discard, io.Discard)
	var walk func(path string, list []*cli.Command)
	walk = func(path string, list []*cli.Command) {
		for _, c := range list {
			collect(shown, helpLine, path+" "+c.Name+" --help", c.Description)
			walk(path+" "+c.Name, c.Subcommands)
		}
	}
	walk("winnow", app.Commands)
	if docs < 50 || len(shown) < docs+50 {
		t.Fatalf("found %d lines in docs and %d in all, expected 50 in docs and 50 in help", docs, len(shown))
	}
	for line, where := range shown {
		if fault := unknownIn(app, line); fault != "" {
			t.Errorf("%s: %s: %s", where, line, fault)
		}
	}
	for line, want := range map[string]string{
		"winnow trace noisy.csv":                 "no command",
		"winnow data corupt a.csv":               "no command",
		"winnow data corrupt a.csv --rate 0.1":   "--rate",
		"winnow train --nix 3 --out run":         "--nix",
		"winnow eval run --threads 2 | head -n3": "",
	} {
		if fault := unknownIn(app, line); (fault == "") != (want == "") || !strings.Contains(fault, want) {
			t.Errorf("%s: found the fault %q, expected %q", line, fault, want)
		}
	}
}

func collect(shown map[string]string, line *regexp.Regexp, where, text string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	for _, m := range line.FindAllStringSubmatch(text, -1) {
		shown[strings.Join(m[1:], "")] = where
	}
}

// unknownIn describes the first command or flag of a command line that does not exist, or returns "".
func unknownIn(app *cli.App, line string) string {
	flags, list, found := app.Flags, app.Commands, false
	value := false // whether the next word is the value of a flag
	for _, word := range strings.Fields(line)[1:] {
		if value {
			value = false
			continue
		}
		if slices.Contains([]string{"|", "#", "&&", ";", "2>", "--"}, word) || strings.HasPrefix(word, ">") {
			break
		}
		name, isFlag := strings.CutPrefix(strings.TrimRight(word, ")]'\""), "--")
		name, _, given := strings.Cut(name, "=")
		switch {
		case isFlag:
			if name == "help" || name == "long" || name == "version" {
				continue
			}
			at := slices.IndexFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
			if at < 0 {
				return "--" + name + " is not a flag of this command"
			}
			value = !given && flags[at].(cli.DocGenerationFlag).TakesValue()
		case list != nil:
			at := slices.IndexFunc(list, func(c *cli.Command) bool { return c.HasName(word) })
			if at >= 0 {
				flags, list, found = append(slices.Clone(flags), list[at].Flags...), list[at].Subcommands, true
			} else if !found || len(flags) == len(app.Flags) {
				if !strings.HasPrefix(word, "-") {
					return "there is no command " + word
				}
			} else {
				list = nil
			}
		}
	}
	return ""
}
