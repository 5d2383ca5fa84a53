package data

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"winnow/backbone/checking"
	"winnow/cmd/winnow/term"
	"winnow/datasets/location"
)

func checkCommand() *cli.Command {
	return &cli.Command{
		Name: "check",
		Usage: "report unreadable images, duplicates, leaks between splits, classes with one sample, and " +
			"label counts",
		ArgsUsage: "MANIFEST",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "root",
				Usage: "`DIR` (or .zip file) the manifest's paths are relative to (default: the manifest's folder)"},
			&cli.BoolFlag{Name: "strict",
				Usage: "exit with 1 if an image cannot be read or a picture is in two splits"},
			term.OutFlag("write the whole report into `FILE`, as JSON"),
			term.ShardFlag("images"),
			term.JSONFlag(),
		},
		Action: term.Action(readCheck, runCheck),
	}
}

// CheckOptions say what to check.
type CheckOptions struct {
	checking.Options
	JSON bool
}

func readCheck(c *cli.Context) (o CheckOptions, err error) {
	o.Root, o.Strict, o.Out, o.JSON = location.At(c.String("root")), c.Bool("strict"), c.String("out"), c.Bool("json")
	if o.Manifest, err = term.OneSource(c, "one manifest"); err != nil {
		return o, err
	}
	if o.Shard, err = term.Shard(c); err != nil {
		return o, err
	}
	return o, term.KeepInput(c, o.Manifest.Path())
}

func runCheck(ctx context.Context, p *term.Program, o CheckOptions) error {
	progress, end := p.Watch("images")
	defer end()
	o.Winnow = term.Version()
	var notes []string
	note := p.Note
	if o.JSON { // which holds them
		note = func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	}
	r, err := checking.Run(ctx, o.Options, checking.Host{Note: note, Progress: progress})
	report, whole := r.(checking.Report)
	if whole {
		report.Notes = notes
		r = report
	} else {
		for _, n := range notes {
			p.Note("%s", n)
		}
	}
	if err := p.Result(r, o.JSON, err); err != nil {
		return err
	}
	if whole && o.Strict {
		return report.Strict()
	}
	return nil
}
