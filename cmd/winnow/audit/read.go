package audit

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/audit"
	"winnow/audit/suspects"
	"winnow/cluster"
	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/filters/noiserate"
	"winnow/internal/catalog"
	"winnow/report/review"
	"winnow/run/folder"
	"winnow/run/inspect"
)

// Options holds the parsed flags.
type Options struct {
	In    inspect.Input
	Run   string         // folder of a run; "": none
	Open  folder.Options // of the run
	Audit inspect.Options
	Shard cluster.Shard

	RateOnly bool     // estimate only how many labels are wrong
	Methods  []string // of that estimate

	inspect.Files
	Page      string // HTML file for images
	Decisions string // file of winnow review; "": none
	Next      string // the command that goes on with the suspects; "": winnow review
	JSON      bool
}

// readAudit turns the flags into options.
func readAudit(c *cli.Context) (o Options, err error) {
	what := readKind(c)
	if what == "" {
		return o, term.Misused("winnow audit takes images (a folder, a .zip file or a manifest) or one run " +
			"folder, or --labels FILE and --features DIR or --probs FILE")
	}
	if err := readConflicts(c, what); err != nil {
		return o, err
	}
	if err := readRanges(c); err != nil {
		return o, err
	}
	o = Options{JSON: c.Bool("json"), Decisions: c.String("decisions"), RateOnly: c.Bool("rate-only"),
		Files: inspect.Files{
			Out: c.String("out"), Classes: c.String("classes"), Clean: c.String("clean"),
			Relabel: c.Bool("relabel") || c.IsSet("clean") && !c.Bool("drop"),
			Top:     c.Int("top"), Sheet: c.Bool("spreadsheet"),
		},
		Audit: inspect.Options{
			IncludeEval: c.Bool("include-eval"), FitSample: c.Int("fit-sample"),
			Together: c.IsSet("neighbours") || c.IsSet("fit-sample") && c.Int("fit-sample") == 0,
			Tuning:   inspect.Tuning{Weights: c.String("finetune"), Augment: c.String("augment")},
			Options: audit.Options{
				Rounds: c.Int("seeds"), Scorer: c.String("scorer"), Neighbours: c.Int("neighbours"),
				Folds: c.Int("folds"), Copies: c.Float64("copies"), Seed: c.Uint64("seed"),
				Rate: term.Given(c, "noise-rate", c.Float64),
			},
		}}
	for flag, by := range map[string]audit.By{"share": audit.Share, "below": audit.Below,
		"precision": audit.Precision} {
		if c.IsSet(flag) {
			o.Cut = audit.Cut{By: by, At: c.Float64(flag)}
		}
	}
	if o.Shard, err = term.Shard(c); err != nil {
		return o, err
	}
	if o.Audit.MaxMem, err = term.Size(c, "max-mem"); err != nil {
		return o, err
	}
	if err := o.readInput(c, what); err != nil || o.Out == "" {
		return o, err
	}
	if format, err := suspects.FormatOf(o.Out); err != nil {
		return o, term.Misused("--out: %w", err)
	} else if o.Sheet && format != suspects.CSV {
		return o, term.Misused("--spreadsheet: found --out %s, expected a name that ends in .csv, not .%s", o.Out,
			suspects.Cleanlab)
	}
	if c.IsSet("finetune") {
		o.Audit.Tuning.Kept = stemOf(o.Out) + ".finetune"
	}
	return o, nil
}

// stemOf returns the path of a list of suspects without its extension: what belongs to the list has the same name.
func stemOf(out string) string { return strings.TrimSuffix(out, filepath.Ext(out)) }

// pageOf returns the file of the page of a list of suspects.
func pageOf(out string) string { return stemOf(out) + ".html" }

// What is audited.
const (
	images = "images"
	stored = "stored data"
	aRun   = "a run"
)

// readKind returns the kind of input that the command names, "" if it names nothing.
func readKind(c *cli.Context) string {
	switch {
	case c.NArg() == 1 && !folder.Is(c.Args().First()):
		return images
	case c.NArg() > 0:
		return aRun
	case c.IsSet("manifest") && (c.IsSet("features") || c.IsSet("probs")):
		return stored
	}
	return ""
}

// An exclusion refuses flags for some inputs, or next to other flags.
type exclusion struct {
	flags  string // names
	inputs []string
	with   string // names of other flags
	unless string // a flag that allows them
	advice string
}

