// Package reproduce implements the "winnow reproduce" command.
package reproduce

import (
	"context"

	"github.com/urfave/cli/v2"

	"winnow/backbone/ort"
	"winnow/cmd/winnow/term"
	"winnow/papers/runner"
	"winnow/papers/studies"
)

// Options are the options of winnow reproduce. Without a study, the papers' tables and figures are listed.
type Options struct {
	runner.Options
	List, DryRun bool
}

// Command returns the "winnow reproduce" command.
func Command() *cli.Command { return newReproduceCommand(runReproduce) }

const description = `
A study is a table of rows (recipes) and columns (datasets with label noise). A cell is one training for one
seed: of a head on stored features or, with --finetune, of the whole network or its last stages. Finished cells
are kept in --out/cells, shared by all studies, and not run again. Networks keep checkpoints, so a killed run
resumes where it was. Below the table, each claim of the paper holds, does not hold, or is undecided, by
comparisons paired over the seeds (t-tests, corrected for all of the study). Without a STUDY, every table
and figure of the five papers is listed with the study that makes it, and winnow's own studies.

--data says what to run on:

   NAME=MANIFEST,FEATURES  the paper's dataset of that name, with the paper's splits (winnow data import --protocol).
                           The paper's numbers are shown next to ours; columns of other datasets are left out.
   MANIFEST,FEATURES       any dataset in place of all those of the study. The claims are tested, and the paper's
                           numbers are not shown.
   own=MANIFEST,FEATURES   a manifest whose labels are used as given, for the studies that compare filters with the
                           truth: prism-figure2, prism-figure3 (scores of right and wrong labels) and prism-figure5
                           (concentrations of the classes). Their cells hold the numbers of each step.
   cub200@vit=…            for a row that names a network

Rows that train networks train the one that made the features, and need the images, below the manifest's folder,
--root or MANIFEST,FEATURES,ROOT. {seed} in FEATURES stands for the seed.

   winnow reproduce prism-table1 --data cars196=cars.csv,cars.features --seeds 5
   winnow reproduce prism-table1 --data birds.csv,birds.features --dry-run
   winnow reproduce prism-table2 --data birds.csv,birds.features,birds/ --finetune all --columns "sym 50"
   winnow reproduce prism-figure2 --data own=noisy.csv,birds.features --rows vMF --set filter.rate=0.4
`

func newReproduceCommand(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:        "reproduce",
		Usage:       "run the trainings of a table or figure of a paper, and compare the numbers",
		ArgsUsage:   "STUDY",
		Description: description,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "data", Usage: "`[NAME=]MANIFEST,FEATURES[,ROOT]`; may be repeated"},
			&cli.StringFlag{Name: "finetune",
				Usage: "train the network too, in every row: all, or a `STAGE` to train from"},
			&cli.StringFlag{Name: "root", DefaultText: "the manifest's folder",
				Usage: "`DIR` (or .zip file) that the manifests' paths start from"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "reproduced",
				Usage: "`DIR` for the cells and the results"},
			&cli.StringFlag{Name: "seeds", DefaultText: "the study's",
				Usage: "`N` repetitions, seeds 1 to N, or a list as 1,3,7-9"},
			&cli.StringSliceFlag{Name: "rows",
				Usage: "only rows whose name contains `TEXT`, or is NAME for =NAME; a list with commas, or repeated"},
			&cli.StringSliceFlag{Name: "columns",
				Usage: "only columns whose name contains `TEXT`, or is NAME for =NAME; a list with commas, or " +
					"repeated"},
			&cli.StringSliceFlag{Name: "set",
				Usage: "a setting of every training, `[ROW:]KEY=VALUE` as in winnow train, or of the rows whose name " +
					"contains ROW; may be repeated"},
			&cli.StringFlag{Name: "jobs", DefaultText: "one a thread; of networks on a GPU auto",
				Usage: "`N` cells at once, each with its share of --threads, or auto: as many as run fastest, by " +
					"timing some steps of networks"},
			&cli.BoolFlag{Name: "dry-run", Usage: "list the cells and how long they will take, and stop"},
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
		return plan.Text(p.Out)
	}
	results, err := runner.Run(ctx, o.Options)
	if err != nil {
		return err
	}
	return results.Markdown(p.Out)
}
