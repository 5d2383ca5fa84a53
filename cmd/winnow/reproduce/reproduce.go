// Package reproduce implements the "winnow reproduce" command.
package reproduce

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"winnow/backbone/ort"
	"winnow/cmd/winnow/term"
	"winnow/papers/runner"
	"winnow/papers/studies"
)

// Options holds the parsed flags. List is set without a study, to list the papers' tables and figures.
type Options struct {
	runner.Options
	List, DryRun bool
}

// Command returns the "winnow reproduce" command.
func Command() *cli.Command { return newReproduceCommand(runReproduce) }

const description = `
A study is a table whose rows are recipes and whose columns are datasets with label noise. A cell is one training
with one seed: of a head on stored features or, with --finetune, of the whole network or its last stages. Finished
cells are kept in --out/cells, which all studies share, and are not run again. Trainings of networks write
checkpoints, so a killed run resumes. Below the table, each claim of the paper is reported as holding, not holding
or undecided, by paired t-tests over the seeds, corrected for all tests of the study. Without a STUDY, the command
lists every table and figure of the five papers with its study, and winnow's own studies.

--data gives the data:

   NAME=MANIFEST,FEATURES  the paper's dataset NAME, with the paper's splits (winnow data import --protocol).
                           The paper's numbers are shown next to winnow's; other columns are left out.
   MANIFEST,FEATURES       any dataset instead of all datasets of the study. The claims are tested, but the paper's
                           numbers are not shown.
   own=MANIFEST,FEATURES   a manifest whose labels are used unchanged, for the studies that compare filters with the
                           true labels: prism-figure2, prism-figure3 (scores of right and wrong labels), prism-figure5
                           (concentrations of the classes). Their cells contain the numbers of each step.
   cub200@vit=…            for a row with another network

Rows that train networks start from the network that made the features, and need the images in the manifest's
folder, --root or ROOT (MANIFEST,FEATURES,ROOT). {seed} in FEATURES is replaced by the seed.

   winnow reproduce prism-table1 --data cars196=cars.csv,cars.features --seeds 5
   winnow reproduce prism-table1 --data birds.csv,birds.features --dry-run
   winnow reproduce prism-table2 --data birds.csv,birds.features,birds/ --finetune all --columns "sym 50"
   winnow reproduce prism-figure2 --data own=noisy.csv,birds.features --rows vMF --set filter.rate=0.4
`

func newReproduceCommand(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:        "reproduce",
		Usage:       "run the trainings of a table or figure of a paper, and compare the results",
		ArgsUsage:   "STUDY",
		Description: description,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "data", Usage: "`[NAME=]MANIFEST,FEATURES[,ROOT]`; may be repeated"},
			&cli.StringFlag{Name: "finetune",
				Usage: "also train the network in every row: all, or from `STAGE` on"},
			&cli.StringFlag{Name: "root", DefaultText: "the manifest's folder",
				Usage: "`DIR` (or .zip file) that the manifests' paths start from"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "reproduced",
				Usage: "`DIR` for the cells and the results"},
			&cli.StringFlag{Name: "seeds", DefaultText: "the study's",
				Usage: "`N` repetitions with seeds 1 to N, or a list such as 1,3,7-9"},
			&cli.StringSliceFlag{Name: "rows",
				Usage: "only rows whose name contains `TEXT`, or equals NAME if =NAME; comma-separated or repeated"},
			&cli.StringSliceFlag{Name: "columns",
				Usage: "only columns whose name contains `TEXT`, or equals NAME if =NAME; comma-separated or " +
					"repeated"},
			&cli.StringSliceFlag{Name: "set",
				Usage: "a setting as in winnow train, `[ROW:]KEY=VALUE`, for every training or for the rows whose " +
					"name contains ROW; may be repeated"},
			&cli.StringFlag{Name: "jobs", DefaultText: "one per thread; auto for networks on a GPU",
				Usage: "`N` cells at once, each with its share of --threads; auto: the fastest number, found by " +
					"timing some steps of networks"},
			&cli.BoolFlag{Name: "dry-run", Usage: "list the cells and an estimate of their time, and stop"},
		},
		Action: term.Action(readReproduce, call),
	}
}

func runReproduce(ctx context.Context, p *term.Program, o Options) error {
	if o.List {
		all, err := studies.Items()
		if err != nil {
			return err
		}
		return studies.WriteItems(p.Out, all)
	}
	o.Threads, o.Winnow, o.Host, o.Watch = p.Compute.Threads, term.Version(), p.Host(), p.Watch
	o.Runtime = func(threads int) (*ort.Runtime, error) { return p.OpenRuntimeThreads(threads) }
	if o.DryRun {
		plan, err := runner.Plan(ctx, o.Options)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(p.Out, plan)
		return err
	}
	results, err := runner.Run(ctx, o.Options)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(p.Out, results.Brief())
	return err
}
