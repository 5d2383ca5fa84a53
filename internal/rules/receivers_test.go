package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// TestReceivers: no method does something else where its receiver is nil. What may be missing is an interface with an
// implementation that does nothing, or its caller asks.
func TestReceivers(t *testing.T) {
	fset := token.NewFileSet()
	sources(t, func(name string, content []byte) {
		file, err := parser.ParseFile(fset, name, content, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range askedForNil(file) {
			t.Errorf("%s: a method compares its receiver with nil", fset.Position(at))
		}
	})
}

// askedForNil returns where methods of a file compare their receivers with nil.
func askedForNil(file *ast.File) (at []token.Pos) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv == nil || len(f.Recv.List[0].Names) == 0 || f.Body == nil {
			continue
		}
		if _, pointer := f.Recv.List[0].Type.(*ast.StarExpr); !pointer {
			continue
		}
		named := func(e ast.Expr, name string) bool {
			id, ok := e.(*ast.Ident)
			return ok && id.Name == name
		}
		r := f.Recv.List[0].Names[0].Name
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if b, ok := n.(*ast.BinaryExpr); ok &&
				(named(b.X, r) && named(b.Y, "nil") || named(b.X, "nil") && named(b.Y, r)) {
				at = append(at, b.Pos())
			}
			return true
		})
	}
	return at
}

func TestReceiversAreSeen(t *testing.T) {
	for code, want := range map[string]int{
		"func (d *disk) get() bool { if d == nil { return false }; return d.on }": 1,
		"func (s *scope) has() bool { return nil != s && s.outer.has() }":         1,
		"func (s *scope) has() bool { return s.outer != nil && s.outer.has() }":   0,
		"func (l list) none() bool { return l == nil }":                           0,
		"func none(d *disk) bool { return d == nil }":                             0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+code, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := askedForNil(file); len(got) != want {
			t.Errorf("%s: found %d, expected %d", code, len(got), want)
		}
	}
}
