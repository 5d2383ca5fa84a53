package audit

import (
	"cmp"
	"context"
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
	"winnow/internal/catalog"
	"winnow/report/review"
	"winnow/run/folder"
	"winnow/run/inspect"
)

// Options are the options of winnow audit.
type Options struct {
	In    inspect.Input
	Run   string         // folder of a run; "": none
	Open  folder.Options // of the run
	Audit inspect.Options
	Shard cluster.Shard

	inspect.Files
	Page      string // HTML file for images
	Decisions string // file of winnow review; "": none
	Next      string // the command that goes on with the suspects; "": winnow review
	JSON      bool
}

// read turns the flags into options.
func read(c *cli.Context) (o Options, err error) {
	o.Files = inspect.Files{
		Out: c.String("out"), Classes: c.String("classes"), Clean: c.String("clean"),
		Relabel: c.Bool("relabel") || c.IsSet("clean") && !c.Bool("drop"),
		Top:     c.Int("top"), Sheet: c.Bool("spreadsheet"),
	}
	o.JSON, o.Decisions, o.In.Names = c.Bool("json"), c.String("decisions"), c.String("names")
	compared := c.IsSet("neighbours")
	o.Audit = inspect.Options{
		IncludeEval: c.Bool("include-eval"), FitSample: c.Int("fit-sample"),
		Together: compared || c.IsSet("fit-sample") && c.Int("fit-sample") == 0,
		Tuning:   inspect.Tuning{Weights: c.String("finetune"), Augment: c.String("augment")},
		Options: audit.Options{
			Rounds: c.Int("seeds"), Scorer: c.String("scorer"), Neighbours: c.Int("neighbours"), Folds: c.Int("folds"),
			Copies: c.Float64("copies"), Seed: c.Uint64("seed"), Rate: term.Given(c, "noise-rate", c.Float64),
		},
	}
	if err := o.check(); err != nil {
		return o, err
	}
	if c.IsSet("copies") && o.Audit.Copies == 0 {
		return o, term.Misused("--copies: found 0, expected a cosine above 0, at most 1")
	}
	if n := o.Audit.Folds; c.IsSet("folds") && n < 2 {
		return o, term.Misused("--folds: found %d, expected 2 or more", n)
	}
	if o.Cut, err = readCut(c); err != nil {
		return o, err
	}
	if o.Shard, err = term.Shard(c); err != nil {
		return o, err
	}
	if c.IsSet("decisions") && (o.Decisions == "" || !o.Shard.Whole()) {
		return o, term.Misused("--decisions: name the file that winnow review keeps, without --shard: the decisions " +
			"are about all images")
	}
	if o.Audit.FitSample > 0 && compared {
		return o, term.Misused("--neighbours compares all images with each other: leave it out, or " +
			"--fit-sample")
	}
	if o.Audit.MaxMem, err = term.Size(c, "max-mem"); err != nil {
		return o, err
	}
	switch {
	case c.NArg() == 1 && !folder.Is(c.Args().First()):
		err = o.readImages(c)
	case c.NArg() == 0 && c.IsSet("manifest") && (c.IsSet("features") || c.IsSet("probs")):
		err = o.readStored(c)
	default:
		err = o.readRun(c)
	}
	if err != nil || o.Out == "" {
		return o, err
	}
	if format, err := suspects.FormatOf(o.Out); err != nil {
		return o, term.Misused("--out: %w", err)
	} else if o.Sheet && format != suspects.CSV {
		return o, term.Misused("--spreadsheet: found --out %s, expected a name that ends in .csv, not .%s", o.Out,
			suspects.Cleanlab)
	}
	if c.IsSet("finetune") {
		o.Audit.Tuning.Kept = beside(o.Out) + ".finetune"
	}
	return o, nil
}

// beside returns the path of a list of suspects without its extension: what belongs to the list has the same name.
func beside(out string) string { return strings.TrimSuffix(out, filepath.Ext(out)) }

// pageOf returns the file of the page of a list of suspects.
func pageOf(out string) string { return beside(out) + ".html" }

