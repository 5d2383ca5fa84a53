package document

import (
	"strings"
	"testing"
)

// Faults of the syntax are told in plain words, with the line.
func TestFaultsInWords(t *testing.T) {
	for text, want := range map[string]string{
		"a:\n  b: [1\n":     `:2:6: "  b: [1" is not YAML: a [ has no ] after it`,
		"a:\n\tb: 1\n":      `is not YAML: a tab where a word begins: indent with spaces`,
		"a: b: 1\n":         `"a: b: 1" is not YAML: a second colon in the line`,
		"a: {b: 1, b: 2}\n": `the key "b" is given twice, first at 1:5`,
		"a: \"x\n":          `a " has no second one`,
		"a: 'x\n":           `a ' has no second one`,
		"a: {b: 1}}\n":      `is not YAML`,
		"a: @x\n":           `put the value in quotes`,
		"a\nb: 1\n":         `:1:1: "a" is not YAML: a line without a colon`,
	} {
		_, err := Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
}
