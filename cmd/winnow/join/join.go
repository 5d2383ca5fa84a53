// Package join is winnow join: it puts the parts that machines made with --shard together.
package join

import (
	"context"

	"github.com/urfave/cli/v2"

	"winnow/backbone/checking"
	"winnow/cluster"
	"winnow/cmd/winnow/term"
	"winnow/run/embedding"
	"winnow/run/extraction"
	"winnow/run/inspect"
	"winnow/run/measure"
)

// Options name the output that is put together.
type Options struct {
	Out, To         string
	Overwrite, JSON bool
}

// jobs are those whose parts are joined.
var jobs = []cluster.Joiner{checking.Job, extraction.Job, embedding.Job, embedding.SearchJob, measure.Job,
	inspect.Job, measure.NoiseJob}

// Command is winnow join.
func Command() *cli.Command { return command(run) }

func command(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:      "join",
		Usage:     "join the parts that several machines made with --shard",
		ArgsUsage: "OUT",
		Description: "OUT is the --out of the command that ran with --shard; the parts lie in OUT.parts. They " +
			"must be all of one job: the same\n" +
			"inputs, settings and number of parts. Those that are missing or damaged are listed with the shards " +
			"to run again. The\n" +
			"result is that of one machine: feature stores byte for byte, where all parts were made on the same " +
			"kind of device,\n" +
			"numbers to 1e-9. The parts stay as they are.\n\n" +
			"   winnow extract … --shard 1/2 --out birds.features    winnow extract … --shard 2/2 --out " +
			"birds.features\n" +
			"   winnow join birds.features",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, DefaultText: "OUT",
				Usage: "`DIR` for the whole of parts that lie in an object store"},
			&cli.BoolFlag{Name: "overwrite", Usage: "replace another feature store that stands at OUT"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		},
		Action: term.Action(read, call),
	}
}

func read(c *cli.Context) (Options, error) {
	out, err := term.OneArgument(c, "the --out that machines made parts of")
	return Options{Out: out, To: c.String("out"), Overwrite: c.Bool("overwrite"), JSON: c.Bool("json")}, err
}

func run(ctx context.Context, p *term.Program, o Options) error {
	at, end := p.Watch("rows")
	r, err := cluster.Join(ctx, o.Out, jobs, cluster.JoinOptions{Overwrite: o.Overwrite, To: o.To, Progress: at,
		Note: p.Note})
	end()
	return p.Result(r, o.JSON, err)
}
