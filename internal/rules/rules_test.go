// Package rules tests which room may import which (rooms_test.go), and writes the table of ARCHITECTURE.md from it.
package rules

import (
	"bytes"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"winnow/internal/testing/reference"
)

var update = flag.Bool("update", false,
	"write the table of rooms into ARCHITECTURE.md, and lower numbers into house.txt")

// sources calls see for every Go file of the module except tests, with its path relative to the root.
func sources(t *testing.T, see func(name string, content []byte)) {
	t.Helper()
	root := os.DirFS(reference.Root(t))
	seen := 0
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && name != "." {
			_, err := fs.Stat(root, path.Join(name, "go.mod"))
			if err == nil || strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules" {
				return fs.SkipDir
			}
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		content, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		seen++
		see(name, content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Fatal("no Go file was seen")
	}
}

func TestImports(t *testing.T) {
	sources(t, func(name string, content []byte) {
		file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if why := forbidden(path.Dir(name), imported); why != "" {
				t.Errorf("%s imports %q: %s", name, imported, why)
			}
		}
	})
}

// forbidden returns why a room may not import a path, or "".
func forbidden(room, imported string) string {
	for thing, owners := range only {
		if (imported == thing || strings.HasPrefix(imported, thing+"/")) &&
			!slices.ContainsFunc(strings.Fields(owners), func(owner string) bool { return matches(owner, room) }) {
			return "only " + owners + " may"
		}
	}
	inner, ours := strings.CutPrefix(imported, "winnow/")
	if !ours || slices.Contains(strings.Fields(openToAll), inner) {
		return ""
	}
	i := index(room)
	if i < 0 {
		return "the room " + room + " is not in the table of rooms_test.go"
	}
	if rooms[i].Imports == "*" || slices.Contains(strings.Fields(rooms[i].Imports), inner) {
		return ""
	}
	return "the table allows " + room + " only " + rooms[i].Imports
}

// index returns the position of a room in the table, or -1.
func index(room string) int {
	return slices.IndexFunc(rooms, func(r Room) bool { return matches(r.Path, room) })
}

// matches reports whether a path of the table includes a room.
func matches(pattern, room string) bool {
	above, all := strings.CutSuffix(pattern, "/...")
	return room == pattern || all && strings.HasPrefix(room, above+"/")
}

// TestRooms checks that the table lists all folders, and that its imports are rooms of the table.
func TestRooms(t *testing.T) {
	seen := make(map[int]bool)
	sources(t, func(name string, _ []byte) {
		i := index(path.Dir(name))
		if i < 0 {
			t.Errorf("%s: its room is not in the table of rooms_test.go", name)
		}
		seen[i] = true
	})
	for i, room := range rooms {
		// These two rooms contain only tests.
		if !seen[i] && room.Path != "internal/rules" && room.Path != "internal/testing/million" {
			t.Errorf("the table's room %s has no Go files", room.Path)
		}
		for _, other := range strings.Fields(room.Imports) {
			if other != "*" && index(other) < 0 {
				t.Errorf("%s may import %s, which is no room of the table", room.Path, other)
			}
		}
	}
}

// arrowsUp is the largest number of imports against the order of the table, from a top-level room to a later one. The
// packages of internal come last but serve all rooms, so they are not counted. The number may only decrease.
const arrowsUp = 0

func TestArrowsUp(t *testing.T) {
	var up []string
	for i, room := range rooms {
		for _, other := range strings.Fields(room.Imports) {
			if j := index(other); j > i && top(other) != top(room.Path) && top(other) != "internal" {
				up = append(up, room.Path+" -> "+other)
			}
		}
	}
	if len(up) > arrowsUp {
		t.Errorf("%d arrows run up, expected at most %d:\n%s", len(up), arrowsUp, strings.Join(up, "\n"))
	}
}

// top returns the top-level room of a room.
func top(room string) string {
	first, _, _ := strings.Cut(room, "/")
	return first
}

// Lines in ARCHITECTURE.md between which the table is written.
const (
	begin = "<!-- the table of internal/rules; go test ./internal/rules -update writes it -->\n"
	end   = "<!-- end of the table -->\n"
)

func TestArchitecture(t *testing.T) {
	name := filepath.Join(reference.Root(t), "ARCHITECTURE.md")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := bytes.Cut(text, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !ok || !closed {
		t.Fatalf("ARCHITECTURE.md lacks a line:\n%s%s", begin, end)
	}
	want := slices.Concat(before, []byte(begin+table()+end), after)
	if bytes.Equal(text, want) {
		return
	}
	if !*update {
		t.Fatal("ARCHITECTURE.md's table is not that of rooms_test.go: run go test ./internal/rules -update")
	}
	if err := os.WriteFile(name, want, 0o644); err != nil {
		t.Fatal(err)
	}
}

// table returns the rooms as a Markdown table.
func table() string {
	var b strings.Builder
	b.WriteString("| room | its one job | may import (of winnow) |\n|---|---|---|\n")
	for _, room := range rooms {
		imports := strings.Join(strings.Fields(room.Imports), ", ")
		switch imports {
		case "":
			imports = "–"
		case "*":
			imports = "all"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.TrimSuffix(room.Path, "/..."), room.Job, imports)
	}
	fmt.Fprintf(&b, "\nEvery room may import %s.\n", strings.Join(strings.Fields(openToAll), ", "))
	return b.String()
}