// exclusions lists the flags that do not go together; the first that applies is reported.
var exclusions = []exclusion{
	{flags: "rate-only", inputs: []string{images, aRun}, advice: "give --labels FILE and --features DIR"},
	{flags: "out classes clean spreadsheet decisions probs finetune augment seeds folds neighbours copies noise-rate " +
		"names fit-sample shard", with: "rate-only", advice: "it scores no single label; an audit with --fit-sample " +
		"also prints the noise rate"},
	{flags: "manifest features probs view include-eval shard", inputs: []string{images},
		advice: "for stored data give --labels FILE with --features DIR or --probs FILE"},
	{flags: "last", inputs: []string{images, stored}, advice: "name a run"},
	{flags: "root model", inputs: []string{stored}, unless: "finetune", advice: "it reads no images"},
	{flags: "split", inputs: []string{stored, aRun}, advice: "name a folder of images, a .zip file or a manifest"},
	{flags: "model finetune augment seeds", inputs: []string{aRun}, advice: "name images, or give --labels FILE and " +
		"--features DIR"},
	{flags: "fit-sample shard probs", inputs: []string{aRun}, advice: "give --labels FILE and --features DIR, which " +
		"winnow extract writes"},
	{flags: "path-column label-column split-column true-column", inputs: []string{aRun}, advice: "name a table"},
	{flags: "neighbours", with: "fit-sample", advice: "it compares all images with each other"},
	{flags: "scorer", with: "probs", advice: "probabilities are the scores"},
	{flags: "decisions", with: "shard", advice: "decisions are about all images"},
	{flags: "drop relabel share below precision include-eval", inputs: []string{images, stored, aRun},
		unless: "clean", advice: "it needs --clean FILE"},
	{flags: "drop", with: "relabel", advice: "choose one"},
	{flags: "share", with: "below precision", advice: "choose one"},
	{flags: "below", with: "precision", advice: "choose one"},
}

// readConflicts refuses flags that do not go with the input, or with each other.
func readConflicts(c *cli.Context, input string) error {
	given := func(flag string) bool {
		return c.IsSet(flag) && (flag != "fit-sample" || c.Int(flag) != 0) // 0: no sample
	}
	for _, e := range exclusions {
		if e.unless != "" && c.IsSet(e.unless) {
			continue
		}
		with := ""
		if slices.Contains(e.inputs, input) {
			with = input
		} else if others := strings.Fields(e.with); slices.ContainsFunc(others, given) {
			with = "--" + others[slices.IndexFunc(others, given)]
		}
		flags := strings.Fields(e.flags)
		if at := slices.IndexFunc(flags, given); at >= 0 && with != "" {
			return term.Misused("--%s does not go with %s: %s", flags[at], with, e.advice)
		}
	}
	return nil
}

// readRanges refuses values out of range.
func readRanges(c *cli.Context) error {
	share := func(flag string) bool { p := c.Float64(flag); return p >= 0 && p <= 1 }
	for _, r := range []struct {
		flag string
		ok   bool
		want string
	}{
		{"copies", share("copies") && c.Float64("copies") > 0, "a cosine above 0, at most 1"},
		{"folds", c.Int("folds") >= 2, "2 or more"},
		{"fit-sample", c.Int("fit-sample") >= 0, "1 or more, or 0 for all together"},
		{"neighbours", c.Int("neighbours") >= 1, "1 or more"},
		{"seeds", c.Int("seeds") >= 1, "1 or more"},
		{"top", c.Int("top") >= 0, "0 or more"},
		{"noise-rate", share("noise-rate") && c.Float64("noise-rate") < 1, "a share from 0 to below 1"},
		{"share", share("share"), "0 to 1"},
		{"precision", share("precision"), "0 to 1"},
		{"decisions", c.String("decisions") != "", "the file that winnow review keeps"},
	} {
		if c.IsSet(r.flag) && !r.ok {
			return term.Misused("--%s: found %v, expected %s", r.flag, c.Value(r.flag), r.want)
		}
	}
	return nil
}

