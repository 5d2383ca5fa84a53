package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"winnow/internal/atomicfile"
	"winnow/papers/theory/concentration"
	"winnow/report/chart"
)

func theoryKappaCommand() *cli.Command {
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
			&cli.Uint64Flag{Name: "seed", Value: paper.Seed, Usage: "seed of the draws"},
			&cli.BoolFlag{Name: "json", Usage: "print the numbers as JSON"},
			&cli.BoolFlag{Name: "csv", Usage: "print the numbers as CSV"},
			&cli.StringFlag{Name: "svg", Usage: "also draw the errors into `FILE`"},
		},
		Action: theoryKappaAction,
	}
}

func theoryKappaAction(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	if c.Bool("json") && c.Bool("csv") {
		return misused("--json and --csv contradict each other: expected one")
	}
	s := concentration.Setting{Kappa: c.Float64("kappa"), Dim: c.Int("dim"), Trials: c.Int("trials"), Seed: c.Uint64("seed")}
	list, err := numberList(c, "samples")
	if err != nil {
		return err
	}
	for _, v := range list {
		if v != float64(int(v)) {
			return misused("--samples: found %v, expected whole numbers", v)
		}
		s.Samples = append(s.Samples, int(v))
	}
	errors, err := concentration.Study(s)
	if err != nil {
		return asMisuse(err)
	}
	if file := c.String("svg"); file != "" {
		if err := atomicfile.Write(file, kappaChart(s, errors).WriteSVG); err != nil {
			return fmt.Errorf("theory: %s: %w", file, err)
		}
	}
	switch {
	case c.Bool("json"):
		return printJSON(c.App.Writer, struct {
			concentration.Setting
			Errors []concentration.Errors `json:"errors"`
		}{s, errors})
	case c.Bool("csv"):
		return kappaCSV(c.App.Writer, errors)
	}
	return printKappa(c.App.Writer, s, errors)
}

func kappaCSV(out io.Writer, errors []concentration.Errors) error {
	w := csv.NewWriter(out)
	w.Write([]string{"samples", "estimator", "mean", "bias", "rmse", "mse", "mae"})
	for _, e := range errors {
		row := []string{strconv.Itoa(e.Samples), e.Estimator}
		for _, v := range []float64{e.Mean, e.Bias, e.RMSE, e.MSE, e.MAE} {
			row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
		}
		w.Write(row)
	}
	w.Flush()
	return w.Error()
}

func printKappa(out io.Writer, s concentration.Setting, errors []concentration.Errors) error {
	fmt.Fprintf(out, "true κ = %v in %d dimensions, %d classes drawn for each number of samples\n\n", s.Kappa, s.Dim, s.Trials)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "samples\testimator\tmean\tbias\tRMSE\tMSE\tMAE")
	for _, e := range errors {
		fmt.Fprintf(w, "%d\t%s\t%.1f\t%+.1f\t%.1f\t%.4g\t%.1f\n", e.Samples, e.Estimator, e.Mean, e.Bias, e.RMSE, e.MSE, e.MAE)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	for _, e := range concentration.Estimators {
		fmt.Fprintf(out, "%-9s %s\n", e.Name, e.Title)
	}
	return nil
}

// kappaChart is the paper's Fig. 4 for all estimators.
func kappaChart(s concentration.Setting, errors []concentration.Errors) chart.Drawing {
	drawing := chart.Lines{Frame: chart.Frame{
		Title: fmt.Sprintf("Error of the estimates of κ = %v in %d dimensions", s.Kappa, s.Dim), Titled: true,
		X: "samples of a class", Y: "RMSE of κ", LogX: true, LogY: true,
	}}
	for i, of := range concentration.Estimators {
		line := chart.Line{Name: of.Name, Tone: i, Dots: true, Dashed: of.Name == "printed"}
		for _, e := range errors {
			if e.Estimator == of.Name {
				line.X, line.Y = append(line.X, float64(e.Samples)), append(line.Y, e.RMSE)
			}
		}
		drawing.Series = append(drawing.Series, line)
	}
	return drawing
}
