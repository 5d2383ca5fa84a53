package theory

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/internal/atomicfile"
	"winnow/papers/theory/concentration"
)

// KappaOptions are what winnow theory kappa is asked.
type KappaOptions struct {
	concentration.Setting
	SVG       string
	JSON, CSV bool
}

func kappaCommand(call term.Call[KappaOptions]) *cli.Command {
	paper := concentration.PaperSetting()
	var samples []string
	for _, n := range paper.Samples {
		samples = append(samples, strconv.Itoa(n))
	}
	return &cli.Command{
		Name:  "kappa",
		Usage: "how far vMF-Sim's estimates of a class's concentration are off when few of its members are known",
		Description: "Draws classes from a von Mises-Fisher distribution of known concentration κ and estimates it again: PRISM's (001)\n" +
			"Fig. 4, whose numbers are root mean squared errors though its axis says MSE.\n\n" +
			"   winnow theory kappa\n" +
			"   winnow theory kappa --kappa 200 --dim 512 --samples 5,20,80 --csv",
		Flags: []cli.Flag{
			&cli.Float64Flag{Name: "kappa", Value: paper.Kappa, Usage: "true concentration `κ`"},
			&cli.IntFlag{Name: "dim", Value: paper.Dim, Usage: "dimensions `D`"},
			&cli.IntFlag{Name: "trials", Value: paper.Trials, Usage: "classes `N` drawn for each number of samples"},
			&cli.StringFlag{Name: "samples", Value: strings.Join(samples, ","), Usage: "members of a class: `LIST`"},
			&cli.Uint64Flag{Name: "seed", Value: paper.Seed, Usage: "seed `N` of the draws"},
			&cli.BoolFlag{Name: "json", Usage: "print the numbers as JSON"},
			&cli.BoolFlag{Name: "csv", Usage: "print the numbers as CSV"},
			&cli.StringFlag{Name: "svg", Usage: "also draw the errors into `FILE`"},
		},
		Action: term.Action(readKappa, call),
	}
}

func readKappa(c *cli.Context) (o KappaOptions, err error) {
	if err := term.NoArguments(c); err != nil {
		return o, err
	}
	if c.Bool("json") && c.Bool("csv") {
		return o, term.Misused("--json and --csv contradict each other: expected one")
	}
	o = KappaOptions{SVG: c.String("svg"), JSON: c.Bool("json"), CSV: c.Bool("csv")}
	o.Setting = concentration.Setting{Kappa: c.Float64("kappa"), Dim: c.Int("dim"), Trials: c.Int("trials"), Seed: c.Uint64("seed")}
	o.Samples, err = term.WholeNumbers(c, "samples")
	return o, err
}

func study(ctx context.Context, p *term.Program, o KappaOptions) error {
	errors, err := concentration.Study(ctx, o.Setting)
	if err != nil {
		return term.AsMisuse(err)
	}
	result := concentration.Result{Setting: o.Setting, Errors: errors}
	if o.SVG != "" {
		if err := atomicfile.Write(o.SVG, result.Chart().WriteSVG); err != nil {
			return fmt.Errorf("theory: %s: %w", o.SVG, err)
		}
	}
	switch {
	case o.JSON:
		return p.JSON(result)
	case o.CSV:
		return result.CSV(p.Data)
	}
	return result.Text(p.Out)
}