// readInput reads what is audited. The features and the page of images are written next to the suspects.
func (o *Options) readInput(c *cli.Context, what string) (err error) {
	o.In.Names = c.String("names")
	if what == aRun {
		if name := o.Audit.Scorer; name != "" && audit.Named(name).Trains {
			return term.Misused("--scorer: %s trains for itself and judges stored features: give --labels and "+
				"--features, and no run", name)
		}
		if o.Run, err = term.RunArgument(c); err != nil {
			return err
		}
		splits := []string{datasets.Train, datasets.Validation}
		if o.Audit.IncludeEval {
			splits = nil // all
		}
		o.Open, err = term.RunOptions(c, splits...)
		return err
	}
	if _, err := term.RunOptions(c); err != nil { // --view
		return err
	}
	o.In = inspect.Input{Root: location.At(c.String("root")), Model: c.String("model"), Columns: term.Columns(c),
		Names: o.In.Names}
	if what == stored {
		o.In.Manifest, o.In.Features = location.At(c.String("manifest")), c.String("features")
		o.In.View, o.In.Probs = c.String("view"), c.String("probs")
	} else {
		o.Out = cmp.Or(o.Out, "suspects.csv")
		o.Page = pageOf(o.Out)
		o.In.Images, o.In.Features = location.At(c.Args().First()), stemOf(o.Out)+".features"
		if !c.IsSet("top") {
			o.Top = examples
		}
		if c.IsSet("split") {
			for name := range strings.SplitSeq(c.String("split"), ",") {
				split, err := datasets.ParseSplit(strings.TrimSpace(name))
				if err != nil {
					return term.Misused("--split: %w", err)
				}
				o.In.Splits = append(o.In.Splits, split)
			}
		}
	}
	if o.RateOnly {
		return o.readMethods(c)
	}
	return o.checkScorer()
}

// readMethods reads the ways of an audit of the rate alone.
func (o *Options) readMethods(c *cli.Context) error {
	if o.Methods = []string{noiserate.Auto}; o.Audit.Scorer != "" {
		o.Methods[0] = o.Audit.Scorer
	}
	all := noiserate.Methods()
	if o.Methods[0] == "all" {
		o.Methods = all
	}
	if m := o.Methods[0]; !slices.Contains(all, m) {
		return term.Misused("--scorer: %q does not estimate the rate alone%s, expected %s or all", m,
			catalog.Ask(m, all), strings.Join(all, ", "))
	}
	if !c.IsSet("top") {
		o.Top = 5
	}
	return nil
}

// checkScorer refuses scorers that cannot judge features.
func (o *Options) checkScorer() error {
	if name, all := o.Audit.Scorer, audit.Alone(); name != "" && !slices.Contains(all, audit.Named(name).Name) {
		if other := audit.Instead(name); other != "" {
			return term.Misused("--scorer: %q is gone, expected %q in its place", name, other)
		}
		return term.Misused("--scorer: %q cannot judge stored features%s, expected one of %s", name,
			catalog.Ask(name, all), strings.Join(all, ", "))
	}
	return nil
}

// examples is the number of suspects in a summary.
const examples = 3

// checkFiles refuses, before long reading, a feature store as the manifest, a name for the corrected manifest
// that stands for another form than that of its source, two outputs to one file, and an output over the
// judged manifest, whose labels would be lost.
func (o Options) checkFiles(p *term.Program, manifest location.Source) error {
	if o.Run == "" {
		if _, err := features.Open(manifest.Path()); err == nil { // would be read as a folder of images
			return term.Misused("--labels: %s is a feature store, expected a manifest: --features %s --labels FILE",
				manifest, manifest)
		}
	}
	if o.Clean != "" {
		form, err := datasets.FormOf(manifest)
		if err != nil {
			return err
		}
		ending := strings.ToLower(filepath.Ext(o.Clean))
		lines := ending == ".jsonl" || ending == ".ndjson"
		if !slices.Contains(review.Endings[form], ending) && (form == datasets.COCO ||
			lines != (form == datasets.JSONL) && (lines || ending == ".csv")) {
			return term.Misused("--clean: %s is %s, whose cleaned copy ends in %s, found the ending %s", manifest, form,
				strings.Join(review.Endings[form], " or "), ending)
		}
	}
	var to []term.Target
	for _, f := range []term.Target{{Flag: "out", Path: o.Out}, {Flag: "classes", Path: o.Classes},
		{Flag: "clean", Path: o.Clean}, {Flag: "out", Path: o.Page}} {
		if f.Path != "" {
			to = append(to, f)
		}
	}
	read := []string{manifest.Path()}
	if o.Decisions != "" {
		read = append(read, o.Decisions)
	}
	return p.CheckTargets(to, read)
}
