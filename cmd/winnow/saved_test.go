package main

import (
	"strings"
	"testing"

	"winnow/cmd/winnow/term"
)

// What an interrupted command says it saved follows from its name, not from arguments named like other commands.
func TestSaved(t *testing.T) {
	for line, saved := range map[string]string{
		"winnow train --config c.yaml":                   "--resume",
		"winnow --device cpu train --out train":          "--resume",
		"winnow --quiet extract --manifest index":        "the same command",
		"winnow index run":                               "--add",
		"winnow export run --to postgres://x":            "the points",
		"winnow export -to=postgres://x run":             "the points",
		"winnow audit --labels database --features f":    "",
		"winnow data import train --out train.csv":       "",
		"winnow audit --labels train --features extract": "",
		"winnow audit photos --out a.csv":                "features made so far",
		"winnow search --index index":                    "",
		"winnow search --to http://x a.jpg":              "",
		"winnow":                                         "",
	} {
		args := term.FromCommand(commands(), strings.Fields(line))
		var told strings.Builder
		term.Interrupted(&told, args)
		got := strings.TrimSpace(strings.TrimPrefix(told.String(), "winnow: interrupted"))
		if (got == "") != (saved == "") || !strings.Contains(got, saved) {
			t.Errorf("%s: %q, expected %q", line, got, saved)
		}
	}
}
