package main

import (
	"bytes"
	"errors"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// TestImportGlyphs checks that the preset writes the images of winnow data glyphs, and the manifest to --out.
func TestImportGlyphs(t *testing.T) {
	if testing.Short() {
		t.Skip("draws 12,000 images")
	}
	defaults := glyphs.Config{}
	for _, f := range subcommand(data.Command(), "glyphs").Flags {
		switch f := f.(type) {
		case *cli.IntFlag:
			if f.Name == "images" {
				defaults.Images = f.Value
			}
		case *cli.Uint64Flag:
			defaults.Seed = f.Value
		}
	}
	want, drawn, err := glyphs.New(defaults)
	if err != nil {
		t.Fatal(err)
	}
	var manifest bytes.Buffer
	if err := glyphs.WriteManifest(&manifest, want); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	list := filepath.Join(dir, "list.csv")
	code, out, errs := call(t.Context(), "data", "import", "--preset", "glyphs", "--root", filepath.Join(dir, "b"),
		"--out",
		list)
	if code != 0 || !strings.Contains(out, "240 classes in "+filepath.Join(dir, "b")+", listed in "+list) {
		t.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	if readFile(t, list) != manifest.String() {
		t.Error("the manifests differ")
	}
	images := 0
	err = fs.WalkDir(os.DirFS(filepath.Join(dir, "b")), ".", func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			images++
		}
		return err
	})
	if err != nil || images != len(want.Samples) {
		t.Errorf("%d images, %v", images, err)
	}
	for i := 0; i < len(want.Samples); i += 61 { // of every class, at every position
		path := want.Samples[i].Path
		if data, err := fs.ReadFile(drawn, path); err != nil || string(data) != readFile(t, dir, "b", path) {
			t.Errorf("%s differs, %v", path, err)
		}
	}
	write(t, filepath.Join(dir, "b", "notes.txt"), "mine")
	if code, _, errs := call(t.Context(), "data", "import", "--preset", "glyphs", "--root", filepath.Join(dir, "b"),
		"--out",
		list); code != 1 || !strings.Contains(errs, "data import: ") || !strings.Contains(errs,
		"expected an empty or new folder") {
		t.Errorf("beside another file: exit code %d: %s", code, errs)
	}
}

func TestImportGlyphsMisuse(t *testing.T) {
	list := filepath.Join(t.TempDir(), "new", "list.csv")
	for _, more := range [][]string{{"--protocol", "half"}, {"--given", "x.csv"}, {"--validation", "0.1"},
		{"--split", "train=1"}, {"source"}} {
		if code, _, errs := call(t.Context(), append([]string{"data", "import", "--preset", "glyphs", "--out", list},
			more...)...); code != 2 {
			t.Errorf("%q: exit code %d: %s", more, code, errs)
		}
	}
}

func TestDataGlyphsMisuse(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{{}, {"--out", dir, "more"}, {"--out", dir, "--classes", "7"},
		{"--out", dir, "--images", "1"}, {"--out", dir, "--wrong"}} {
		var misuse term.UsageError
		if _, err := runGlyphs(t, args...); !errors.As(err, &misuse) {
			t.Errorf("%q: error %v is not misuse", args, err)
		}
	}
}

// subcommand returns the subcommand of c with a name.
func subcommand(c *cli.Command, name string) *cli.Command {
	return c.Subcommands[slices.IndexFunc(c.Subcommands, func(s *cli.Command) bool { return s.Name == name })]
}
