// Package quickstart implements the "winnow quickstart" command: the whole path on drawn characters.
package quickstart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/audit"
	"winnow/cmd/winnow/review"
	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/training"
	"winnow/datasets/location"
	"winnow/internal/printable"
	"winnow/papers/quickstart"
	page "winnow/report/review"
	"winnow/run"
	"winnow/run/folder"
	"winnow/run/inspect"
	"winnow/train"
)

// Options are the options of the trainings and the form of the output.
type Options struct {
	quickstart.Options
	JSON   bool
	NoOpen bool // end without serving the studio
}

// Command returns the "winnow quickstart" command.
func Command() *cli.Command { return newQuickstartCommand(runQuickstart) }

const description = `
Draws characters, makes some of their labels wrong, embeds them with the built-in network glyphnet, trains,
finds the wrong labels, and opens the studio, where you decide about them. All of it takes less than a minute on two
cores. Ctrl-C ends the studio and writes the corrected list.

   winnow quickstart

The trainings show what wrong labels cost: the network and a head are trained three times, with the same seed and
length: on the true labels, on the given ones, and on the given ones with PRISM (vMF-Sim); then the head alone, on
fixed features. report.html compares them. The folder also holds the images, the list manifest.csv, the audit
suspects.csv and result.json; the folders of the trainings are runs like any other.

Without a terminal or a browser the studio is not opened: the last line is the command that opens it.
`

func newQuickstartCommand(call term.Call[Options]) *cli.Command {
	o := Options{Options: quickstart.Options{Dir: "quickstart", Seed: 1, Rate: 0.2, Classes: 120, Images: 30}}
	return &cli.Command{
		Name:        "quickstart",
		Usage:       "show winnow on drawn characters with wrong labels among them, and open the studio",
		Description: description,
		Flags: []cli.Flag{
			term.Flag(&o.Dir, "out,o", "`DIR` to write"),
			term.Flag(&o.NoOpen, "no-open", "do not open the studio: print its command"),
			term.Flag(&o.Seed, "seed", "`SEED` of noise and training"),
			term.Flag(&o.Rate, "noise-rate", "share `P` of the training labels made wrong"),
			term.Flag(&o.Classes, "classes", "draw `N` characters, 12 … 240"),
			term.Flag(&o.Images, "images", "draw `N` images of each, 2 … 1000"),
			term.Flag(&o.Settings, "set",
				"one setting of the trainings, `KEY=VALUE` as of winnow train; may be repeated"),
			term.Flag(&o.JSON, "json", "print the result as JSON"),
		},
		Action: term.BoundAction(&o, func(c *cli.Context, _ *Options) error { return term.NoArguments(c) }, call),
	}
}

func runQuickstart(ctx context.Context, p *term.Program, o Options) error {
	o.Host, o.Watch, o.About = p.Host(), p.Watch, folder.Facts{Device: p.Compute.Device, Threads: p.Compute.Threads}
	o.Training = func(plan run.Plan) (train.Observer, func()) { return watchTraining(p, plan) }
	r, err := quickstart.Run(ctx, o.Options)
	var misuse quickstart.Misuse
	switch {
	case errors.As(err, &misuse):
		return term.AsMisuse(err)
	case err != nil:
		return err
	}
	s := newStudioOptions(o.Dir)
	if o.JSON {
		quiet := *p
		quiet.Out = io.Discard
		if err := auditByFeatures(ctx, &quiet, s); err != nil {
			return err
		}
		return p.JSON(r)
	}
	r.Write(p.Out, o.Dir)
	fmt.Fprintln(p.Out)
	if err := auditByFeatures(ctx, p, s); err != nil {
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
	return review.OpenStudio(ctx, p, s)
}

// newStudioOptions returns the options of the studio that shows a folder's images.
func newStudioOptions(dir string) review.Options {
	at := func(name string) string { return filepath.Join(dir, name) }
	return review.Options{
		Files: page.Files{
			Manifest: location.At(at(quickstart.ManifestFile)), Root: location.At(at(quickstart.ImagesFile)),
			Audit: at("suspects.csv"), Out: at("fixed.csv"),
		},
		Features: at(quickstart.FeaturesFolder),
	}
}

// auditByFeatures audits the labels, by the features that are there.
func auditByFeatures(ctx context.Context, p *term.Program, s review.Options) error {
	return audit.Photos(ctx, p, inspect.Input{Images: s.Manifest, Root: s.Root, Model: quickstart.Backbone,
		Features: s.Features}, s.Audit, s.Command())
}

// watchTraining shows the progress of a training.
func watchTraining(p *term.Program, plan run.Plan) (show train.Observer, end func()) {
	line := training.New(p.Err, time.Now)
	line.Begun(plan)
	if p.Quiet {
		return train.Together(), line.End
	}
	return train.On(line.Stepped), line.End
}
