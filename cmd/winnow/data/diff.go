package data

import (
	"context"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/location"
)

// diffOptions holds the parsed flags of "winnow data diff".
type diffOptions struct {
	old, now location.Source
	columns  datasets.Names
	json     bool
}

func diffCommand() *cli.Command {
	var o diffOptions
	return &cli.Command{
		Name:      "diff",
		Usage:     "list the images that were added, removed, relabelled or moved to another split",
		ArgsUsage: "OLD NEW",
		Flags:     append([]cli.Flag{term.Flag(&o.json, "json", "print the result as JSON")}, term.ColumnFlags()...),
		Action: term.BoundAction(&o, func(c *cli.Context, o *diffOptions) error {
			if c.NArg() != 2 {
				return term.Misused("winnow data diff: found %d arguments, expected two manifests or folders, OLD NEW",
					c.NArg())
			}
			o.old, o.now, o.columns = location.At(c.Args().Get(0)), location.At(c.Args().Get(1)), term.Columns(c)
			return nil
		}, diffVersions),
	}
}

func diffVersions(_ context.Context, p *term.Program, o diffOptions) error {
	read := datasets.ReadOptions{Names: o.columns, Note: p.Note, Conflicts: true}
	old, err := datasets.Read(o.old, read)
	if err != nil {
		return err
	}
	now, err := datasets.Read(o.now, read)
	if err != nil {
		return err
	}
	return p.Result(datasets.CompareVersions(old, now), o.json, nil)
}
