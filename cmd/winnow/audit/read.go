package audit

import (
	"cmp"
	"math"
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
	Open  folder.Options // options of reading the run
	Audit inspect.Options

	inspect.Files
	Page      string // HTML file with the images; "": none
	Decisions string // decisions file of winnow studio; "": none
	Next      string // the command to run next; "": winnow studio
	JSON      bool
	RateOnly  bool // only estimate how many labels are wrong

	splits string // splits to score, separated by commas
}

// readAudit completes the options from the flags and arguments, and returns an error for misuse.
func (o *Options) readAudit(c *cli.Context) error {
	what := readKind(c)
	if what == "" {
		return term.Misused("winnow audit: found no input, expected images (a folder, a .zip file or a manifest), a " +
			"run folder, or --labels FILE with --features DIR or --probs FILE")
	}
	if err := cmp.Or(readConflicts(c, what), readRanges(c)); err != nil {
		return err
	}
	var err error
	if o.Audit.MaxMem, err = term.Size(c, "max-mem"); err != nil {
		return err
	}
	o.By = c.String("by")
	o.Relabel = o.Relabel || c.IsSet("clean") && !c.Bool("drop")
	for flag, by := range map[string]audit.By{"share": audit.Share, "precision": audit.Precision} {
		if c.IsSet(flag) {
			o.Cut = audit.Cut{By: by, At: c.Float64(flag)}
		}
	}
	if err := o.readInput(c, what); err != nil || o.Out == "" {
		return err
	}
	if _, err := suspects.FormatOf(o.Out); err != nil {
		return term.Misused("--out: %w", err)
	}
	return nil
}

// stemOf returns the path of a list of suspects without its extension. The other files of an audit start with it.
func stemOf(out string) string { return strings.TrimSuffix(out, filepath.Ext(out)) }

// pageOf returns the path of the HTML page next to a list of suspects.
func pageOf(out string) string { return stemOf(out) + ".html" }

// Kinds of input, as named in messages.
const (
	images = "images"
	stored = "stored data"
	aRun   = "a run"
)

// readKind returns the kind of input of a command line, or "" if no input is given. With stored features or
// probabilities, the argument may stand for --manifest.
func readKind(c *cli.Context) string {
	switch {
	case c.NArg() == 1 && !folder.Is(c.Args().First()) && !c.IsSet("manifest") &&
		(c.IsSet("features") || c.IsSet("probs")) && c.Set("manifest", c.Args().First()) == nil:
		return stored
	case c.NArg() == 1 && !folder.Is(c.Args().First()):
		return images
	case c.NArg() > 0:
		return aRun
	case c.IsSet("manifest") && (c.IsSet("features") || c.IsSet("probs")):
		return stored
	}
	return ""
}

// An exclusion forbids flags for some inputs, or together with another flag.
type exclusion struct {
	flags  string // names, separated by spaces
	inputs []string
	with   string // another flag
	unless string // flag that lifts the exclusion
	advice string // with unless: what the flag needs
}

// exclusions lists all exclusions. The first that applies is reported.
var exclusions = []exclusion{
	{flags: "rate-only", inputs: []string{images, aRun}, advice: "give --labels FILE and --features DIR"},
	{flags: "out clean decisions probs noise-rate names finetune top scorer seed", with: "rate-only",
		advice: "--rate-only does not score single labels"},
	{flags: "manifest features probs view", inputs: []string{images},
		advice: "for stored data, give --labels FILE with --features DIR or --probs FILE"},
	{flags: "last", inputs: []string{images, stored}, advice: "give a run folder"},
	{flags: "root model", inputs: []string{stored}, unless: "finetune", advice: "needs --finetune, which reads images"},
	{flags: "augment minutes", inputs: []string{images, stored, aRun}, unless: "finetune", advice: "needs --finetune"},
	{flags: "finetune", with: "probs", advice: "probabilities are the scores"},
	{flags: "split model finetune probs path-column label-column split-column true-column", inputs: []string{aRun},
		advice: "give images, or --labels FILE and --features DIR"},
	{flags: "scorer", with: "probs", advice: "probabilities are the scores"},
	{flags: "drop relabel share precision by", inputs: []string{images, stored, aRun}, unless: "clean",
		advice: "needs --clean FILE"},
	{flags: "drop", with: "relabel", advice: "choose one"},
	{flags: "share", with: "precision", advice: "choose one"},
}

