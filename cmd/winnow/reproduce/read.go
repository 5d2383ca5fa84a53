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
		return o, term.Misused("reproduce: found no study, expected one of those that winnow reproduce lists")
	}
	o.DryRun, o.JSON = c.Bool("dry-run"), c.Bool("json")
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
	o.Finetune, o.Model, o.Root = c.String("finetune"), c.String("model"), location.At(c.String("root"))
	if o.Seeds, err = grid.ParseSeeds(c.String("seeds")); err != nil {
		return o, term.Misused("--seeds: %w", err)
	}
	data := c.StringSlice("data")
	for _, flag := range []string{"classes", "images"} {
		if c.IsSet(flag) && len(data) > 0 && data[0] != glyphsData {
			return o, term.Misused("--%s is about --data glyphs", flag)
		}
	}
	if o.Data, err = parseData(data, o.Study); err != nil {
		return o, err
	}
	if o.Data == nil && !o.Study.Drawn() {
		o.Glyphs = &runner.Glyphs{Classes: c.Int("classes"), Images: c.Int("images")}
	}
	return o, checkDataOptions(o.Options)
}
