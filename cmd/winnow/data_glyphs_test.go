package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/datasets/glyphs"
	"winnow/internal/hint"
)

// runGlyphs runs the command as if it hung at the top.
func runGlyphs(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	app := newApp(&stdout, &stderr)
	command := glyphsCommand()
	strict(command)
	app.Commands = append(app.Commands, command)
	err := app.RunContext(t.Context(), append([]string{"winnow", "glyphs"}, args...))
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
	f, err := os.Open(filepath.Join(dir, "manifest.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
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
	// A folder with something in it is left alone.
	if _, err := runGlyphs(t, "--out", dir, "--classes", "12", "--images", "3"); hint.Of(err) == "" {
		t.Errorf("a full folder: error %v has no hint", err)
	}
}

// TestImportGlyphs: the preset writes the files of the command, the manifest where --out says.
func TestImportGlyphs(t *testing.T) {
	if testing.Short() {
		t.Skip("draws 9,600 images twice")
	}
	dir := t.TempDir()
	if _, err := runGlyphs(t, "--out", filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "list.csv")
	out, errs, code := winnow(t, "data", "import", "--preset", "glyphs", "--root", filepath.Join(dir, "b"), "--out", list)
	if code != 0 || !strings.Contains(out, "240 classes in "+filepath.Join(dir, "b")+", listed in "+list) {
		t.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	if readFile(t, list) != readFile(t, dir, "a", "manifest.csv") {
		t.Error("the manifests differ")
	}
	images := 0
	err := filepath.WalkDir(filepath.Join(dir, "a"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "manifest.csv" {
			return err
		}
		images++
		rest, err := filepath.Rel(filepath.Join(dir, "a"), path)
		if readFile(t, path) != readFile(t, dir, "b", rest) {
			t.Errorf("%s differs", rest)
		}
		return err
	})
	if err != nil || images < 1000 {
		t.Errorf("%d images, %v", images, err)
	}
	if _, errs, code := winnow(t, "data", "import", "--preset", "glyphs", "--root", filepath.Join(dir, "b"), "--out", list); code != 1 || !strings.Contains(errs, "data import: ") || !strings.Contains(errs, "expected an empty or new folder") {
		t.Errorf("into a full folder: exit code %d: %s", code, errs)
	}
}

func TestImportGlyphsMisuse(t *testing.T) {
	list := filepath.Join(t.TempDir(), "new", "list.csv")
	for _, more := range [][]string{{"--protocol", "half"}, {"--given", "x.csv"}, {"--validation", "0.1"}, {"--split", "train=1"}, {"source"}} {
		if _, errs, code := winnow(t, append([]string{"data", "import", "--preset", "glyphs", "--out", list}, more...)...); code != 2 {
			t.Errorf("%q: exit code %d: %s", more, code, errs)
		}
	}
}

func TestDataGlyphsMisuse(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{{}, {"--out", dir, "more"}, {"--out", dir, "--classes", "7"}, {"--out", dir, "--images", "1"}, {"--out", dir, "--wrong"}} {
		var misuse usageError
		if _, err := runGlyphs(t, args...); !errors.As(err, &misuse) {
			t.Errorf("%q: error %v is not misuse", args, err)
		}
	}
}
