package audit

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/audit"
	"winnow/audit/suspects"
	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/training"
	"winnow/datasets"
	"winnow/datasets/location"
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

	inspect.Files
	Page      string // HTML file for images
	Decisions string // file of winnow review; "": none
	Next      string // the command that goes on with the suspects; "": winnow review
	JSON      bool
	RateOnly  bool // estimate only how many labels are wrong
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
		Files: inspect.Files{Out: c.String("out"), Clean: c.String("clean"), Top: c.Int("top"),
			Relabel: c.Bool("relabel") || c.IsSet("clean") && !c.Bool("drop")},
		Audit: inspect.Options{Scorer: c.String("scorer"), Seed: c.Uint64("seed"),
			Rate: term.Given(c, "noise-rate", c.Float64)},
	}
	for flag, by := range map[string]audit.By{"share": audit.Share, "precision": audit.Precision} {
		if c.IsSet(flag) {
			o.Cut = audit.Cut{By: by, At: c.Float64(flag)}
		}
	}
	if o.Audit.MaxMem, err = term.Size(c, "max-mem"); err != nil {
		return o, err
	}
	if err := o.readInput(c, what); err != nil || o.Out == "" {
		return o, err
	}
	if _, err := suspects.FormatOf(o.Out); err != nil {
		return o, term.Misused("--out: %w", err)
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
	with   string // another flag
	unless string // a flag that allows them
	advice string
}

// exclusions lists the flags that do not go together; the first that applies is reported.
var exclusions = []exclusion{
	{flags: "rate-only", inputs: []string{images, aRun}, advice: "give --labels FILE and --features DIR"},
	{flags: "out clean decisions probs noise-rate names finetune top scorer seed", with: "rate-only",
		advice: "it scores no single label"},
	{flags: "manifest features probs view", inputs: []string{images},
		advice: "for stored data give --labels FILE with --features DIR or --probs FILE"},
	{flags: "last", inputs: []string{images, stored}, advice: "name a run"},
	{flags: "root model", inputs: []string{stored}, unless: "finetune", advice: "it reads no images"},
	{flags: "augment", inputs: []string{images, stored, aRun}, unless: "finetune", advice: "it needs --finetune"},
	{flags: "finetune", with: "probs", advice: "probabilities are the scores"},
	{flags: "split model finetune probs path-column label-column split-column true-column", inputs: []string{aRun},
		advice: "name images, or give --labels FILE and --features DIR"},
	{flags: "scorer", with: "probs", advice: "probabilities are the scores"},
	{flags: "drop relabel share precision", inputs: []string{images, stored, aRun}, unless: "clean",
		advice: "it needs --clean FILE"},
	{flags: "drop", with: "relabel", advice: "choose one"},
	{flags: "share", with: "precision", advice: "choose one"},
}

// readConflicts refuses flags that do not go with the input, or with each other.
func readConflicts(c *cli.Context, input string) error {
	for _, e := range exclusions {
		if e.unless != "" && c.IsSet(e.unless) {
			continue
		}
		with := ""
		if slices.Contains(e.inputs, input) {
			with = input
		} else if e.with != "" && c.IsSet(e.with) {
			with = "--" + e.with
		}
		flags := strings.Fields(e.flags)
		if at := slices.IndexFunc(flags, c.IsSet); at >= 0 && with != "" {
			return term.Misused("--%s does not go with %s: %s", flags[at], with, e.advice)
		}
	}
	return nil
}

// readRanges refuses values out of range.
func readRanges(c *cli.Context) error {
	for _, flag := range []string{"noise-rate", "share", "precision"} {
		if p := c.Float64(flag); c.IsSet(flag) && !(p >= 0 && p <= 1 && (p < 1 || flag != "noise-rate")) {
			return term.Misused("--%s: found %v, expected a share from 0 to 1", flag, p)
		}
	}
	if c.Int("top") < 0 {
		return term.Misused("--top: found %d, expected 0 or more", c.Int("top"))
	}
	return nil
}

// readInput reads what is audited. The features and the page of images are written next to the suspects.
func (o *Options) readInput(c *cli.Context, what string) (err error) {
	o.In.Names = c.String("names")
	if what == aRun {
		if o.Run, err = term.RunArgument(c); err != nil {
			return err
		}
		o.Open, err = training.RunOptions(c, datasets.Train, datasets.Validation)
		return err
	}
	if _, err := training.RunOptions(c); err != nil { // --view
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
	}
	o.In.Tuning = inspect.Tuning{Weights: c.String("finetune"), Augment: c.String("augment")}
	if c.IsSet("finetune") && o.Out != "" {
		o.In.Tuning.Kept = stemOf(o.Out) + ".finetune"
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
	if name := o.Audit.Scorer; name != "" && !slices.Contains(audit.Names(), audit.Named(name).Name) {
		return term.Misused("--scorer: %q cannot judge stored features%s, expected one of %s", name,
			catalog.Ask(name, audit.Names()), strings.Join(audit.Names(), ", "))
	}
	return nil
}

// examples is the number of suspects in a summary.
const examples = 3

// checkFiles refuses, before long reading, a name for the corrected manifest
// that stands for another form than that of its source, two outputs to one file, and an output over the
// judged manifest, whose labels would be lost.
func (o Options) checkFiles(p *term.Program, manifest location.Source) error {
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
	for _, f := range []term.Target{{Flag: "out", Path: o.Out}, {Flag: "clean", Path: o.Clean},
		{Flag: "out", Path: o.Page}} {
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
