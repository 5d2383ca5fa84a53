package review

import (
	"context"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
)

// Studio returns winnow studio: the page of winnow review, opened at all images.
func Studio() *cli.Command { return studio(runStudio) }

const studioDescription = `
Serves one page for a labelled set and prints its address: all images in a grid, with filters, classes and counts; the
suspects of an audit, as winnow review shows them; what else the audit found, as galleries: copies, copies in two
splits, strangers, pictures with problems; and a map of the images by their vectors. Everywhere images can be kept,
dropped, relabelled and noted about, one or many at a time. Ctrl-C ends the server.

   winnow studio photos
   winnow studio suspects.csv --manifest photos --out mended.csv

PHOTOS is a folder, a .zip file or a manifest, by default the working folder. The list of an audit is the one named, or
suspects.csv in the working folder or beside the images; SUSPECTS.features holds the vectors. Without them the page
shows the images, and the command that makes what is missing.

The page also lists the trainings of these images, shows them while they run, and starts an audit or a training: one
command at a time, which it shows, as a process of its own that goes on when the page or the server ends.

Decisions, token and --listen are those of winnow review, which opens the same page at the suspects.
`

func studio(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:        "studio",
		Usage:       "look at a labelled set in the browser: all images, suspects, findings, a map; and decide",
		ArgsUsage:   "[PHOTOS | SUSPECTS]",
		Description: studioDescription,
		Flags:       pageFlags(),
		Action:      term.Action(readStudio, call),
	}
}

func runStudio(ctx context.Context, p *term.Program, o Options) error {
	if err := checkOut(o.Files); err != nil {
		return err
	}
	return open(ctx, p, o)
}
