package review

import (
	"context"

	"github.com/urfave/cli/v2"

	"winnow/audit/learn"
	"winnow/cmd/winnow/term"
	"winnow/report/review"
)

// Studio returns winnow studio: the page of winnow review, opened at all images.
func Studio() *cli.Command { return newStudioCommand(runStudio) }

const studioDescription = `
Serves one page for a labelled set and prints its address: all images in a grid, with filters, classes and counts; the
suspects of an audit, as winnow review shows them; what else the audit found, as galleries: duplicates,
duplicates in two splits, outliers, images with problems; a map of the images by their vectors; and search by an image
of the set, a file or a selection. Everywhere images can be kept, dropped, relabelled, noted about and tagged, one or
many at a time. Ctrl-C ends the server.

   winnow studio photos
   winnow studio suspects.csv --manifest photos --out fixed.csv

PHOTOS is a folder, a .zip file or a manifest, by default the working folder. The list of an audit is the one named, or
suspects.csv in the working folder or next to the images; SUSPECTS.features holds the vectors. Without them the page
shows the images, and the command that makes what is missing.

The page also lists the trainings of these images, shows them while they run, and starts an audit or a training: one
command at a time, which it shows, as a process of its own that keeps running when the page or the server ends.

Decisions, token and --listen are those of winnow review, which opens the same page at the suspects.
`

func newStudioCommand(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:        "studio",
		Usage:       "explore a labelled set in the browser: all images, suspects, findings, a map, search; and decide",
		ArgsUsage:   "[PHOTOS | SUSPECTS]",
		Description: studioDescription,
		Flags:       pageFlags(),
		Action:      term.CheckedAction(readStudio, call),
	}
}

// OpenStudio serves the studio and opens it in the browser.
func OpenStudio(ctx context.Context, p *term.Program, o Options) error {
	o.Home, o.OpenPage, o.Listen = review.Data, true, anyPort
	o.Learning.Goal = learn.Find
	return runStudio(ctx, p, o)
}

// Command returns the command that opens the studio: its list and the features next to it are found by their names.
func (o Options) Command() string {
	words := []string{"winnow", "studio", o.Manifest.String()}
	if !o.Root.IsZero() {
		words = append(words, "--root", o.Root.String())
	}
	return term.Quoted(append(words, "--out", o.Out))
}

func runStudio(ctx context.Context, p *term.Program, o Options) error {
	if err := checkOut(p, o.Files); err != nil {
		return err
	}
	return openAndServe(ctx, p, o)
}
