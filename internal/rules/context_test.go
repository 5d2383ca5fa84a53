package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// hooks are the fields of a command or an application that take a function of *cli.Context.
var hooks = []string{"Action", "Before", "After", "OnUsageError", "ExitErrHandler", "CommandNotFound"}

// *cli.Context goes no further than the flags: outside cmd/winnow/term only a hook of a command, an argument of one of
// term's functions, and a function called read or readX may have it as a parameter, and nothing keeps it.
func TestContexts(t *testing.T) {
	folders := make(map[string][]*ast.File)
	fset := token.NewFileSet()
	sources(t, func(name string, content []byte) {
		if !strings.Contains(string(content), "urfave/cli") {
			return
		}
		file, err := parser.ParseFile(fset, name, content, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		folders[path.Dir(name)] = append(folders[path.Dir(name)], file)
	})
	for folder, files := range folders {
		for _, at := range misplaced(files, folder == "cmd/winnow/term") {
			t.Errorf("%s: *cli.Context goes beyond an Action and a function that reads flags", fset.Position(at))
		}
	}
}

// misplaced returns where the files of a package mention cli.Context and may not. In term every function may have it
// as a parameter.
func misplaced(files []*ast.File, term bool) []token.Pos {
	var hooked []string                     // functions given to a hook by their names
	allowed := make(map[*ast.FuncType]bool) // those that may have the parameter
	give := func(e ast.Expr) {
		switch f := e.(type) {
		case *ast.FuncLit:
			allowed[f.Type] = true
		case *ast.Ident:
			hooked = append(hooked, f.Name)
		case *ast.SelectorExpr:
			hooked = append(hooked, f.Sel.Name)
		}
	}
	each := func(see func(ast.Node)) {
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool { see(n); return true })
		}
	}
	each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && slices.Contains(hooks, key.Name) {
				give(n.Value)
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if field, ok := left.(*ast.SelectorExpr); ok && i < len(n.Rhs) &&
					slices.Contains(hooks, field.Sel.Name) {
					give(n.Rhs[i])
				}
			}
		case *ast.CallExpr:
			if selected(n.Fun, "term", "") {
				for _, argument := range n.Args {
					give(argument)
				}
			}
		}
	})
	each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			name := n.Name.Name
			if strings.HasPrefix(name, "read") || slices.Contains(hooked, name) {
				allowed[n.Type] = true
			}
		case *ast.FuncType:
			allowed[n] = allowed[n] || term
		}
	})
	fine := make(map[ast.Node]bool)
	var wrong []token.Pos
	each(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.FuncType:
			for _, field := range n.Params.List {
				if star, ok := field.Type.(*ast.StarExpr); ok && allowed[n] {
					fine[star.X] = true
				}
			}
		case *ast.SelectorExpr:
			if selected(n, "cli", "Context") && !fine[n] {
				wrong = append(wrong, n.Pos())
			}
		}
	})
	return wrong
}

// selected reports whether an expression, its type arguments aside, is pkg.name, or of any name if name is "".
func selected(e ast.Expr, pkg, name string) bool {
	switch x := e.(type) {
	case *ast.IndexExpr:
		e = x.X
	case *ast.IndexListExpr:
		e = x.X
	}
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from, ok := s.X.(*ast.Ident)
	return ok && from.Name == pkg && (name == "" || s.Sel.Name == name)
}

func TestMisplacedIsSeen(t *testing.T) {
	for _, c := range []struct {
		code string
		term bool
		want int
	}{
		{"var x = cli.Command{Action: func(c *cli.Context) error { return nil }}", false, 0},
		{"var x = cli.Command{Before: check}\nfunc check(c *cli.Context) error { return nil }", false, 0},
		{"var x = cli.Command{Before: o.check}\nfunc (o *opts) check(c *cli.Context) error { return nil }", false, 0},
		{"func f(x *cli.Command) { x.Action = func(c *cli.Context) error { return nil } }", false, 0},
		{"var x = term.Action(flags, call)\nfunc flags(c *cli.Context) (int, error) { return 0, nil }", false, 0},
		{"func readModel(c *cli.Context) string { return c.String(\"model\") }", false, 0},
		{"func Size(c *cli.Context, flag string) int { return 0 }", true, 0},
		{"func Action(read func(*cli.Context) error) {}", true, 0},

		{"func model(c *cli.Context) string { return c.String(\"model\") }", false, 1},
		{"type work struct { c *cli.Context }", false, 1},
		{"type work struct { c *cli.Context }", true, 1},
		{"var last *cli.Context", true, 1},
		{"func read() *cli.Context { return nil }", false, 1},
		{"func read(all []*cli.Context) {}", true, 1},
		{"type room func(cli.Context)", true, 1},
		{"func f() { g(func(c *cli.Context) {}) }", false, 1},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+c.code, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := misplaced([]*ast.File{file}, c.term); len(got) != c.want {
			t.Errorf("%s\nterm %v: found %d, expected %d", c.code, c.term, len(got), c.want)
		}
	}
}
