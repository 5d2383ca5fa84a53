package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// most is how many texts outside cmd name flags. Flags are the command line's words: a room names the setting, and
// cmd/winnow the flag. Lower the number when one goes.
const most = 190

var flagName = regexp.MustCompile(`--[a-z]`)

// TestFlagsStayHome counts the texts outside cmd that name flags of the command line.
func TestFlagsStayHome(t *testing.T) {
	found := 0
	sources(t, func(name string, content []byte) {
		if strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "internal/testing/") ||
			strings.HasPrefix(name, "experiments/") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && flagName.MatchString(text.Value) {
				found++
			}
			return true
		})
	})
	if found != most {
		t.Errorf("found %d texts outside cmd that name flags, expected %d: name flags in cmd/winnow, "+
			"and put a lower number here", found, most)
	}
}
