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
	var o CheckOptions
	var root string
	return &cli.Command{
		Name: "check",
		Usage: "report unreadable images, duplicates, leaks between splits, classes with one sample, and " +
			"label counts",
		ArgsUsage: "MANIFEST",
		Flags: []cli.Flag{
			term.Flag(&root, "root", "`DIR` (or .zip file) the manifest's paths are relative to", "the manifest's "+
				"folder"),
			term.Flag(&o.Strict, "strict", "exit with 1 if an image cannot be read or a picture is in two splits"),
			term.Flag(&o.Out, "out,o", "write the whole report into `FILE`, as JSON"),
			term.ShardFlag("images"),
			term.Flag(&o.JSON, "json", "print the result as JSON"),
		},
		Action: term.BoundAction(&o, func(c *cli.Context, o *CheckOptions) (err error) {
			o.Root = location.At(root)
			if o.Manifest, err = term.OneSource(c, "one manifest"); err != nil {
				return err
			}
			if o.Shard, err = term.Shard(c); err != nil {
				return err
			}
			return term.KeepInput(c, o.Manifest.Path())
		}, runCheck),
	}
}

// CheckOptions say what to check.
type CheckOptions struct {
	checking.Options
	JSON bool
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
