package data

import (
	"context"
	_ "embed"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets/location"
	"winnow/datasets/published"
)

//go:embed join.txt
var joinHelp string

func joinCommand(call term.Call[JoinOptions]) *cli.Command {
	return &cli.Command{
		Name:        "join",
		Usage:       "give a clean manifest the labels of one of PRISM's noisy lists, and keep the truth as true_label",
		ArgsUsage:   "MANIFEST LIST",
		Description: joinHelp,
		Flags: []cli.Flag{
			term.Required(term.OutFlag("manifest `FILE` to write")),
			term.JSONFlag(),
		},
		Action: term.Action(readJoin, call),
	}
}

// JoinOptions name a clean manifest and a list of noisy labels.
type JoinOptions struct {
	Manifest  location.Source
	List, Out string
	JSON      bool
}

func readJoin(c *cli.Context) (JoinOptions, error) {
	if c.NArg() != 2 {
		return JoinOptions{}, term.Misused("winnow data join: found %d arguments, expected two: a clean manifest and "+
			"a list of noisy labels", c.NArg())
	}
	o := JoinOptions{Manifest: location.At(c.Args().Get(0)), List: c.Args().Get(1), Out: c.String("out"),
		JSON: c.Bool("json")}
	return o, term.KeepInput(c, o.Manifest.Path(), o.List)
}

func runJoin(ctx context.Context, p *term.Program, o JoinOptions) error {
	r, err := published.JoinFiles(ctx, o.Manifest, o.List, o.Out, p.Note)
	if err != nil {
		return err
	}
	if o.JSON {
		return p.JSON(r)
	}
	r.Write(p.Out, p.Err)
	return nil
}
