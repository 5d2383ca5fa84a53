// Package quickstart implements the "winnow quickstart" command, which audits drawn characters and opens the studio.
package quickstart

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/audit"
	"winnow/cmd/winnow/studio"
	"winnow/cmd/winnow/term"
	"winnow/datasets/location"
	"winnow/internal/printable"
	page "winnow/report/review"
	"winnow/run/inspect"
)

// Options holds the parsed flags.
type Options struct {
	Dir     string  // output folder
	Seed    uint64  // seed of the noise
	Rate    float64 // share of the training labels made wrong
	Classes int
	Images  int  // images per class
	NoOpen  bool // do not open the studio
}

// Command returns the "winnow quickstart" command.
func Command() *cli.Command { return newQuickstartCommand(runQuickstart) }

const description = `
Draws images of characters, makes some of their labels wrong, embeds the images with the built-in network glyphnet,
finds the label errors, and opens the studio, where you review them. This takes less than a minute on two cores.
Ctrl-C ends the studio and writes the corrected manifest.

   winnow quickstart

The folder contains the images, manifest.csv, the features and suspects.csv, the result of the audit. Without a
terminal or a browser, the studio is not opened, and the last line is the command that opens it.
`

func newQuickstartCommand(call term.Call[Options]) *cli.Command {
	o := Options{Dir: "quickstart", Seed: 1, Rate: 0.2, Classes: 120, Images: 30}
	return &cli.Command{
		Name:        "quickstart",
		Usage:       "find label errors among drawn characters, and open the studio",
		Description: description,
		Flags: []cli.Flag{
			term.Flag(&o.Dir, "out,o", "`DIR` to write"),
			term.Flag(&o.NoOpen, "no-open", "do not open the studio, print its command"),
			term.Flag(&o.Seed, "seed", "`SEED` of the noise"),
			term.Flag(&o.Rate, "noise-rate", "make this share `P` of the training labels wrong"),
			term.Flag(&o.Classes, "classes", "draw `N` characters, 12 … 240"),
			term.Flag(&o.Images, "images", "draw `N` images of each character, 2 … 1000"),
		},
		Action: term.BoundAction(&o, func(c *cli.Context, _ *Options) error { return term.NoArguments(c) }, call),
	}
}

func runQuickstart(ctx context.Context, p *term.Program, o Options) error {
	data, images, err := drawData(o)
	if err != nil {
		return term.AsMisuse(err)
	}
	if err := writeData(ctx, o.Dir, data, images, p.Host()); err != nil {
		return err
	}
	s := newStudioOptions(o.Dir)
	err = audit.Photos(ctx, p, inspect.Input{Images: s.Manifest, Root: s.Root, Model: network, Features: s.Features},
		s.Audit, s.Command())
	if err != nil {
		return err
	}
	fmt.Fprint(p.Out, "\nThree things to try in the studio:\n"+
		"  1. Suspects: is the given label right? A accepts the suggested label, K keeps the given label, D drops\n"+
		"     the image.\n"+
		"  2. Findings: decide about a group of unusual images with one click.\n"+
		"  3. Map: draw a lasso around points far from the rest of their class, and decide about them.\n")
	open := !o.NoOpen && printable.IsTerminal(p.Out)
	if open {
		if err := page.CanBrowse(); err != nil {
			p.Note("cannot open a browser: %v", err)
			open = false
		}
	}
	if !open {
		fmt.Fprintf(p.Out, "\nOpen the studio: %s\n", s.Command())
		return nil
	}
	fmt.Fprintln(p.Out, "\nThe studio opens in the browser; Ctrl-C ends it.")
	return studio.OpenStudio(ctx, p, s)
}

// newStudioOptions returns the options of a studio for the files in a folder.
func newStudioOptions(dir string) studio.Options {
	at := func(name string) string { return filepath.Join(dir, name) }
	return studio.Options{
		Files: page.Files{
			Manifest: location.At(at(manifestFile)), Root: location.At(at(imagesFile)),
			Audit: at("suspects.csv"), Out: at("fixed.csv"), Features: at(featuresFolder),
		},
	}
}
