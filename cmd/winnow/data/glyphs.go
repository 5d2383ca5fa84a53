package data

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets/glyphs"
	"winnow/internal/hint"
)

func glyphsCommand() *cli.Command {
	return &cli.Command{
		Name:  "glyphs",
		Usage: "draw the embedded dataset of characters into image folders, with a manifest.csv",
		Flags: []cli.Flag{
			term.Required(term.OutFlag("empty or new `DIR` to write to")),
			&cli.IntFlag{Name: "classes", Usage: "`N` classes over all splits, 12 … 240", DefaultText: "240"},
			&cli.IntFlag{Name: "images", Usage: "`N` images of each class, 2 … 1000", Value: glyphs.DefaultImages},
			&cli.Uint64Flag{Name: "seed",
				Usage: "`SEED` of the images; 1 draws those of winnow quickstart", Value: glyphs.DemoSeed},
		},
		Action: term.Action(readGlyphs, runGlyphs),
	}
}

// GlyphsOptions say which images to draw, and where.
type GlyphsOptions struct {
	Out string
	glyphs.Config
}

func readGlyphs(c *cli.Context) (GlyphsOptions, error) {
	return GlyphsOptions{Out: c.String("out"), Config: glyphs.Config{Classes: c.Int("classes"), Images: c.Int("images"),
		Seed: c.Uint64("seed")}}, term.NoArguments(c)
}

func runGlyphs(ctx context.Context, p *term.Program, o GlyphsOptions) error {
	dir, manifest := o.Out, filepath.Join(o.Out, "manifest.csv")
	dataset, files, err := glyphs.New(o.Config)
	if err != nil {
		return term.AsMisuse(err)
	}
	if err := glyphs.Write(ctx, dataset, files, dir, manifest); errors.Is(err, glyphs.ErrNotEmpty) {
		return hint.With(fmt.Errorf("%s: %w", p.Command, err), "name another folder, or remove this one first")
	} else if err != nil {
		return fmt.Errorf("%s: %w", p.Command, err)
	}
	_, err = fmt.Fprintf(p.Out, "%d images of %d classes in %s, listed in %s\n", len(dataset.Samples),
		len(dataset.Classes), dir, manifest)
	return err
}