// readConflicts returns an error for flags that cannot be used with the input or together.
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
			if e.unless != "" {
				return term.Misused("--%s %s", flags[at], e.advice)
			}
			return term.Misused("--%s cannot be used with %s: %s", flags[at], with, e.advice)
		}
	}
	return nil
}

// readRanges returns an error for values out of range.
func readRanges(c *cli.Context) error {
	for _, flag := range []string{"noise-rate", "share", "precision"} {
		if p := c.Float64(flag); c.IsSet(flag) && !(p >= 0 && p <= 1 && (p < 1 || flag != "noise-rate")) {
			return term.Misused("--%s: found %v, expected a number from 0 to 1", flag, p)
		}
	}
	if c.Int("top") < 0 {
		return term.Misused("--top: found %d, expected 0 or more", c.Int("top"))
	}
	if m := c.Float64("minutes"); c.IsSet("minutes") && !(m > 0 && m < math.Inf(1)) {
		return term.Misused("--minutes: found %v, expected a number above 0", m)
	}
	return nil
}

// readInput reads the input of the audit. For images, the features and the page are written next to the suspects.
func (o *Options) readInput(c *cli.Context, what string) (err error) {
	o.In.Names, o.In.Columns = c.String("names"), term.Columns(c)
	if o.Open, err = training.RunOptions(c, datasets.Train, datasets.Validation); err != nil {
		return err
	}
	switch what {
	case aRun:
		o.Run, err = term.RunArgument(c)
		return err
	case stored:
		o.In.Manifest, o.In.Features, o.In.View = o.Open.Manifest, o.Open.Features, o.Open.View
	default:
		o.Out = cmp.Or(o.Out, "suspects.csv")
		o.Page = pageOf(o.Out)
		o.In.Images, o.In.Features = location.At(c.Args().First()), stemOf(o.Out)+".features"
	}
	o.In.Root = o.Open.Root
	if c.IsSet("finetune") && o.Out != "" {
		o.In.Tuning.Kept = stemOf(o.Out) + ".finetune"
	}
	for name := range strings.FieldsFuncSeq(o.splits, func(r rune) bool { return r == ',' || r == ' ' }) {
		split, err := datasets.ParseSplit(name)
		if err != nil {
			return term.Misused("--split: %w", err)
		}
		o.In.Splits = append(o.In.Splits, split)
	}
	if name := o.Audit.Scorer; name != "" && !slices.Contains(audit.Names(), audit.Named(name).Name) {
		return term.Misused("--scorer: %q cannot score stored features%s, expected one of %s", name,
			catalog.Ask(name, audit.Names()), strings.Join(audit.Names(), ", "))
	}
	return nil
}

// examples is the number of suspects printed in the summary.
const examples = 3

// checkFiles checks the output files before the audit starts. It returns an error if the extension of the corrected
// manifest is that of another format than the manifest's, if two outputs have the same path, or if an output would
// overwrite the audited manifest.
func (o Options) checkFiles(p *term.Program, manifest location.Source) error {
	if o.By != "" && o.Clean == "" {
		return term.Misused("--by needs --clean FOLDER/")
	}
	if err := (review.Files{Out: o.Clean, By: o.By, Manifest: manifest}).CheckOut(nil); err != nil {
		return err
	}
	var to []term.Target
	for _, f := range []term.Target{{Flag: "out", Path: o.Out}, {Flag: "clean", Path: o.Clean},
		{Flag: "out", Path: o.Page}} {
		if f.Path != "" && !(f.Flag == "clean" && datasets.IsFolderOut(o.Clean)) {
			to = append(to, f)
		}
	}
	read := []string{manifest.Path()}
	if o.Decisions != "" {
		read = append(read, o.Decisions)
	}
	return p.CheckTargets(to, read)
}
