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

// Command returns the "winnow eval" command.
func Command() *cli.Command {
	return &cli.Command{
		Name:        "eval",
		Usage:       "measure a trained run, and frozen and whitened features for comparison",
		ArgsUsage:   "RUN",
		Description: description,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "split", DefaultText: "test, or query against gallery, or validation",
				Usage: "the `SPLIT` to measure on"},
			&cli.StringFlag{Name: "metrics", Value: "retrieval", Usage: "`NAME,...` of winnow list metrics, or all"},
			&cli.StringFlag{Name: "fit", DefaultText: "train, or gallery for queries",
				Usage: "the `SPLIT` on which nearest-class-mean and linear-probe are fitted"},
			&cli.StringFlag{Name: "k", Value: "1,2,4,8,16,32", Usage: "`K,...` of Recall@K"},
			&cli.IntFlag{Name: "queries", DefaultText: "all",
				Usage: "use only `N` images, drawn by --seed, as queries"},
			&cli.StringFlag{Name: "max-mem", Value: "1GiB", Usage: budget.Usage},
			&cli.BoolFlag{Name: "count-lonely",
				Usage: "count queries without a positive as misses, and images of classes not fitted as wrong"},
			term.SeedFlag("seed `N` of k-means and of --queries"),
			&cli.StringSliceFlag{Name: "set",
				Usage: "`METRIC.SETTING=VALUE`; winnow list metrics METRIC lists the settings; may be repeated"},
			term.OutFlag("write the result to `FILE` as JSON"),
			term.JSONFlag(),
		}, term.DataFlags...),
		Action: term.Action(readEval, runEval),
	}
}

const description = `Finds the nearest neighbours of every image of the split among the split's other images. If the
manifest has the splits query and gallery and no test, it searches the gallery for each query. Prints Recall@K, P@1,
R-Precision and MAP@R (Musgrave et al., A Metric Learning Reality Check, 2020), without queries that have no positive.

--metrics adds other metrics (winnow list metrics lists them): clustering groups the images by k-means and compares
the clusters with the labels; nearest-class-mean and linear-probe learn the classes from the given labels of the
split --fit and classify the images.`

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
