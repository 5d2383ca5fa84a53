package papers

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/papers/pairs"
)

// PairsOptions are the options of winnow papers pairs.
type PairsOptions struct {
	pairs.Options
	Out  string // folder
	JSON bool
}

const pairsDescription = `
Needs a manifest with true labels next to the given ones. It measures SCL-RHE's (004) Fig. 2, the cosines of
pairs of training images by whether their given and their true labels agree; and the shares of its section 4.2,
how much of what a contrastive loss is taught wrongly comes from false positives. It uses a run's own batches
(its sampler, seed and losses), embedded by its head, or frozen features without a run. The given labels are
compared with symmetric noise of the same rate on the same vectors. No run of winnow train uses the result.

   winnow papers pairs runs/a --out runs/a/pairs
   winnow papers pairs --features features --manifest people.csv --synthetic 0.2 --json
`

func pairsCommand(call term.Call[PairsOptions]) *cli.Command {
	o := PairsOptions{Options: pairs.Options{Most: 50_000_000}}
	return &cli.Command{
		Name:        "pairs",
		Usage:       "compare true and false pairs of training images, and how much of what a loss learns is wrong",
		ArgsUsage:   "[RUN]",
		Description: pairsDescription,
		Flags: append([]cli.Flag{
			term.Flag(&o.Synthetic, "synthetic", "`RATE` of the symmetric noise to compare with the given labels",
				"the share of wrong labels"),
			&cli.StringFlag{Name: "loss", DefaultText: "the run's, or supcon,scl_rhe",
				Usage: "`LIST` of losses of pairs, with their default settings"},
			term.Flag(&o.Batches, "batches", "use `N` batches", "those of one epoch"),
			term.Flag(&o.Batch, "batch", "`PxK` or N: classes and images of each in a batch, or images",
				"the run's, or 512"),
			term.Flag(&o.Most, "pairs", "compare at most `N` pairs: of more, those among images drawn at random"),
			term.Flag(&o.Seed, "seed", "seed `N` of the batches, the symmetric noise and what is drawn",
				"the run's, or 1"),
			term.Flag(&o.Out, "out,o", "`DIR` for the drawings"),
			term.Flag(&o.JSON, "json", "print the result as JSON"),
		}, term.DataFlags...),
		Action: term.BoundAction(&o, readPairs, call),
	}
}

func readPairs(c *cli.Context, o *PairsOptions) error {
	if o.Most < 1 {
		return term.Misused("--pairs: found %d, expected 1 or more", o.Most)
	}
	if c.IsSet("loss") {
		names := strings.FieldsFunc(c.String("loss"), func(r rune) bool { return r == ',' || r == ' ' })
		o.Losses = pairs.Named(names...)
	}
	return readData(c, &o.BatchOptions)
}

func runPairs(ctx context.Context, p *term.Program, o PairsOptions) error {
	rt, err := p.OpenRuntime()
	if err != nil {
		return err
	}
	defer rt.Close()
	o.Data.Host, o.Winnow = p.Host(), term.Version()
	result, err := pairs.Run(ctx, o.Options)
	if err != nil {
		return err
	}
	if o.Out != "" {
		if err := result.Write(o.Out); err != nil {
			return err
		}
	}
	if o.JSON {
		return result.JSON(p.Data)
	}
	return result.Text(p.Out)
}
