// Package noise is the command winnow noise, which estimates how many labels are wrong before any training.
package noise

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/filters/noiserate"
	"winnow/internal/catalog"
	"winnow/run/measure"
)

// Options are the options of the command.
type Options struct {
	measure.NoiseOptions
	JSON bool
}

// Command returns winnow noise.
func Command() *cli.Command { return command(run) }

const description = `Compares the stored features of the labelled training images, whitened, with their labels. Each
image is left out of its own judgement. The method likelihood is accurate if labels are flipped at random;
if mistakes go to similar classes it finds too few, as ranks does. confident finds some of those if there
are few classes, and far too many if there are many. If the manifest has true labels, the true share is
printed, too. --fit-sample and --shard work as in winnow audit.

winnow train uses the estimate of the method likelihood unless --noise-rate is given.`

func command(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:        "noise",
		Usage:       "estimate how many training labels are wrong, without training",
		ArgsUsage:   "MANIFEST",
		Description: description,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "features", Required: true, Usage: "feature store `DIR` of winnow extract"},
			&cli.StringFlag{Name: "method", Value: noiserate.Auto,
				Usage: "how to estimate, by `NAME`: " + strings.Join(noiserate.Methods(), ", ") + ", or all"},
			&cli.IntFlag{Name: "top", Value: 5, Usage: "print the `N` classes with the most wrong labels"},
			term.SeedFlag("seed `N` of the resampling behind the interval"),
			&cli.IntFlag{Name: "fit-sample", DefaultText: "all",
				Usage: "methods " + strings.Join(noiserate.Dealt(), ", ") +
					": fit to `N` images drawn by --seed, and sums over all, so that many images need " +
					"little memory"},
			term.OutFlag("write the result to `FILE` as JSON"),
			term.ShardFlag("images"),
			term.JSONFlag(),
		},
		Action: term.Action(read, call),
	}
}

func read(c *cli.Context) (o Options, err error) {
	o.JSON = c.Bool("json")
	o.NoiseOptions = measure.NoiseOptions{Features: c.String("features"), Methods: []string{c.String("method")},
		Top: c.Int("top"), Seed: c.Uint64("seed"), FitSample: c.Int("fit-sample"), Out: c.String("out")}
	if o.Shard, err = term.Shard(c); err != nil {
		return o, err
	}
	if o.Manifest, err = term.OneSource(c, "one manifest"); err != nil {
		return o, err
	}
	if o.Methods[0] == "all" {
		o.Methods = noiserate.Methods()
	}
	if m := o.Methods[0]; !slices.Contains(noiserate.Methods(), m) {
		return o, term.Misused("--method: found %q%s, expected %s or all", m, catalog.Ask(m, noiserate.Methods()),
			strings.Join(noiserate.Methods(), ", "))
	}
	return o, nil
}

func run(ctx context.Context, p *term.Program, o Options) error {
	rt, err := p.OpenRuntime()
	if err != nil {
		return err
	}
	defer rt.Close()
	at, end := p.Watch("stages")
	o.Shard, o.Winnow = p.Dealt(o.Shard), term.Version()
	r, err := measure.Noise(ctx, o.NoiseOptions, at, p.Note)
	end()
	return p.Result(r, o.JSON, err)
}
