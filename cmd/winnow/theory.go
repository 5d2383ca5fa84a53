package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"winnow/papers/theory"
)

func theoryCommand() *cli.Command {
	return &cli.Command{
		Name:  "theory",
		Usage: "what a rate of label noise does to pairs and triplets, and how much of it losses withstand on paper",
		Description: "For symmetric noise over equally frequent classes: the rates of wrong pairs, the bounds of Le & Odobez (000) for\n" +
			"unhinged triplets, triplets and the marginal loss, the true nature of triplets, and the rates of SCL-RHE (004).\n" +
			"Each number stands as corrected and, where the paper errs, as printed.\n\n" +
			"   winnow theory --rate 0.3 --classes 100\n" +
			"   winnow theory --pair-rate 0.6 --classes 10 --each 5 --eta 1.5,4 --json\n\n" +
			"The skews η and γ of a run are measured by winnow theory skew.",
		Flags: []cli.Flag{
			&cli.Float64Flag{Name: "rate", Usage: "label noise `P` in [0, 1)", DefaultText: "none"},
			&cli.Float64Flag{Name: "pair-rate", Usage: "instead of --rate: the share `Q` of truly alike pairs with different labels", DefaultText: "none"},
			&cli.IntFlag{Name: "classes", Usage: "number `K` of classes; required", DefaultText: "none"},
			&cli.IntFlag{Name: "each", Usage: "images `N` of each class, for the exact weights of 1-1 sampling", DefaultText: "none"},
			&cli.StringFlag{Name: "eta", Value: "1,1.25,1.5,2,3,5,10", Usage: "skews η ≥ 1 of mining, how much too often hard negatives are taken: `LIST`"},
			&cli.StringFlag{Name: "gamma", Value: "0.1,0.25,0.5,0.75,0.9,1", Usage: "skews γ in (0, 1] of the marginal loss's weights: `LIST`"},
			&cli.BoolFlag{Name: "json", Usage: "print everything as JSON, rates as fractions"},
		},
		Action:      theoryAction,
		Subcommands: []*cli.Command{theorySkewCommand(), theoryKappaCommand()},
	}
}

func theoryAction(c *cli.Context) error {
	if c.Args().Present() {
		return noCommand(c)
	}
	setting, err := theorySetting(c)
	if err != nil {
		return err
	}
	summary, err := theory.Describe(setting)
	if err != nil {
		return asMisuse(err)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, summary)
	}
	return printTheory(c.App.Writer, summary)
}

func theorySetting(c *cli.Context) (s theory.Setting, err error) {
	switch {
	case c.IsSet("rate") == c.IsSet("pair-rate"):
		return s, misused("theory: expected one of --rate and --pair-rate")
	case !c.IsSet("classes"):
		return s, misused("theory: --classes is missing")
	case c.IsSet("each") && c.Int("each") == 0:
		return s, misused("--each: found 0, expected 2 or more")
	}
	s = theory.Setting{Rate: c.Float64("rate"), Classes: c.Int("classes"), Each: c.Int("each")}
	if s.Eta, err = numberList(c, "eta"); err != nil {
		return s, err
	}
	if s.Gamma, err = numberList(c, "gamma"); err != nil {
		return s, err
	}
	if c.IsSet("pair-rate") {
		if s.Rate, err = theory.RateOfPairs(c.Float64("pair-rate"), s.Classes); err != nil {
			return s, asMisuse(err)
		}
	}
	return s, nil
}

// numberList reads a flag that is a list of numbers.
func numberList(c *cli.Context, flag string) ([]float64, error) {
	var list []float64
	for _, word := range strings.Split(c.String(flag), ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil {
			return nil, misused("--%s: %q is not a number, expected numbers with commas between them", flag, word)
		}
		list = append(list, v)
	}
	return list, nil
}

