// Package join implements the "winnow join" command: it joins the parts that machines made with --shard.
package join

import (
	"context"

	"github.com/urfave/cli/v2"

	"winnow/cluster"
	"winnow/cmd/winnow/term"
	"winnow/datasets/location"
	"winnow/run/extraction"
)

// Options name the output to join.
type Options struct {
	Out             location.Source
	Overwrite, JSON bool
}

// Command returns the "winnow join" command.
func Command() *cli.Command { return newJoinCommand(runJoinParts) }

func newJoinCommand(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:      "join",
		Usage:     "join the parts that several machines made with --shard",
		ArgsUsage: "OUT",
		Description: "OUT is the --out of the command that ran with --shard; the parts are in OUT.parts. All\n" +
			"must be of one job: the same inputs, settings and number of parts. Missing and damaged parts are\n" +
			"listed with the shards to run again. The result equals that of one machine: feature stores byte\n" +
			"for byte if all parts were made on the same kind of device, numbers to 1e-9. The parts are kept.\n\n" +
			"   winnow extract … --shard 1/2 --out birds.features\n" +
			"   winnow extract … --shard 2/2 --out birds.features\n" +
			"   winnow join birds.features",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "overwrite", Usage: "replace another feature store at OUT"},
			term.JSONFlag(),
		},
		Action: term.Action(readJoinOptions, call),
	}
}

func readJoinOptions(c *cli.Context) (Options, error) {
	out, err := term.OneArgument(c, "the --out that machines made parts of")
	return Options{Out: location.At(out), Overwrite: c.Bool("overwrite"),
		JSON: c.Bool("json")}, err
}

func runJoinParts(ctx context.Context, p *term.Program, o Options) error {
	at, end := p.Watch("rows")
	r, err := cluster.Join(ctx, o.Out, extraction.Job, cluster.JoinOptions{Overwrite: o.Overwrite, Progress: at,
		Note: p.Note})
	end()
	return p.Result(r, o.JSON, err)
}
