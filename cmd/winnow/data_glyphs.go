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
	"winnow/internal/atomicfile"
)

// glyphsSeed draws the images of the demo.
const glyphsSeed = 1

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
	dir := c.String("out")
	if err := noArguments(c); err != nil {
		return err
	}
	dataset, files, err := glyphs.New(glyphs.Config{Classes: c.Int("classes"), Images: c.Int("images"), Seed: c.Uint64("seed")})
	if err != nil {
		return usageError{err}
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return withHint(fmt.Errorf("data glyphs: %s: holds %q, expected an empty or new folder", dir, entries[0].Name()),
			"name another folder, or remove this one first")
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("data glyphs: --out: %w", err)
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
	if err := atomicfile.Write(filepath.Join(dir, "manifest.csv"), func(w io.Writer) error { return writeGlyphsManifest(w, dataset) }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.App.Writer, "%d images of %d classes in %s, listed in %s\n",
		len(dataset.Samples), len(dataset.Classes), dir, filepath.Join(dir, "manifest.csv"))
	return err
}

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
