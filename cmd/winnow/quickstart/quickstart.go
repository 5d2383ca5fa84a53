// Package quickstart implements the "winnow quickstart" command, which audits drawn animals, fruits and vehicles, and
// opens the studio.
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
	Dir    string // output folder
	Seed   uint64 // seed of the images and of the wrong labels
	NoOpen bool   // do not open the studio
}

// Command returns the "winnow quickstart" command.
func Command() *cli.Command { return newQuickstartCommand(runQuickstart) }

const description = `
Makes 720 images of animals, fruits, vehicles and other things in 24 class folders, a tenth of them in a wrong one,
embeds them with the built-in network glyphnet, finds the label errors, and opens the studio, where you review them.
This takes less than a minute on two cores. Ctrl-C ends the studio and writes the corrected manifest.

   winnow quickstart

The images are made of openly licensed drawings. Each file's name begins with what it shows, so you can check what
winnow finds. The folder contains the images, manifest.csv, the features and suspects.csv, the result of the audit.
Without a terminal or a browser, the studio is not opened, and the last line is the command that opens it.
`

func newQuickstartCommand(call term.Call[Options]) *cli.Command {
	o := Options{Dir: "quickstart", Seed: 1}
	return &cli.Command{
		Name:        "quickstart",
		Usage:       "find label errors among drawn animals and things, and open the studio",
		Description: description,
		Flags: []cli.Flag{
			term.Flag(&o.Dir, "out,o", "`DIR` to write"),
			term.Flag(&o.NoOpen, "no-open", "do not open the studio, print its command"),
			term.Flag(&o.Seed, "seed", "`SEED` of the images and of the wrong labels"),
		},
		Action: term.BoundAction(&o, func(c *cli.Context, _ *Options) error { return term.NoArguments(c) }, call),
	}
}

func runQuickstart(ctx context.Context, p *term.Program, o Options) error {
	if err := writeData(ctx, o, p.Host()); err != nil {
		return err
	}
	s := newStudioOptions(o.Dir)
	err := audit.Photos(ctx, p, inspect.Input{Images: s.Manifest, Root: s.Root, Model: network, Features: s.Features},
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
			Manifest: location.At(at(manifestFile)), Root: location.At(at(imagesFolder)),
			Audit: at("suspects.csv"), Out: at("fixed.csv"), Features: at(featuresFolder),
		},
	}
}
