package papers

import (
	"context"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/papers/pairs"
)

// SkewOptions are the options of winnow papers skew.
type SkewOptions struct {
	pairs.SkewOptions
	JSON bool
}

const skewDescription = `
The bounds of Le & Odobez (000) depend on how much too often mining selects hard pairs: η of the triplet loss,
for random and fixed semi-hard mining, and γ of the marginal loss. This command measures both on a run's own
batches (its sampler and seed, from its first epoch on), embedded by its present head, or on frozen features
without a run:

   winnow papers skew runs/a
   winnow papers skew --features features --manifest manifest.csv --batch 12x5 --json

Negative pairs are divided by distance into 20 bins of equal counts; r is the share of the selected pairs in a
bin divided by its share of all pairs. η is the largest of r and 1/r. Positive pairs are binned the same way and
count as selected if their marginal loss is above 0. γ is the smallest r of the negatives divided by the largest
r of the positives.
`

func skewCommand(call term.Call[SkewOptions]) *cli.Command {
	var o SkewOptions
	return &cli.Command{
		Name:        "skew",
		Usage:       "measure how unevenly mining selects the pairs of batches, and which bounds follow",
		ArgsUsage:   "[RUN]",
		Description: skewDescription,
		Flags: append([]cli.Flag{
			term.Flag(&o.Batches, "batches", "use `N` batches", "those of one epoch"),
			term.Flag(&o.Batch, "batch", "`PxK`: classes and images of each in a batch", "the run's, or 12x5"),
			term.Flag(&o.Margin, "margin", "`α` of the triplet and the marginal loss", "the run's, or 0.2"),
			term.Flag(&o.Beta, "beta", "`β` of the marginal loss", "the run's, or 1.4"),
			term.Flag(&o.Seed, "seed", "seed `N` of the batches and of what mining draws", "the run's, or 1"),
			term.Flag(&o.JSON, "json", "print the result as JSON"),
		}, term.DataFlags...),
		Action: term.BoundAction(&o, func(c *cli.Context, o *SkewOptions) error {
			return readData(c, &o.BatchOptions)
		}, call),
	}
}

func measureSkew(ctx context.Context, p *term.Program, o SkewOptions) error {
	if o.Run != "" {
		rt, err := p.OpenRuntime()
		if err != nil {
			return err
		}
		defer rt.Close()
	}
	o.Data.Host = p.Host()
	result, err := pairs.MeasureSkew(ctx, o.SkewOptions)
	switch {
	case err != nil:
		return err
	case o.JSON:
		return p.JSON(result)
	}
	return result.Text(p.Out)
}
