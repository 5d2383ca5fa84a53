package reproduce

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/papers/runner"
	"winnow/papers/studies"
)

// glyphsData is the name under which --data knows the embedded dataset.
const glyphsData = "glyphs"

func read(c *cli.Context) (o Options, err error) {
	switch given := c.Args().Slice(); {
	case len(given) > 1:
		return o, term.Misused("reproduce: found %s, expected one study", strings.Join(given, " "))
	case c.Int("jobs") < 0:
		return o, term.Misused("--jobs: found %d, expected at least 1", c.Int("jobs"))
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
	o.Dir, o.Jobs = c.String("out"), c.Int("jobs")
	o.Rows, o.Columns, o.Set = c.StringSlice("rows"), c.StringSlice("columns"), c.StringSlice("set")
	if o.Seeds, err = readSeeds(c); err != nil {
		return o, err
	}
	return o, readData(c, &o)
}

// readSeeds reads --seeds: a number of repetitions or a list; none where it is not given.
func readSeeds(c *cli.Context) (seeds []uint64, err error) {
	text := c.String("seeds")
	if text == "" {
		return nil, nil
	}
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n <= 1000 {
		text = fmt.Sprintf("1-%d", n)
	}
	for part := range strings.SplitSeq(text, ",") {
		from, to, span := strings.Cut(strings.TrimSpace(part), "-")
		if !span {
			to = from
		}
		a, err1 := strconv.ParseUint(from, 10, 32)
		b, err2 := strconv.ParseUint(to, 10, 32)
		if err1 != nil || err2 != nil || a < 1 || b < a || b-a >= 1000 {
			return nil, term.Misused("--seeds: found %q, expected a number of repetitions, or a list as 1,3,7-9", c.String("seeds"))
		}
		for s := a; s <= b; s++ {
			seeds = append(seeds, s)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(seeds))), nil
}

// readData reads --data, --classes and --images.
func readData(c *cli.Context, o *Options) error {
	given, known := c.StringSlice("data"), o.Study.Datasets()
	if len(given) == 0 {
		return term.Misused("--data is missing: NAME=MANIFEST,FEATURES for %s; MANIFEST,FEATURES for any data in their place; or glyphs", strings.Join(known, ", "))
	}
	for _, flag := range []string{"classes", "images"} {
		if c.IsSet(flag) && given[0] != glyphsData {
			return term.Misused("--%s is about --data glyphs", flag)
		}
	}
	if len(given) == 1 && given[0] == glyphsData {
		o.Glyphs = &runner.Glyphs{Classes: c.Int("classes"), Images: c.Int("images")}
		return nil
	}
	for _, text := range given {
		name, files, byName := strings.Cut(text, "=")
		if !byName {
			name, files = "", text
		}
		manifest, store, both := strings.Cut(files, ",")
		store, root, _ := strings.Cut(store, ",")
		switch {
		case !byName && len(given) > 1:
			return term.Misused("--data %s stands in for every dataset: expected no other --data beside it", text)
		case byName && files == glyphsData:
			return term.Misused("--data %s: the drawn characters stand in for every dataset: --data glyphs", text)
		case slices.ContainsFunc(o.Data, func(s runner.Source) bool { return s.Name == name }):
			return term.Misused("--data: found %q twice", name)
		case byName && !slices.Contains(known, name):
			return term.Misused("--data: %s has no dataset %q, it has %s", o.Study.Name, name, strings.Join(known, ", "))
		case !both || manifest == "" || store == "":
			return term.Misused("--data: found %q, expected MANIFEST,FEATURES or MANIFEST,FEATURES,ROOT", files)
		}
		o.Data = append(o.Data, runner.Source{Name: name, Manifest: manifest, Features: store, Root: root})
	}
	return nil
}
