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
	o := GlyphsOptions{Config: glyphs.Config{Images: glyphs.DefaultImages, Seed: 1}}
	return &cli.Command{
		Name:  "glyphs",
		Usage: "draw the built-in dataset of characters as image folders, with a manifest.csv",
		Flags: []cli.Flag{
			term.Flag(&o.Out, "out,o", "empty or new `DIR` to write to; required"),
			term.Flag(&o.Classes, "classes", "`N` classes over all splits, 12 … 240", "240"),
			term.Flag(&o.Images, "images", "`N` images of each class, 2 … 1000"),
			term.Flag(&o.Seed, "seed", "`SEED` of the images"),
		},
		Action: term.BoundAction(&o, func(c *cli.Context, _ *GlyphsOptions) error {
			return term.NoArguments(c)
		}, runGlyphs),
	}
}

// GlyphsOptions holds the parsed flags of "winnow data glyphs".
type GlyphsOptions struct {
	Out string
	glyphs.Config
}

func runGlyphs(ctx context.Context, p *term.Program, o GlyphsOptions) error {
	dir, manifest := o.Out, filepath.Join(o.Out, "manifest.csv")
	dataset, files, err := glyphs.New(o.Config)
	if err != nil {
		return term.AsMisuse(err)
	}
	if err := glyphs.Write(ctx, dataset, files, dir, manifest); errors.Is(err, glyphs.ErrNotEmpty) {
		return hint.With(fmt.Errorf("%s: %w", p.Command, err), "give another folder, or remove this folder first")
	} else if err != nil {
		return fmt.Errorf("%s: %w", p.Command, err)
	}
	_, err = fmt.Fprintf(p.Out, "%d images of %d classes in %s, listed in %s\n", len(dataset.Samples),
		len(dataset.Classes), dir, manifest)
	return err
}