// printTheory is the summary as tables, rates in percent.
func printTheory(out io.Writer, s theory.Summary) error {
	fmt.Fprintf(out, "label noise p = %s, K = %d classes\n", percent(s.Rate), s.Classes)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { fmt.Fprintln(w, strings.Join(cells, "\t")) }
	title := func(cells ...string) { fmt.Fprintln(w); row(cells...) }

	title("pairs", "corrected", "printed", "many classes", "source")
	row("q₊: truly alike, labels differ", percent(s.Pairs.Corrected.Positive), percent(s.Pairs.Printed.Positive), percent(s.Pairs.LargeK), "000 eq. 8")
	row("q₋: truly different, labels agree", percent(s.Pairs.Corrected.Negative), percent(s.Pairs.Printed.Negative), percent(0), "000 eq. 7")
	row("P_FP: assigned positive, truly different", percent(s.Contrastive.FalsePositive), percent(s.Contrastive.FalsePositivePrinted), percent(s.Pairs.LargeK), "004 sec. 4.2")
	row("P_FN: assigned negative, truly alike", percent(s.Contrastive.FalseNegative), percentOr(s.Contrastive.FalseNegativePrinted, "undefined"), percent(0), "004 sec. 4.2")

	title("a triplet labelled anchor = positive ≠ negative is truly", "")
	l := s.Latent
	row("anchor = positive ≠ negative (clean)", percent(l.Clean))
	row("anchor = positive = negative", percent(l.AllSame))
	row("all different", percent(l.AllDifferent))
	row("anchor = negative ≠ positive (inverted)", percent(l.Inverted))
	row("positive = negative ≠ anchor (not in the paper)", percent(l.Other))

	title("unhinged triplets, 1-1 sampling: noise below", fmt.Sprintf("K = %d", s.Classes), "many classes (eq. 25)", "Q at p", "Q printed", "at p")
	row("000 eq. 22 and 24", percent(s.Unhinged.Bound), percent(s.Unhinged.LargeK), number(s.Unhinged.Margin), number(s.Unhinged.MarginPrinted), holds(s.Unhinged.Holds))
	if o := s.OneToOne; o != nil {
		row(fmt.Sprintf("with w₋ = %s instead of 1/K = %s", number(o.Weight), number(o.WeightPrinted)), percent(o.Bound))
		row(fmt.Sprintf("ordered pairs: %d positive, %d negative; %d triplets", o.PositivePairs, o.NegativePairs, o.Triplets))
	}

	title("triplet loss with mining: noise below", fmt.Sprintf("K = %d", s.Classes), "many classes (eq. 27)", "printed (eq. 26)", "at p")
	for _, b := range s.Triplet {
		row(fmt.Sprintf("η = %v", b.Eta), percent(b.Bound), percent(b.LargeK), percent(b.Printed), holds(b.Holds))
	}

	title("marginal loss: noise below, for Q ≥ 0", fmt.Sprintf("K = %d", s.Classes), "many classes (eq. 37)", "for Q ≥ 1/2", "many classes", "noisy per clean pair (z)", "at p")
	for _, b := range s.Marginal {
		z := "no limit"
		if b.NoisyPerClean != nil {
			z = number(*b.NoisyPerClean)
		}
		row(fmt.Sprintf("γ = %v", b.Gamma), percent(b.Bound), percent(b.LargeK), percent(b.Half), percent(b.HalfLargeK), z, holds(b.Holds))
	}
	return w.Flush()
}

func holds(ok bool) string {
	if ok {
		return "holds"
	}
	return "exceeded"
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// percent keeps two decimals, or three figures where that would leave less.
func percent(v float64) string {
	if v := 100 * v; v != 0 && v < 1 && v > -1 {
		return strconv.FormatFloat(v, 'g', 3, 64) + " %"
	}
	return fmt.Sprintf("%.2f %%", 100*v)
}

func percentOr(v *float64, otherwise string) string {
	if v == nil {
		return otherwise
	}
	return percent(*v)
}
