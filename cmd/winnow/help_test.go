package main

import (
	"io"
	"strings"
	"testing"

	"winnow/cmd/winnow/term"
)

// TestHelp: every command stands under a heading in the list of all, and its own help says nothing of it.
func TestHelp(t *testing.T) {
	code, text, stderr := call(t.Context(), "--help")
	if code != 0 || stderr != "" {
		t.Fatal(code, stderr)
	}
	for _, c := range term.NewApp(commands(), io.Discard, io.Discard).Commands {
		if c.Category == "" || !strings.Contains(text, "\n   "+c.Category+":\n") || !strings.Contains(text, "\n     "+c.Name+" ") {
			t.Errorf("%s, under %q, is not in the list", c.Name, c.Category)
		}
		names := []string{c.Name}
		if len(c.Subcommands) > 0 {
			names = append(names, c.Subcommands[0].Name)
		}
		for i := range names {
			code, text, _ := call(t.Context(), append(append([]string{}, names[:i+1]...), "--help")...)
			if code != 0 || !strings.Contains(text, "USAGE:") || !strings.Contains(text, "OPTIONS:") || strings.Contains(text, "CATEGORY") {
				t.Errorf("%v --help: %d\n%s", names[:i+1], code, text)
			}
		}
	}
}
