package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/page"
	"winnow/cmd/winnow/term"
	"winnow/internal/testing/reference"
)

// everyCommand returns the flags of all commands by their paths; "winnow" has the global ones.
func everyCommand(t *testing.T) map[string][]cli.Flag {
	t.Helper()
	app := term.NewApp(commands(), io.Discard, io.Discard)
	all := map[string][]cli.Flag{"winnow": append(slices.Clone(app.Flags), &cli.BoolFlag{Name: "help"},
		&cli.BoolFlag{Name: "version"})}
	var walk func(path string, list []*cli.Command)
	walk = func(path string, list []*cli.Command) {
		for _, c := range list {
			own := strings.TrimSpace(path + " " + c.Name)
			all[own] = c.Flags
			walk(own, c.Subcommands)
		}
	}
	walk("", app.Commands)
	if len(all) < 40 {
		t.Fatalf("found %d commands", len(all))
	}
	return all
}

// TestHelp checks that every command is listed under a heading.
func TestHelp(t *testing.T) {
	code, text, stderr := call(t.Context(), "--help")
	if code != 0 || stderr != "" {
		t.Fatal(code, stderr)
	}
	for _, c := range term.NewApp(commands(), io.Discard, io.Discard).Commands {
		if c.Category == "" || !strings.Contains(text, "\n   "+c.Category+":\n") || !strings.Contains(text, "\n     "+
			c.Name+" ") {
			t.Errorf("%s, under %q, is not in the list", c.Name, c.Category)
		}
	}
}

// TestHelpShortAndLong checks that short help fits on a page and names --long, and that long help shows every flag.
func TestHelpShortAndLong(t *testing.T) {
	for path, flags := range everyCommand(t) {
		args := strings.Fields(strings.TrimPrefix(path, "winnow"))
		_, short, _ := call(t.Context(), append(slices.Clone(args), "--help")...)
		_, long, _ := call(t.Context(), append(slices.Clone(args), "--help", "--long")...)
		if !strings.Contains(short, "USAGE:\n") || !strings.Contains(long, "USAGE:\n") {
			t.Errorf("%s: found %d and %d letters of help", path, len(short), len(long))
		}
		_, options, _ := strings.Cut(short, "OPTIONS:\n")
		shown := 0
		for line := range strings.Lines(options) {
			if strings.HasPrefix(line, "   -") {
				shown++
			}
		}
		if shown > 14 {
			t.Errorf("%s --help shows %d flags, expected 14 at most: groups.txt says which", path, shown)
		}
		missing := shown < len(flags)
		for line := range strings.Lines(long) {
			missing = missing || !strings.Contains(short, strings.TrimSpace(line))
		}
		if told := strings.Contains(short, "--help --long says more"); told != missing {
			t.Errorf("%s --help: names --long: %v, expected %v\n%s", path, told, missing, short)
		}
		_, options, _ = strings.Cut(long, "OPTIONS:\n")
		for _, f := range flags {
			name := "--" + f.Names()[0]
			if len(f.Names()[0]) == 1 {
				name = name[1:]
			}
			if n := strings.Count(strings.NewReplacer("\n", " \n", ",", " ").Replace("\n"+options), " "+name+
				" "); n == 0 {
				t.Errorf("%s --help --long: %s is missing", path, name)
			}
		}
	}
}

// TestHelpFlags checks that every flag with a value names it, and that no default of 0, false or [] is shown.
func TestHelpFlags(t *testing.T) {
	for path, flags := range everyCommand(t) {
		for _, f := range flags {
			if _, ok := page.Placeholder(f); !ok {
				t.Errorf("%s --%s: no word between ` stands for its value", path, f.Names()[0])
			}
			if d := page.Default(f); d == "0" || d == "false" || d == "[]" {
				t.Errorf("%s --%s: the default %s", path, f.Names()[0], d)
			}
			if usage := f.(cli.DocGenerationFlag).GetUsage(); strings.Count(usage, "`") > 2 {
				t.Errorf("%s --%s: two words stand for its value: %s", path, f.Names()[0], usage)
			}
		}
	}
}

// TestHelpGroups checks that the commands and flags in groups.txt exist.
func TestHelpGroups(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(reference.Root(t), "cmd", "winnow", "page", "groups.txt"))
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
			at := slices.IndexFunc(all[path], func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
			if at < 0 || all[path][at].Names()[0] != name {
				t.Errorf("%s, %s: --%s is not such a flag", path, heading, name)
			}
		}
	}
}

// TestManual writes the manual pages of all commands, which groff reads without a warning.
func TestManual(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man")
	mustCall(t, "manual", "--dir", dir)
	files, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if all := everyCommand(t); err != nil || len(files) != len(all) {
		t.Fatalf("found %d pages, expected %d (%v)", len(files), len(all), err)
	}
	for name, want := range map[string][]string{
		"winnow.1":             {`.TH "WINNOW" 1`, `.SS "Data and features"`, `\-\-threads N`},
		"winnow-data-import.1": {"winnow\\-data\\-import \\- ", ".SH DESCRIPTION", `\-\-label\-column NAME`},
	} {
		text := readFile(t, filepath.Join(dir, name))
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s lacks %q", name, part)
			}
		}
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed: the manual pages were NOT checked by it")
	}
	command := exec.CommandContext(t.Context(), groff, append([]string{"-man", "-Tutf8", "-Kutf8", "-ww", "-rLL=200n"},
		files...)...)
	var warnings strings.Builder
	command.Stderr = &warnings
	out, err := command.Output()
	if err != nil || warnings.Len() > 0 || !strings.Contains(string(out), "NAME of the column with the labels") {
		t.Errorf("%v: %.2000s", err, warnings.String())
	}
}
