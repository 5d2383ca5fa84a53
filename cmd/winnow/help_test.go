package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/internal/testing/reference"
)

// everyCommand returns the flags of all commands by their paths; "winnow" has the global ones.
func everyCommand(t *testing.T) map[string][]cli.Flag {
	t.Helper()
	app := term.NewApp(commands(), io.Discard, io.Discard)
	all := map[string][]cli.Flag{"winnow": slices.Clone(app.Flags)}
	var walk func(path string, list []*cli.Command)
	walk = func(path string, list []*cli.Command) {
		for _, c := range list {
			own := strings.TrimSpace(path + " " + c.Name)
			all[own] = c.Flags
			walk(own, c.Subcommands)
		}
	}
	walk("", app.Commands)
	if len(all) < 30 {
		t.Fatalf("found %d commands", len(all))
	}
	return all
}

// TestHelp checks that help shows every command and every flag, each with a name for its value.
func TestHelp(t *testing.T) {
	for path, flags := range everyCommand(t) {
		args := strings.Fields(strings.TrimPrefix(path, "winnow"))
		code, text, _ := call(t.Context(), append(args, "--help")...)
		if code != 0 || !strings.Contains(text, "Usage: winnow") {
			t.Errorf("%s --help: exit code %d", path, code)
		}
		for _, f := range flags {
			name := "--" + f.Names()[0]
			if len(f.Names()[0]) == 1 {
				name = name[1:]
			}
			if !strings.Contains(strings.NewReplacer("\n", " \n", ",", " ").Replace(text), "   "+name+" ") {
				t.Errorf("%s --help: %s is missing", path, name)
			}
			documented := f.(cli.DocGenerationFlag)
			if usage := documented.GetUsage(); documented.TakesValue() && strings.Count(usage, "`") != 2 {
				t.Errorf("%s %s: expected one word between ` that stands for the value: %s", path, name, usage)
			}
		}
	}
	if code, _, stderr := call(t.Context(), "losses"); code != 2 || !strings.Contains(stderr, "list losses") {
		t.Errorf("an old name: exit code %d, %s", code, stderr)
	}
}

// TestHelpGroups checks that the commands and flags in groups.txt exist.
func TestHelpGroups(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(reference.Root(t), "cmd", "winnow", "term", "groups.txt"))
	if err != nil {
		t.Fatal(err)
	}
	all, path := everyCommand(t), ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		heading, names, group := strings.Cut(line, ": ")
		switch {
		case line == "" || line[0] == '#':
			continue
		case !group:
			path = line
			if all[path] == nil {
				t.Errorf("%q is not a command", path)
			}
			continue
		}
		for _, name := range strings.Fields(names) {
			at := slices.IndexFunc(all[path], func(f cli.Flag) bool { return f.Names()[0] == name })
			if at < 0 {
				t.Errorf("%s, %s: --%s is not such a flag", path, heading, name)
			}
		}
	}
}

// TestManual prints the manual of all commands in both forms, and the scripts of the shells.
func TestManual(t *testing.T) {
	for line, want := range map[string]string{"manual": "### data", "manual --man": ".SH",
		"completion bash": "complete ", "completion zsh": "#compdef", "completion fish": "complete -c winnow",
		"--generate-bash-completion":                   "quickstart\n",
		"data import --lab --generate-bash-completion": "--label-column\n",
	} {
		if text, _ := mustCall(t, strings.Fields(line)...); !strings.Contains(text, want) {
			t.Errorf("winnow %s lacks %q:\n%.300s", line, want, text)
		}
	}
}
