package papers

import (
	"context"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/papers/theory"
)

const theoryDescription = `
Computes, for symmetric noise over equally frequent classes: the rates of wrong pairs; the bounds of Le & Odobez
(000) for unhinged triplets, triplets and the marginal loss; the true configurations of triplets; and the rates of
SCL-RHE (004). If a paper's formula is wrong, both the corrected and the paper's own number are printed.

   winnow papers theory --noise-rate 0.3 --classes 100
   winnow papers theory --noise-rate 0.6 --classes 10 --each 5 --eta 1.5,4
`

func theoryCommand(call term.Call[theory.Setting]) *cli.Command {
	var o theory.Setting
	return &cli.Command{
		Name: "theory",
		Usage: "compute the effect of a noise rate on pairs and triplets, and how much noise losses " +
			"withstand",
		Description: theoryDescription,
		Flags: []cli.Flag{
			term.Flag(&o.Rate, "noise-rate", "label noise `P` in [0, 1)"),
			term.Flag(&o.Classes, "classes", "number `K` of classes; required"),
			term.Flag(&o.Each, "each", "`N` images per class, for the exact weights of 1-1 sampling"),
			&cli.StringFlag{Name: "eta", Value: "1,1.25,1.5,2,3,5,10",
				Usage: "`LIST` of skews η ≥ 1 of mining: how much too often it selects hard negatives"},
			&cli.StringFlag{Name: "gamma", Value: "0.1,0.25,0.5,0.75,0.9,1",
				Usage: "`LIST` of skews γ in (0, 1] of the marginal loss's weights"},
		},
		Action: term.BoundAction(&o, readTheory, call),
	}
}

func readTheory(c *cli.Context, o *theory.Setting) (err error) {
	switch {
	case c.Args().Present():
		return term.NoArguments(c)
	case !c.IsSet("noise-rate"):
		return term.Misused("theory: --noise-rate is missing")
	case !c.IsSet("classes"):
		return term.Misused("theory: --classes is missing")
	case c.IsSet("each") && o.Each == 0:
		return term.Misused("--each: found 0, expected 2 or more")
	}
	if o.Eta, err = term.Numbers(c, "eta"); err != nil {
		return err
	}
	o.Gamma, err = term.Numbers(c, "gamma")
	return err
}

func runTheory(_ context.Context, p *term.Program, o theory.Setting) error {
	if err := o.Check(); err != nil {
		return term.AsMisuse(err)
	}
	return theory.Describe(p.Out, o)
}
