package reproduce

import (
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets/location"
	"winnow/papers/runner"
	"winnow/papers/studies"
	"winnow/run/grid"
)

func readReproduce(c *cli.Context) (o Options, err error) {
	switch given := c.Args().Slice(); {
	case len(given) > 1:
		return o, term.Misused("reproduce: found %s, expected one study", strings.Join(given, " "))
	case len(given) == 0 && (c.IsSet("data") || c.Bool("dry-run")):
		return o, term.Misused("reproduce: found no study, expected a study that winnow reproduce lists")
	}
	o.DryRun = c.Bool("dry-run")
	if o.List = c.NArg() == 0; o.List {
		return o, nil
	}
	if o.Study, err = studies.Find(c.Args().First()); err != nil {
		return o, term.AsMisuse(err)
	}
	o.Dir = c.String("out")
	if o.Jobs, err = grid.ParseJobs(c.String("jobs")); err != nil {
		return o, term.Misused("--jobs: %w", err)
	}
	o.Rows, o.Columns, o.Set = c.StringSlice("rows"), c.StringSlice("columns"), c.StringSlice("set")
	o.Finetune, o.Root = c.String("finetune"), location.At(c.String("root"))
	if o.Seeds, err = grid.ParseSeeds(c.String("seeds")); err != nil {
		return o, term.Misused("--seeds: %w", err)
	}
	if o.Data, err = parseData(c.StringSlice("data"), o.Study); err != nil {
		return o, err
	}
	switch {
	case o.Study.Drawn() && (o.Finetune != "" || !o.Root.IsZero()):
		err = term.Misused("--finetune, --root: %s draws its own data: expected neither flag", o.Study.Name)
	case o.Finetune != "" && runner.Finetunes(&o.Study):
		err = term.Misused("--finetune: %s defines what each of its rows trains: expected no --finetune",
			o.Study.Name)
	}
	return o, err
}
