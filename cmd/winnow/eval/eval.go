// Package eval implements the "winnow eval" command, which compares a trained head with untrained features.
package eval

import (
	"context"

	"github.com/urfave/cli/v2"

	"winnow/cluster"
	"winnow/cmd/winnow/term"
	"winnow/internal/budget"
	"winnow/run/folder"
	"winnow/run/measure"
)

// Options holds the parsed flags.
type Options struct {
	Dir  string
	Run  folder.Options
	Eval measure.Options
	JSON bool

	Out string // file for the result; "": none
}

// Command returns winnow eval.
func Command() *cli.Command {
	return &cli.Command{
		Name:        "eval",
		Usage:       "measure a trained run, next to frozen and whitened features",
		ArgsUsage:   "RUN",
		Description: description,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "split", DefaultText: "test, or query against gallery, or validation",
				Usage: "the `SPLIT` to measure on"},
			&cli.StringFlag{Name: "metrics", Value: "retrieval", Usage: "`NAME,...` of winnow list metrics, or all"},
			&cli.StringFlag{Name: "fit", DefaultText: "train, or gallery for queries",
				Usage: "the `SPLIT` that nearest-class-mean and linear-probe are fitted on"},
			&cli.StringFlag{Name: "k", Value: "1,2,4,8,16,32", Usage: "`K,...` of Recall@K"},
			&cli.IntFlag{Name: "queries", DefaultText: "all",
				Usage: "search for only `N` images, drawn by --seed, among all"},
			&cli.StringFlag{Name: "max-mem", Value: "1GiB", Usage: budget.Usage},
			&cli.BoolFlag{Name: "count-lonely",
				Usage: "a query without any positive counts as a miss, an image of a class not fitted as wrong"},
			term.SeedFlag("seed `N` of the starts of k-means, and of --queries"),
			&cli.StringSliceFlag{Name: "set",
				Usage: "`METRIC.SETTING=VALUE`, as winnow list metrics METRIC lists them; may be repeated"},
			term.OutFlag("write the result to `FILE` as JSON"),
			term.JSONFlag(),
		}, term.DataFlags...),
		Action: term.Action(readEval, runEval),
	}
}

const description = `Searches the nearest neighbours of every image of the split among its other images, or in the split
gallery if the manifest has the splits query and gallery and no test. Prints Recall@K, P@1, R-Precision and
MAP@R (Musgrave et al., A Metric Learning Reality Check, 2020). Queries without a positive are left out.

--metrics adds others (winnow list metrics lists them): clustering groups the images by k-means and compares
the clusters with the labels; nearest-class-mean and linear-probe learn the classes from the given labels
of the split --fit and classify the images.`

func runEval(ctx context.Context, p *term.Program, o Options) error {
	defer budget.Collect(o.Eval.MaxMem)()
	o.Run.Host, o.Eval.Note = p.Host(), p.Note
	r, err := folder.Open(ctx, o.Dir, o.Run)
	if err != nil {
		return err
	}
	rt, err := p.OpenRuntime()
	if err != nil {
		return err
	}
	defer rt.Close()
	result, err := measure.Run(ctx, r, o.Eval)
	if err == nil {
		err = cluster.Save(o.Out, result)
	}
	return p.Result(result, o.JSON, err)
}
