package document

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// reasons say in plain words what the parser's messages mean, by a part of them.
var reasons = []struct{ part, plain string }{
	{"sequence end token ']'", "a [ has no ] after it"},
	{"or ']' must be specified", "a comma or a ] is missing in a list in brackets"},
	{"corresponding to ']'", "a ] has no [ before it"},
	{"flow mapping end token '}'", "a { has no } after it"},
	{"flow map content", "a { has no } after it"},
	{"or '}' must be specified", "a comma or a } is missing between braces"},
	{"corresponding to '}'", "a } has no { before it"},
	{"found ','", "a comma too many"},
	{"end character of double-quoted", `a " has no second one`},
	{"end character of single-quoted", "a ' has no second one"},
	{"escape character", `a \ in double quotes begins none of YAML's escapes: write \\, or single quotes`},
	{"'\t'", "a tab where a word begins: indent with spaces"},
	{"tab character", "a tab where a word begins: indent with spaces"},
	{"mapping value is not allowed", "a second colon in the line: put the value into quotes, or on lines below"},
	{"unexpected key name", "a line without a colon: expected KEY: VALUE"},
	{"non-map value", "a line without a colon: expected KEY: VALUE"},
	{"invalid key", "this cannot be a key: expected KEY: VALUE"},
	{"reserved character", "this character begins no value: put the value in quotes"},
	{"directive", "a line that begins with %: expected KEY: VALUE"},
	{"anchor", "anchors and aliases (& and *) are not supported: write the value, or put it in quotes"},
	{"alias", "anchors and aliases (& and *) are not supported: write the value, or put it in quotes"},
	{"block sequence entries", "a list's - in a line with a key: it goes on a line of its own below"},
	{"value is not allowed in this context", "this belongs to nothing before it: indent keys of one level alike"},
}

// inWords says what is wrong with a text in which the parser found a fault.
func inWords(text []byte, at *token.Token, message string) string {
	if rest, ok := strings.CutPrefix(message, "mapping key "); ok {
		if key, first, ok := strings.Cut(rest, " already defined at "); ok {
			return fmt.Sprintf("the key %s is given twice, first at %s", key, strings.Trim(first, "[]"))
		}
	}
	found := "this is not YAML"
	if at != nil && at.Position != nil {
		lines := bytes.Split(text, []byte("\n"))
		if i := at.Position.Line - 1; i >= 0 && i < len(lines) {
			found = fmt.Sprintf("%.60q is not YAML", bytes.TrimRight(lines[i], "\r"))
		}
	}
	for _, r := range reasons {
		if strings.Contains(message, r.part) {
			return found + ": " + r.plain
		}
	}
	return found + ": expected KEY: VALUE, lines below a key indented by spaces"
}
