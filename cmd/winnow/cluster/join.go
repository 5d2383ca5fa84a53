package cluster

import (
	"context"

	"github.com/urfave/cli/v2"

	"winnow/cluster"
	"winnow/cmd/winnow/term"
	"winnow/datasets/location"
	"winnow/run/extraction"
)

// joinOptions holds the parsed flags and the output to join.
type joinOptions struct {
	Out             location.Source
	Overwrite, JSON bool
}

// Join returns the "winnow join" command.
func Join() *cli.Command {
	var o joinOptions
	return &cli.Command{
		Name:      "join",
		Usage:     "join the parts that several machines wrote with --shard",
		ArgsUsage: "OUT",
		Description: "OUT is the --out of the command that ran with --shard; the parts are in OUT.parts. All parts\n" +
			"must be of one job, with the same inputs, settings and number of parts. Missing and damaged parts\n" +
			"are listed with the shards to run again. The result equals that of a single machine: feature stores\n" +
			"byte for byte if all devices are of the same type, numbers to 1e-9. The parts are kept.\n\n" +
			"   winnow extract … --shard 1/2 --out birds.features\n" +
			"   winnow extract … --shard 2/2 --out birds.features\n" +
			"   winnow join birds.features",
		Flags: []cli.Flag{
			term.Flag(&o.Overwrite, "overwrite", "replace another feature store at OUT"),
			term.Flag(&o.JSON, "json", "print the result as JSON"),
		},
		Action: term.BoundAction(&o, func(c *cli.Context, o *joinOptions) (err error) {
			o.Out, err = term.OneSource(c, "the --out of a command run with --shard")
			return err
		}, joinParts),
	}
}

func joinParts(ctx context.Context, p *term.Program, o joinOptions) error {
	at, end := p.Watch("rows")
	r, err := cluster.Join(ctx, o.Out, extraction.Job, cluster.JoinOptions{Overwrite: o.Overwrite, Progress: at,
		Note: p.Note})
	end()
	return p.Result(r, o.JSON, err)
}
