package rules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"winnow/internal/testing/reference"
	"winnow/run/config"
	"winnow/run/settings"
)

// TestHints holds the table of docs/troubleshooting.md to the hints of the sources: what [hint.With] tells of what to
// do, and the error before it where that is made in the same place.
func TestHints(t *testing.T) {
	rows, unknown := make(map[string]bool), 0
	sources(t, func(name string, content []byte) {
		file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || called(call) != "hint.With" || len(call.Args) < 2 {
				return true
			}
			advice, ok := literal(call.Args[1])
			if !ok || advice == "%s" { // found in variables, for one of several reasons
				unknown++
				return true
			}
			message := ""
			if inner, ok := call.Args[0].(*ast.CallExpr); ok && len(inner.Args) > 0 &&
				(called(inner) == "fmt.Errorf" || called(inner) == "errors.New") {
				if message, ok = literal(inner.Args[0]); !ok {
					t.Errorf("%s: the error of the hint %q is no text", name, advice)
				}
			}
			said, advised := shown(message, nil), shown(advice, call.Args[2:])
			rows[fmt.Sprintf("| %s | %s | %s |\n", path.Dir(name), said, advised)] = true
			return true
		})
	})
	if len(rows) < 50 || unknown > len(rows)/4 {
		t.Errorf("found %d hints and %d that are no texts, expected 50 and more, most of them texts",
			len(rows), unknown)
	}
	var list []string
	for row := range rows {
		list = append(list, row)
	}
	slices.Sort(list)
	const begin = "<!-- the hints of the sources; go test ./internal/rules -update writes them -->\n"
	const end = "<!-- end -->"
	file := filepath.Join(reference.Root(t), "docs", "troubleshooting.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("docs/troubleshooting.md has no part between %q and %q", begin, end)
	}
	want := before + begin + "| said by | message | what to do |\n|---|---|---|\n" +
		strings.Join(list, "") + end + after
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatal("the hints in docs/troubleshooting.md are not those of the sources: " +
			"run go test ./internal/rules -update")
	}
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// called returns the name of a function of another package as it is called, "" for others.
func called(call *ast.CallExpr) string {
	function, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	from, ok := function.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return from.Name + "." + function.Sel.Name
}

// literal returns a text, or the sum of several.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.BinaryExpr:
		a, ok := literal(e.X)
		b, also := literal(e.Y)
		return a + b, ok && also
	}
	return "", false
}

var verb = regexp.MustCompile(`%[-+# 0]*[0-9]*(\.[0-9]+)?[a-zA-Z]`)

// shown returns a format as a cell of a table, with the settings among its arguments as flags.
func shown(format string, args []ast.Expr) string {
	if format == "" {
		return ""
	}
	text := verb.ReplaceAllStringFunc(format, func(string) string {
		if len(args) == 0 {
			return "…"
		}
		arg, ok := args[0].(*ast.CallExpr)
		args = args[1:]
		if ok && called(arg) == "config.Key" {
			if key, ok := literal(arg.Args[0]); ok {
				return settings.Spell(config.Key(key))
			}
		}
		return "…"
	})
	return "`" + strings.ReplaceAll(strings.ReplaceAll(text, "%%", "%"), "|", `\|`) + "`"
}
