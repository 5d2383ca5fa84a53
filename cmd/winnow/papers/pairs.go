package papers

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/training"
	"winnow/papers/theory"
)

// PairsOptions holds the parsed flags of "winnow papers pairs".
type PairsOptions struct {
	theory.PairOptions
	Out string // folder
}

const pairsDescription = `
Needs a manifest with given and true labels. Measures Fig. 2 of SCL-RHE (004), the cosines of pairs of training
images by whether their given and their true labels agree. It also measures the shares of section 4.2: how much of
the wrong gradient of a contrastive loss comes from false positives. The batches are those of a run (its sampler,
seed and losses), embedded by its head, or without a run those of frozen features. For comparison, it repeats this
with symmetric noise of the same rate on the same vectors. winnow train does not use the result.

   winnow papers pairs runs/a --out runs/a/pairs
   winnow papers pairs --features features --manifest people.csv
`

func pairsCommand(call term.Call[PairsOptions]) *cli.Command {
	var o PairsOptions
	return &cli.Command{
		Name:        "pairs",
		Usage:       "compare true and false pairs of training images, and their shares of a loss's gradient",
		ArgsUsage:   "[RUN]",
		Description: pairsDescription,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "loss", DefaultText: "the run's, or supcon,scl_rhe",
				Usage: "`LIST` of losses over pairs, with their default settings"},
			term.Flag(&o.Out, "out,o", "`DIR` for the drawings"),
		}, term.DataFlags...),
		Action: term.BoundAction(&o, readPairs, call),
	}
}

func readPairs(c *cli.Context, o *PairsOptions) (err error) {
	if c.IsSet("loss") {
		o.Losses = strings.FieldsFunc(c.String("loss"), func(r rune) bool { return r == ',' || r == ' ' })
	}
	if o.Data, err = training.RunOptions(c); err == nil {
		o.Run, err = term.RunOrStore(c)
	}
	return err
}

func runPairs(ctx context.Context, p *term.Program, o PairsOptions) error {
	rt, err := p.OpenRuntime()
	if err != nil {
		return err
	}
	defer rt.Close()
	o.Data.Host = p.Host()
	result, err := theory.ComparePairs(ctx, o.PairOptions)
	if err != nil {
		return err
	}
	if o.Out != "" {
		if err := result.Write(o.Out); err != nil {
			return err
		}
	}
	return result.Text(p.Out)
}
