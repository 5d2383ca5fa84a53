package main

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
)

// everyCommand returns the flags of all commands by command path; "winnow" has the global flags.
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

// TestHelp checks that help shows every command and every flag, and for every flag a name of its value.
func TestHelp(t *testing.T) {
	for path, flags := range everyCommand(t) {
		args := strings.Fields(strings.TrimPrefix(path, "winnow"))
		code, text, _ := call(t.Context(), append(args, "--help")...)
		if code != 0 || !strings.Contains(text, "USAGE:\n   winnow") {
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
				t.Errorf("%s %s: expected one word between backquotes as the name of the value: %s", path, name, usage)
			}
		}
	}
}

// TestManual prints the manual in both formats, and the completion scripts.
func TestManual(t *testing.T) {
	defer func(args []string) { os.Args = args }(os.Args)
	for line, want := range map[string]string{"manual": "## data", "manual --man": ".SH",
		"completion bash": "complete ", "completion zsh": "#compdef", "completion fish": "complete -c winnow",
		"--generate-bash-completion":                   "quickstart\n",
		"data import --lab --generate-bash-completion": "--label-column\n",
	} {
		os.Args = append([]string{"winnow"}, strings.Fields(line)...) // the library's completion reads os.Args
		if text, _ := mustCall(t, os.Args[1:]...); !strings.Contains(text, want) {
			t.Errorf("winnow %s does not contain %q:\n%.300s", line, want, text)
		}
	}
}
