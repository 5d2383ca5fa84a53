package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/datasets/glyphs"
	"winnow/datasets/published"
	"winnow/internal/atomicfile"
)

// glyphsSeed draws the images of the demo.
const glyphsSeed = 1

// glyphsPreset is the embedded dataset's name among the presets of data import.
const glyphsPreset = "glyphs"

// glyphsCommand writes the embedded dataset as a folder per class, for other tools and for looking at it.
func glyphsCommand() *cli.Command {
	return &cli.Command{
		Name:  "glyphs",
		Usage: "write the embedded dataset of characters as image folders with a manifest.csv",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Usage: "`DIR` to write to; made if missing, must be empty", Required: true},
			&cli.IntFlag{Name: "classes", Usage: "`N` classes over all splits, 12 … 240", DefaultText: "240"},
			&cli.IntFlag{Name: "images", Usage: "`N` images of each class, 2 … 1000", Value: glyphs.DefaultImages},
			&cli.Uint64Flag{Name: "seed", Usage: "`SEED` of the images; 1 draws those of winnow demo", Value: glyphsSeed},
		},
		Action: writeGlyphs,
	}
}

func writeGlyphs(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	dir := c.String("out")
	cfg := glyphs.Config{Classes: c.Int("classes"), Images: c.Int("images"), Seed: c.Uint64("seed")}
	return makeGlyphs(c, cfg, dir, filepath.Join(dir, "manifest.csv"))
}

// importGlyphs is data import for the dataset that winnow holds itself: its images are drawn into --root, as there is
// nowhere to read them from.
func importGlyphs(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	for _, name := range append(presetFlags(), notWithPresets()...) {
		if name != "root" && name != "protocol" && c.IsSet(name) {
			return misused("data import: --%s does not go with %s, whose splits are made with it", name, glyphsPreset)
		}
	}
	if p := c.String("protocol"); p != "" && p != published.Official {
		return misused("--protocol: %s has no %q, expected %s", glyphsPreset, p, published.Official)
	}
	manifest := c.String("out")
	dir := c.String("root")
	if dir == "" {
		dir = filepath.Dir(manifest)
	}
	return makeGlyphs(c, glyphs.Config{Images: glyphs.DefaultImages, Seed: c.Uint64("seed")}, dir, manifest)
}

// makeGlyphs draws the images into an empty folder and lists them in a manifest.
func makeGlyphs(c *cli.Context, cfg glyphs.Config, dir, manifest string) error {
	dataset, files, err := glyphs.New(cfg)
	if err != nil {
		return asMisuse(err)
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return withHint(fmt.Errorf("%s: %s: holds %q, expected an empty or new folder", commandName(c), dir, entries[0].Name()),
			"name another folder, or remove this one first")
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", commandName(c), err)
	}
	for i, s := range dataset.Samples {
		if i%256 == 0 && c.Context.Err() != nil {
			return c.Context.Err()
		}
		if err := copyImage(files, s.Path, dir); err != nil {
			return err
		}
	}
	// The manifest comes last: where there is one, all images are there.
	if err := atomicfile.Write(manifest, func(w io.Writer) error { return writeGlyphsManifest(w, dataset) }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.App.Writer, "%d images of %d classes in %s, listed in %s\n",
		len(dataset.Samples), len(dataset.Classes), dir, manifest)
	return err
}

// commandName is the command for messages.
func commandName(c *cli.Context) string { return "data " + c.Command.Name }

func copyImage(files fs.FS, path, dir string) error {
	data, err := fs.ReadFile(files, path)
	if err != nil {
		return err
	}
	to := filepath.Join(dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

func writeGlyphsManifest(w io.Writer, d *datasets.Dataset) error {
	table := csv.NewWriter(w)
	table.Write([]string{"path", "label", "split", "true_label"}) // errors stay with the writer until Error
	for _, s := range d.Samples {
		table.Write([]string{s.Path, d.Classes[s.Label], s.Split, d.Classes[s.True]})
	}
	table.Flush()
	return table.Error()
}
