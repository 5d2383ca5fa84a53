package data

import (
	"context"

	"github.com/urfave/cli/v2"

	"winnow/backbone/checking"
	"winnow/cmd/winnow/term"
	"winnow/datasets/location"
	"winnow/parts"
)

func checkCommand(call term.Call[CheckOptions]) *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "report unreadable images, duplicates, leaks between splits, classes with one sample, and label counts",
		ArgsUsage: "MANIFEST",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "root",
				Usage: "`DIR` (or .zip file) the manifest's paths are relative to (default: the manifest's folder)"},
			&cli.BoolFlag{Name: "strict",
				Usage: "exit with 1 if an image cannot be read or a picture stands in two splits"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write the whole report into `FILE`, as JSON"},
			term.ShardFlag("images"),
			&cli.BoolFlag{Name: "json", Usage: "print the whole report as JSON"},
		},
		Action: term.Action(readCheck, call),
	}
}

// CheckOptions say which manifest is checked.
type CheckOptions struct {
	checking.Options
	Strict, JSON bool

	Out   string // file for the report; "": none
	Shard parts.Shard
}

func readCheck(c *cli.Context) (CheckOptions, error) {
	manifest, err := term.OneSource(c, "one manifest")
	if err != nil {
		return CheckOptions{}, err
	}
	o := CheckOptions{Options: checking.Options{Manifest: manifest, Root: location.At(c.String("root"))}, Strict: c.Bool("strict"), JSON: c.Bool("json"), Out: c.String("out")}
	if o.Shard, err = term.Shard(c); err != nil {
		return o, err
	}
	return o, term.KeepInput(c, manifest.Path())
}

func runCheck(ctx context.Context, p *term.Program, o CheckOptions) error {
	progress, end := p.Watch("images")
	defer end()
	host := checking.Host{Note: p.Note, Progress: progress}
	if !o.Shard.Whole() {
		made, err := checking.RunPart(ctx, o.Options, host, o.Out, p.Dealt(o.Shard), o.Strict, term.Version())
		return p.Result(made, o.JSON, err)
	}
	report, err := checking.Run(ctx, o.Options, host)
	if err == nil {
		err = report.Save(o.Out)
	}
	if err != nil {
		return err
	}
	if err := p.Result(report, o.JSON, nil); err != nil || !o.Strict {
		return err
	}
	return report.Strict()
}
