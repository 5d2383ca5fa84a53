// Package reproduce is winnow reproduce.
package reproduce

import (
	"context"

	"github.com/urfave/cli/v2"

	"winnow/backbone/ort"
	"winnow/cmd/winnow/term"
	"winnow/papers/inventory"
	"winnow/papers/runner"
	"winnow/papers/studies"
)

// Options are what winnow reproduce is asked. Without a study the studies are listed.
type Options struct {
	runner.Options
	List, Papers, DryRun, JSON bool // Papers: the list is of all tables and figures of the papers
}

// Command is winnow reproduce.
func Command() *cli.Command { return command(run) }

func command(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:      "reproduce",
		Usage:     "run the trainings of a table or figure of a paper, and compare the numbers",
		ArgsUsage: "STUDY",
		Description: "A study is a table of rows (recipes) and columns (datasets with label noise); a cell is one training of a head\n" +
			"on stored features, for one seed; with --finetune, of the whole network or its last stages. Cells that are done are\n" +
			"kept in --out/cells and not run again, by no study, and networks keep checkpoints: a killed run goes on where it was.\n" +
			"Below the table stands of each claim of the paper's whether it holds, does not, or\n" +
			"nothing can be said, paired over the seeds (t-tests from 5 seeds on). Without a STUDY the studies are listed.\n\n" +
			"--data says what to run on. NAME=MANIFEST,FEATURES is the paper's dataset of that name (with the paper's splits:\n" +
			"winnow data import --protocol), and its numbers are shown beside ours; columns of other datasets are left out.\n" +
			"MANIFEST,FEATURES stands in for every dataset of the study, and glyphs is the dataset that is part of winnow;\n" +
			"then the claims are tested and the paper's numbers are not shown. own=MANIFEST,FEATURES is a manifest whose labels are\n" +
			"taken as given, for the studies of what filters do beside the truth: prism-figure2, prism-figure3 (scores of right\n" +
			"and wrong labels) and prism-figure5 (concentrations of the classes); cells hold each step's numbers. What trains\n" +
			"networks looks at the images below the manifest's folder, --root or MANIFEST,FEATURES,ROOT; --model makes features\n" +
			"that are not named; {seed} in FEATURES and --model stands for the seed; cub200@vit=… is for a row that names a network.\n\n" +
			"   winnow reproduce prism-table1 --data cars196=cars.csv,cars.features --seeds 5\n" +
			"   winnow reproduce prism-table1 --data glyphs --dry-run\n" +
			"   winnow reproduce prism-table2 --data birds.csv --root birds/ --model mobilenetv2 --finetune all --columns \"sym 50\" --rows MCL --jobs 1\n" +
			"   winnow reproduce prism-figure2 --data own=noisy.csv,birds.features --rows vMF --set filter.rate=0.4",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "data", Usage: "`[NAME=]MANIFEST,FEATURES[,ROOT]`, or glyphs; may be repeated"},
			&cli.StringFlag{Name: "finetune",
				Usage: "train the network too, in every row: all, a `STAGE` to train from, or a pattern with * " +
					"over names of weights"},
			&cli.StringFlag{Name: "model", DefaultText: "the one that made the features",
				Usage: "`NAME` or ONNX file of the network that is trained, and that makes features where --data " +
					"names none"},
			&cli.StringFlag{Name: "root", DefaultText: "the manifest's folder",
				Usage: "`DIR` (or .zip file) that the manifests' paths start from"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "reproduced",
				Usage: "`DIR` for the cells and the results"},
			&cli.StringFlag{Name: "seeds", DefaultText: "the study's",
				Usage: "`N` repetitions, seeds 1 to N, or a list as 1,3,7-9"},
			&cli.StringSliceFlag{Name: "rows",
				Usage: "only rows whose name has `TEXT` in it, or is NAME where it says =NAME; may be repeated"},
			&cli.StringSliceFlag{Name: "columns",
				Usage: "only columns whose name has `TEXT` in it, or is NAME where it says =NAME; may be repeated"},
			&cli.StringSliceFlag{Name: "set",
				Usage: "one setting of every training, `[ROW:]KEY=VALUE` as of winnow train, or of the rows whose " +
					"name has ROW in it; may be repeated"},
			&cli.Float64SliceFlag{Name: "at", DefaultText: "the study's",
				Usage: "`SHARE` of the training, above 0 and up to 1, after which histograms and boxes are taken; " +
					"may be repeated"},
			&cli.IntFlag{Name: "jobs", DefaultText: "one a thread",
				Usage: "`N` cells at once, each with its share of --threads"},
			&cli.IntFlag{Name: "classes", DefaultText: "240", Usage: "--data glyphs: draw `N` characters"},
			&cli.IntFlag{Name: "images", DefaultText: "50", Usage: "--data glyphs: draw `N` images of each"},
			&cli.BoolFlag{Name: "list",
				Usage: "list every table and figure of the five papers: what makes it, of which data, how long"},
			&cli.BoolFlag{Name: "dry-run", Usage: "list the cells and how long they will take, and stop"},
			&cli.BoolFlag{Name: "json", Usage: "print as JSON"},
		},
		Action: term.Action(read, call),
	}
}

func run(ctx context.Context, p *term.Program, o Options) error {
	if o.List {
		return list(p, o)
	}
	o.Threads, o.Winnow, o.Host, o.Watch = p.Compute.Threads, term.Version(), p.Host(), p.Watch
	o.Runtime = func(threads int) (*ort.Runtime, error) { return p.OpenRuntimeThreads(threads) }
	if o.DryRun {
		plan, err := runner.Estimate(ctx, o.Options)
		switch {
		case err != nil:
			return err
		case o.JSON:
			return p.JSON(plan)
		}
		return plan.Text(p.Out)
	}
	results, err := runner.Run(ctx, o.Options)
	switch {
	case err != nil:
		return err
	case o.JSON:
		return results.JSON(p.Data)
	}
	return results.Text(p.Out)
}

// list prints what can be reproduced: the studies, or every table and figure of the papers.
func list(p *term.Program, o Options) error {
	if o.Papers {
		all, err := inventory.List()
		switch {
		case err != nil:
			return err
		case o.JSON:
			return p.JSON(all)
		}
		return inventory.WriteTable(p.Out, all)
	}
	all, err := studies.Summaries()
	switch {
	case err != nil:
		return err
	case o.JSON:
		return p.JSON(all)
	}
	return studies.WriteTable(p.Out, all)
}
