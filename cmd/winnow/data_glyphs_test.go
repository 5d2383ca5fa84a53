package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/data"
	"winnow/cmd/winnow/term"
	"winnow/datasets/glyphs"
	"winnow/internal/hint"
)

// runGlyphs runs winnow data glyphs and returns its error.
func runGlyphs(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	app := term.NewApp([]term.Group{{Commands: []*cli.Command{data.Command()}}}, &stdout, &stderr)
	err := app.RunContext(t.Context(), append([]string{"winnow", "data", "glyphs"}, args...))
	return stdout.String(), err
}

func TestDataGlyphs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "glyphs")
	out, err := runGlyphs(t, "--out", dir, "--classes", "12", "--images", "3", "--seed", "4")
	if err != nil {
		t.Fatal(err)
	}
	if want := "36 images of 12 classes in " + dir; !bytes.HasPrefix([]byte(out), []byte(want)) {
		t.Errorf("printed %q, expected it to start with %q", out, want)
	}
	rows := table(t, dir, "manifest.csv")
	if len(rows) != 37 || rows[0][0] != "path" {
		t.Fatalf("manifest has %d rows and begins with %q", len(rows), rows[0])
	}
	for _, row := range rows[1:] {
		data, err := os.ReadFile(filepath.Join(dir, row[0]))
		if err != nil {
			t.Fatal(err)
		}
		if m, err := png.Decode(bytes.NewReader(data)); err != nil || m.Bounds().Dx() != glyphs.Size {
			t.Errorf("%s: %v", row[0], err)
		}
		if row[1] != row[3] || filepath.Base(filepath.Dir(row[0])) != row[1] {
			t.Errorf("row %q: label, true label and folder differ", row)
		}
	}
	// A folder that is not empty is refused.
	if _, err := runGlyphs(t, "--out", dir, "--classes", "12", "--images", "3"); hint.Of(err) == "" {
		t.Errorf("a full folder: error %v has no hint", err)
	}
}
