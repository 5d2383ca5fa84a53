// Package cost is winnow cost.
package cost

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/papers/cost"
)

// Options are what winnow cost is asked.
type Options struct {
	cost.Options
	JSON bool
}

// Command is winnow cost.
func Command() *cli.Command { return command(measure) }

func command(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:  "cost",
		Usage: "what each filter adds to the time of a training step, beside PRISM's numbers",
		Description: "Trains heads on drawn features, memory contrastive loss (MCL) and SoftTriple, without a filter and with each (AvgSim\n" +
			"without class centres, too), and times the steps: PRISM's (001) Tables V and VI. All variants take turns in every\n" +
			"repetition, so that what else the machine does falls on all; a repetition's time is that of an undisturbed step, the\n" +
			"lower quartile of its steps, and the table's the least over repetitions; beside it stands how ratios within a repetition\n" +
			"vary. The paper's step is a whole network's, hundreds of times longer than a head's: compare the milliseconds that a\n" +
			"filter adds. It adds them by judging; one that also drops rows (--rate) saves the loss's work on these.\n\n" +
			"   winnow cost\n" +
			"   winnow cost --dim 128 --classes 11318 --images 5 --bank 55000 --steps 100",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "inputs", Value: 1024, Usage: "length `N` of the stored features"},
			&cli.IntFlag{Name: "dim", Value: 512, Usage: "dimension `D` of the embedding"},
			&cli.StringFlag{Name: "batch", Value: "16x4", Usage: "`PxK`: classes and images of each in a batch"},
			&cli.IntFlag{Name: "classes", Value: 100, Usage: "`C` classes"},
			&cli.IntFlag{Name: "images", Value: 60, Usage: "`N` images of each class"},
			&cli.IntFlag{Name: "bank", Value: 5000, Usage: "`M` vectors in the memory bank"},
			&cli.IntFlag{Name: "centers", Value: 10, Usage: "proxies `K` of a class in SoftTriple"},
			&cli.Float64Flag{Name: "rate", DefaultText: "0: all are judged and none dropped", Usage: "share `R` that the filters drop, from 0 to below 1"},
			&cli.IntFlag{Name: "steps", Value: 200, Usage: "steps `N` timed in each repetition, after as many as fill the bank"},
			&cli.IntFlag{Name: "repeat", Value: 5, Usage: "repetitions `N`"},
			&cli.StringFlag{Name: "loss", Aliases: []string{"losses"}, Value: "mcl,soft_triple", Usage: "`LIST` of mcl and soft_triple"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed `N` of everything that is drawn"},
			&cli.BoolFlag{Name: "json", Usage: "print the numbers as JSON"},
		},
		Action: term.Action(read, call),
	}
}

func read(c *cli.Context) (Options, error) {
	if err := term.NoArguments(c); err != nil {
		return Options{}, err
	}
	o := Options{JSON: c.Bool("json"), Options: cost.Options{
		Inputs: c.Int("inputs"), Dim: c.Int("dim"), Batch: c.String("batch"), Classes: c.Int("classes"), Images: c.Int("images"),
		Bank: c.Int("bank"), Centers: c.Int("centers"), Rate: c.Float64("rate"), Steps: c.Int("steps"), Repeat: c.Int("repeat"), Seed: c.Uint64("seed"),
	}}
	for _, name := range strings.Split(c.String("loss"), ",") {
		o.Losses = append(o.Losses, strings.TrimSpace(name))
	}
	return o, o.Check()
}

func measure(ctx context.Context, p *term.Program, o Options) error {
	rt, err := p.OpenRuntime()
	if err != nil {
		return err
	}
	defer rt.Close()
	o.Threads = p.Compute.Threads
	at, end := p.Watch("trainings")
	result, err := cost.Run(ctx, o.Options, at)
	end()
	if err != nil {
		return err
	}
	result.Winnow = term.Version()
	if o.JSON {
		return p.JSON(result)
	}
	return result.Text(p.Out)
}
