package term

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"context"

	"github.com/urfave/cli/v2"

	"winnow/internal/pagestyle"
	"winnow/run/folder"
)

// TestRunFiles checks that runFiles equals folder.Files.
func TestRunFiles(t *testing.T) {
	if want := strings.Join(folder.Files(), " "); runFiles != want {
		t.Errorf("%q, expected %q", runFiles, want)
	}
}

// TestClaim checks that a command replaces files that it wrote, even if they were edited, and refuses other files.
func TestClaim(t *testing.T) {
	MarksFolder = t.TempDir()
	t.Cleanup(func() { MarksFolder = "" })
	t.Chdir(t.TempDir())
	write := func(fails bool, args ...string) string {
		read := func(c *cli.Context) (string, error) { return c.String("out"), nil }
		call := func(_ context.Context, _ *Program, out string) error {
			if fails {
				return os.ErrInvalid
			}
			return os.WriteFile(out, []byte("path,label\na,b\n"), 0o644)
		}
		group := []*cli.Command{{Name: "make", Action: Action(read, call),
			Flags: []cli.Flag{&cli.StringFlag{Name: "out", Usage: "`FILE`"}}}}
		var out bytes.Buffer
		Execute(t.Context(), group, append([]string{"winnow", "make"}, args...), &out, &out)
		return out.String()
	}
	edit := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	edit("mine.csv", "path,label\na,b\n")
	edit("empty.csv", "")
	for _, name := range []string{"new.csv", "empty.csv"} {
		for range 2 {
			if said := write(false, "--out", name); said != "" {
				t.Errorf("%s: %s", name, said)
			}
			edit(name, "path,label\na,edited\n")
		}
	}
	if said := write(false, "--out", "mine.csv"); !strings.Contains(said, "was not written by winnow") ||
		!strings.Contains(said, "--overwrite") {
		t.Errorf("mine.csv: %q", said)
	}
	if said := write(true, "--out", "failed.csv"); said == "" {
		t.Error("failed.csv: expected the command's error")
	}
	edit("failed.csv", "mine")
	if said := write(false, "--out", filepath.Join(".", "failed.csv")); !strings.Contains(said, "was not written") {
		t.Errorf("failed.csv, which winnow never wrote: %q", said)
	}
	for range 2 { // the first --overwrite marks the file as winnow's
		if said := write(false, "--out", "mine.csv", "--overwrite"); said != "" {
			t.Errorf("--overwrite: %s", said)
		}
	}
	if said := write(false, "--out", "mine.csv"); said != "" {
		t.Errorf("after --overwrite: %s", said)
	}
}

// TestClaimElsewhere checks that files with winnow's marks in their content are replaced on a machine without their
// marks, and that folders and shards are checked by the names of the files that the command writes.
func TestClaimElsewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Cleanup(func() { MarksFolder = "" })
	page := pagestyle.Page{Command: "audit"}
	for _, c := range []struct {
		command, flag, out, file, text string
		refused                        bool
	}{
		{"audit", "out", "s.csv", "s.csv", "rank,path,given_label,suggested_label,score,checksum\n", false},
		{"audit", "out", "t.csv", "t.csv", "rank,path,given_label,suggested_label,score\n", true},
		{"audit", "out", "u.csv", "u.html", "mine", true},
		{"report", "out", "r.html", "r.html", string(page.Begin()), false},
		{"report", "out", "q.html", "q.html", "<!DOCTYPE html>", true},
		{"sweep", "out", "sweep", "sweep/results.csv", "mine", true},
		{"sweep", "out", "swept", "swept/notes.txt", "mine", false},
		{"sweep", "out", "again", "again/.lock", "", false},
		{"train", "out", "run", "run/metrics.jsonl", "mine", true},
		{"reproduce", "out", "made", "made/figure/report.md", "mine", true},
		{"quickstart", "out", "quick", "quick/manifest.csv", "mine", true},
		{"map", "projector", "plane", "plane/tensors.tsv", "mine", true},
		{"index", "out", "ix", "ix/photo.png", "mine", true},
		{"extract", "out", "store", "store/store.json", "{}", false},
	} {
		MarksFolder = t.TempDir()
		if err := errors.Join(os.MkdirAll(filepath.Dir(c.file), 0o755),
			os.WriteFile(c.file, []byte(c.text), 0o644)); err != nil {
			t.Fatal(err)
		}
		for _, more := range [][]string{nil, {"--overwrite"}, nil} { // the last: the file is winnow's after --overwrite
			read := func(*cli.Context) (int, error) { return 0, nil }
			called := false
			call := func(context.Context, *Program, int) error { called = true; return nil }
			group := []*cli.Command{{Name: c.command, Action: Action(read, call),
				Flags: []cli.Flag{&cli.StringFlag{Name: c.flag, Usage: "`FILE`"}}}}
			var out bytes.Buffer
			line := append([]string{"winnow", c.command, "--" + c.flag, c.out}, more...)
			Execute(t.Context(), group, line, &out, &out)
			if called == (c.refused && more == nil) {
				t.Errorf("%s %v: %s", c.file, more, out.String())
			}
			c.refused = c.refused && more == nil && !called
		}
	}
}
