package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// builtins are the functions and types of Go that a parameter must not hide.
const builtins = "any append cap clear close complex copy delete error imag len make max min new panic print println " +
	"real recover string"

// TestNames: no parameter is named like a builtin, and no constructor is called Of.
func TestNames(t *testing.T) {
	fset := token.NewFileSet()
	sources(t, func(name string, content []byte) {
		file, err := parser.ParseFile(fset, name, content, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range misnamed(file) {
			t.Errorf("%s: the name %s", fset.Position(id.Pos()), id.Name)
		}
	})
}

// misnamed returns the bad names of a file. Functions called Of that return no type of their package are fine:
// hint.Of(err) reads well.
func misnamed(file *ast.File) (bad []*ast.Ident) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			for _, field := range n.Params.List {
				for _, id := range field.Names {
					if slices.Contains(strings.Fields(builtins), id.Name) {
						bad = append(bad, id)
					}
				}
			}
		case *ast.FuncDecl:
			if n.Name.Name == "Of" && n.Recv == nil && n.Type.Results != nil &&
				constructs(n.Type.Results.List[0].Type) {
				bad = append(bad, n.Name)
			}
		}
		return true
	})
	return bad
}

// constructs reports whether a result is of an exported type of the package.
func constructs(e ast.Expr) bool {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	id, ok := e.(*ast.Ident)
	return ok && id.IsExported()
}

func TestMisnamedIsSeen(t *testing.T) {
	for code, want := range map[string]int{
		"func f(make func()) {}":                               1,
		"var f = func(old, new string) {}":                     1,
		"type t interface{ f(len int) }":                       1,
		"func Of(x int) *Thing { return nil }\ntype Thing int": 1,
		"func Of(err error) string { return \"\" }":            0,
		"func (t T) Of(x int) T { return t }\ntype T int":      0,
		"func f(n int) (any bool) { return }":                  0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+code, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := misnamed(file); len(got) != want {
			t.Errorf("%s: found %d, expected %d", code, len(got), want)
		}
	}
}
