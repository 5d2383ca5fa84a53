// Package quickstart implements the "winnow quickstart" command: the whole path on drawn characters.
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

// Options are the drawn data and the folder.
type Options struct {
	Dir     string  // to write
	Seed    uint64  // of the noise
	Rate    float64 // share of the training labels made wrong
	Classes int
	Images  int  // of each class
	NoOpen  bool // end without serving the studio
}

// Command returns the "winnow quickstart" command.
func Command() *cli.Command { return newQuickstartCommand(runQuickstart) }

const description = `
Draws characters, makes some of their labels wrong, embeds them with the built-in network glyphnet, finds the
wrong labels, and opens the studio, where you decide about them. All of it takes less than a minute on two
cores. Ctrl-C ends the studio and writes the corrected list.

   winnow quickstart

The folder holds the images, the list manifest.csv, their features and the audit suspects.csv. Without a
terminal or a browser the studio is not opened: the last line is the command that opens it.
`

func newQuickstartCommand(call term.Call[Options]) *cli.Command {
	o := Options{Dir: "quickstart", Seed: 1, Rate: 0.2, Classes: 120, Images: 30}
	return &cli.Command{
		Name:        "quickstart",
		Usage:       "show winnow on drawn characters with wrong labels among them, and open the studio",
		Description: description,
		Flags: []cli.Flag{
			term.Flag(&o.Dir, "out,o", "`DIR` to write"),
			term.Flag(&o.NoOpen, "no-open", "do not open the studio: print its command"),
			term.Flag(&o.Seed, "seed", "`SEED` of the noise"),
			term.Flag(&o.Rate, "noise-rate", "share `P` of the training labels made wrong"),
			term.Flag(&o.Classes, "classes", "draw `N` characters, 12 … 240"),
			term.Flag(&o.Images, "images", "draw `N` images of each, 2 … 1000"),
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
		"  1. Suspects: is the given label right? A takes the suggested one, K keeps the given one, D drops the\n"+
		"     image.\n"+
		"  2. Findings: decide about a group of odd pictures with one click.\n"+
		"  3. Map: draw a lasso around points of one class that lie apart, and decide about them.\n")
	open := !o.NoOpen && printable.IsTerminal(p.Out)
	if open {
		if err := page.CanBrowse(); err != nil {
			p.Note("the browser cannot be opened: %v", err)
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

// newStudioOptions returns the options of the studio that shows a folder's images.
func newStudioOptions(dir string) studio.Options {
	at := func(name string) string { return filepath.Join(dir, name) }
	return studio.Options{
		Files: page.Files{
			Manifest: location.At(at(manifestFile)), Root: location.At(at(imagesFile)),
			Audit: at("suspects.csv"), Out: at("fixed.csv"), Features: at(featuresFolder),
		},
	}
}
