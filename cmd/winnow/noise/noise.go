// Package noise is winnow noise: how many labels are wrong, estimated before any training.
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

// Options are what the command is asked for.
type Options struct {
	measure.NoiseOptions
	JSON bool
}

func Command() *cli.Command { return command(run) }

func command(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:      "noise",
		Usage:     "estimate how many training labels are wrong, without training",
		ArgsUsage: "MANIFEST",
		Description: "Looks at the stored features of the labelled training images, whitened, and at the labels " +
			"as given. Each image is\n" +
			"left out of its own judgement. The method likelihood is near where labels are flipped at random; " +
			"where mistakes go to\n" +
			"similar classes it finds too few of them, as ranks does. confident finds some of those where classes " +
			"are few, and far\n" +
			"too many where they are many. Where the manifest knows true labels the true share is printed beside. " +
			"--fit-sample and --shard are as winnow audit has them.\n\n" +
			"winnow train takes the estimate of the method likelihood unless --noise-rate says another.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "features", Required: true, Usage: "feature store `DIR` of winnow extract"},
			&cli.StringFlag{Name: "method", Value: noiserate.Auto,
				Usage: "how to estimate, by `NAME`: " + strings.Join(noiserate.Methods(), ", ") + ", or all"},
			&cli.IntFlag{Name: "top", Value: 5, Usage: "print the `N` classes with the most wrong labels"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed `N` of the resampling behind the interval"},
			&cli.IntFlag{Name: "fit-sample", DefaultText: "all",
				Usage: "methods " + strings.Join(noiserate.Dealt(), ", ") +
					": fit to `N` images drawn by --seed, beside sums over all, so that many images need " +
					"little memory"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write the result into `FILE`, as JSON"},
			term.ShardFlag("images"),
			&cli.BoolFlag{Name: "json", Usage: "print everything as JSON"},
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