// readGiven returns the first of some flags that is set, "" if none is.
func readGiven(c *cli.Context, flags ...string) string {
	if i := slices.IndexFunc(flags, c.IsSet); i >= 0 {
		return flags[i]
	}
	return ""
}

// readRun reads the flags of a run.
func (o *Options) readRun(c *cli.Context) (err error) {
	switch {
	case readGiven(c, "fit-sample", "shard") != "":
		return term.Misused("--fit-sample and --shard judge by stored features: give --labels FILE and --features " +
			"DIR (winnow extract makes them), or images to --fit-sample")
	case readGiven(c, "path-column", "label-column", "split-column", "true-column") != "":
		return term.Misused("--path-column, --label-column, --split-column and --true-column are about a table: " +
			"name it")
	case readGiven(c, "model", "split") != "":
		return term.Misused("--model and --split are about images: name a folder of them, a .zip file or a manifest")
	case readGiven(c, "finetune", "augment", "seeds") != "":
		return term.Misused("--finetune, --augment and --seeds are about images: name them, or --labels FILE and " +
			"--features DIR, and no run")
	case c.NArg() == 0:
		return term.Misused("winnow audit takes images (a folder, a .zip file or a manifest) or one run folder, or " +
			"--labels FILE and --features DIR or --probs FILE")
	case c.IsSet("probs"):
		return term.Misused("--probs judges the labels of a manifest: give --labels FILE, and no run")
	case o.Audit.Scorer != "" && audit.Named(o.Audit.Scorer).Trains:
		return term.Misused("--scorer: %s trains for itself and judges stored features: give --labels and --features, "+
			"and no run", o.Audit.Scorer)
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

// readStored reads the flags of a manifest with stored features, probabilities or both.
func (o *Options) readStored(c *cli.Context) error {
	about := []string{"last", "root"} // flags of runs
	if c.IsSet("finetune") {
		about = about[:1]
	}
	switch flag := readGiven(c, about...); {
	case c.IsSet("model") && !c.IsSet("finetune") || c.IsSet("split"):
		return term.Misused("--model and --split are about images: name a folder of them, a .zip file or a manifest")
	case flag != "":
		return term.Misused("--%s is about runs: name one, or leave it out", flag)
	case c.IsSet("probs") && o.Audit.Scorer != "":
		return term.Misused("--scorer: --probs brings its scores: leave out one of them")
	}
	o.In = inspect.Input{
		Manifest: location.At(c.String("manifest")), Features: c.String("features"), View: c.String("view"),
		Probs: c.String("probs"),
		Root:  location.At(c.String("root")), Model: c.String("model"), Columns: term.Columns(c),
	}
	if _, err := term.RunOptions(c); err != nil { // --view
		return err
	}
	return o.checkScorer()
}

// readImages reads the flags of images. Their features and page are written next to the suspects.
func (o *Options) readImages(c *cli.Context) error {
	images := c.Args().First()
	if flag := readGiven(c, "manifest", "features", "probs", "view", "include-eval", "shard"); flag != "" {
		return term.Misused("--%s does not go with %s, whose images are all looked at and judged: for stored data "+
			"give --labels FILE with --features DIR or --probs FILE", flag, images)
	}
	if c.IsSet("last") {
		return term.Misused("--last is about runs: name one, or leave it out")
	}
	o.Out = cmp.Or(o.Out, "suspects.csv")
	o.Page = pageOf(o.Out)
	o.In = inspect.Input{Images: location.At(images), Root: location.At(c.String("root")), Model: c.String("model"),
		Features: beside(o.Out) + ".features", Columns: term.Columns(c)}
	if c.IsSet("split") {
		for name := range strings.SplitSeq(c.String("split"), ",") {
			split, err := datasets.ParseSplit(strings.TrimSpace(name))
			if err != nil {
				return term.Misused("--split: %w", err)
			}
			o.In.Splits = append(o.In.Splits, split)
		}
	}
	if !c.IsSet("top") {
		o.Top = examples
	}
	return o.checkScorer()
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

// check refuses numbers out of range.
func (o Options) check() error {
	if s := o.Audit.Copies; !(s >= 0 && s <= 1) {
		return term.Misused("--copies: found %v, expected a cosine above 0, at most 1", s)
	}
	if n := o.Audit.FitSample; n < 0 {
		return term.Misused("--fit-sample: found %d, expected 1 or more, or 0 for all together", n)
	}
	if n := o.Audit.Neighbours; n < 1 {
		return term.Misused("--neighbours: found %d, expected 1 or more", n)
	}
	if n := o.Audit.Rounds; n < 1 {
		return term.Misused("--seeds: found %d, expected 1 or more", n)
	}
	if o.Top < 0 {
		return term.Misused("--top: found %d, expected 0 or more", o.Top)
	}
	if p := o.Audit.Rate; p != nil && !(*p >= 0 && *p < 1) {
		return term.Misused("--noise-rate: found %v, expected a share from 0 to below 1", *p)
	}
	return nil
}

// readCut reads which images to clean, and refuses flags that do not go together.
func readCut(c *cli.Context) (cut audit.Cut, err error) {
	ways := 0
	for flag, by := range map[string]audit.By{"share": audit.Share, "below": audit.Below,
		"precision": audit.Precision} {
		if c.IsSet(flag) {
			ways++
			cut = audit.Cut{By: by, At: c.Float64(flag)}
		}
	}
	if !c.IsSet("clean") {
		if ways > 0 || c.Bool("drop") || c.Bool("relabel") || c.Bool("include-eval") {
			return cut, term.Misused("--drop, --relabel, --share, --below, --precision and --include-eval are about " +
				"--clean FILE")
		}
		return cut, nil
	}
	if c.Bool("drop") && c.Bool("relabel") {
		return cut, term.Misused("--clean: found --drop and --relabel, expected one of them")
	}
	if ways > 1 {
		return cut, term.Misused("--clean: expected one of --share, --below and --precision, found %d", ways)
	}
	for _, flag := range []string{"share", "precision"} {
		if p := c.Float64(flag); c.IsSet(flag) && !(p >= 0 && p <= 1) {
			return cut, term.Misused("--%s: found %v, expected 0 to 1", flag, p)
		}
	}
	return cut, nil
}

// document are the forms in which a mended copy can be nothing else.
var document = []datasets.Format{
	datasets.COCO, datasets.LabelStudio, datasets.FiftyOne,
}

// checkFiles refuses, before long reading, a feature store as the manifest, a name for the mended manifest
// that stands for another form than that of its source, two outputs to one file, and an output over the
// judged manifest, whose labels would be lost.
func (o Options) checkFiles(p *term.Program, manifest location.Source) error {
	if o.Run == "" {
		if _, err := features.Open(manifest.Path()); err == nil { // would be read as a folder of images
			return term.Misused("--labels: %s is a feature store, expected a manifest: --features %s --labels FILE",
				manifest, manifest)
		}
	}
	if datasets.IntoFolder(manifest, o.Clean) {
		if err := datasets.HasFiles(context.Background(), manifest); err != nil {
			return err
		}
	} else if o.Clean != "" {
		form, err := datasets.FormOf(manifest)
		if err != nil {
			return err
		}
		ending := strings.ToLower(filepath.Ext(o.Clean))
		lines := ending == ".jsonl" || ending == ".ndjson"
		if !slices.Contains(review.Endings[form], ending) && (slices.Contains(document, form) ||
			lines != (form == datasets.JSONL) && (lines || ending == ".csv")) {
			return term.Misused("--clean: %s is %s, whose cleaned copy ends in %s, found the ending %s", manifest, form,
				strings.Join(review.Endings[form], " or "), ending)
		}
	}
	var to []term.Target
	for _, f := range []term.Target{{Flag: "out", Path: o.Out}, {Flag: "classes", Path: o.Classes},
		{Flag: "clean", Path: o.Clean}, {Flag: "out", Path: o.Page}} {
		if f.Path != "" && !(f.Flag == "clean" && datasets.IntoFolder(manifest, f.Path)) {
			to = append(to, f)
		}
	}
	read := []string{manifest.Path()}
	if o.Decisions != "" {
		read = append(read, o.Decisions)
	}
	return p.CheckTargets(to, read)
}
