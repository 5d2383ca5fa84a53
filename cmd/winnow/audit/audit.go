// Package audit implements the "winnow audit" command, which finds label errors.
package audit

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/audit"
	"winnow/audit/crossfit"
	"winnow/audit/judges"
	"winnow/backbone"
	"winnow/cmd/winnow/progress"
	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/training"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/internal/budget"
	"winnow/report"
	"winnow/report/review"
	"winnow/run/folder"
	"winnow/run/inspect"
)

//go:embed help.txt
var helpText string

// Command returns the "winnow audit" command.
func Command() *cli.Command {
	o := Options{Files: inspect.Files{Top: examples}, Audit: inspect.Usual()}
	return &cli.Command{
		Name:        "audit",
		Usage:       "find label errors in photos, in stored features or in a run, and suggest better labels",
		ArgsUsage:   "PHOTOS | RUN",
		Description: helpText,
		Flags: slices.Concat([]cli.Flag{
			term.Flag(&o.In.Model, "model", "embed the images with the backbone `NAME` (winnow models list) or an "+
				"ONNX file",
				"the best installed backbone"),
			term.Flag(&o.splits, "split", "score only the `SPLITS` train, validation, test, …",
				"all images; with --features or --probs, train"),
			term.Flag(&o.Out, "out,o", "write all images, most suspect first, to `FILE`.csv; .json: all findings",
				"suspects.csv for photos, otherwise no file"),
			term.Flag(&o.Audit.Scorer, "scorer", "score labels with the scorer `NAME`: "+strings.Join(audit.Names(),
				", "),
				judges.Default+"; for a run, its filter"),
			term.Flag(&o.In.Probs, "probs", "score labels by class probabilities of any model, `FILE`.npy or .csv: a "+
				"row for each image of --labels, a column for each class; ideally predicted out of fold"),
			term.Flag(&o.Audit.Rate, "noise-rate", "flag this fraction `P` of the labels", "all that are likely "+
				"wrong"),
			term.Flag(&o.RateOnly, "rate-only", "with --features: only estimate how many labels are wrong, without "+
				"training"),
			term.Flag(&o.Top, "top", "print the `N` most suspect images"),
			&cli.StringFlag{Name: "max-mem", Value: "1GiB", Usage: budget.Usage},
			term.Flag(&o.JSON, "json", "print the result as JSON"),
			term.NamesFlag(),
			term.Flag(&o.In.Tuning.Weights, "finetune", "scorers combined and crossfit: also use networks fine-tuned "+
				"on the other folds, and how fast these learn each label; fine-tune the whole network, or from "+
				"`STAGE` on, as in "+
				"winnow train"),
			term.OneOf(term.Flag(&o.In.Tuning.Augment, "augment", "--finetune: augment images by the recipe `NAME`",
				"chosen by the images"), training.Augmentations()...),
			term.Flag(&o.In.Tuning.Minutes, "minutes", "--finetune: train the networks for at most about `N` minutes",
				fmt.Sprint(crossfit.Minutes)),
			term.Flag(&o.Audit.Seed, "seed", "seed `N` of the folds and of the resampling behind the interval"),
			term.Flag(&o.Decisions, "decisions", "use the decisions made in winnow studio, `FILE`.decisions.db: "+
				"checked labels are certain and never flagged again, and they improve the scores of the other labels"),
			term.Flag(&o.Clean, "clean", "write a corrected manifest to `FILE` or, if it ends in /, fixed class "+
				"folders to a new folder; by default, suggested labels replace flagged labels"),
			term.ByFlag("clean"),
			&cli.BoolFlag{Name: "drop", Usage: "--clean: leave out the images with flagged labels"},
			term.Flag(&o.Relabel, "relabel", "--clean: replace flagged labels by suggested labels (default)"),
			&cli.Float64Flag{Name: "share", Usage: "--clean: fix the most suspect share `P` of the scored images"},
			&cli.Float64Flag{Name: "precision", Usage: "--clean: fix as many labels as possible while the expected " +
				"share of wrong labels among them is at least `P`"},
		}, term.ColumnFlags(), term.Renamed(term.DataFlags, "manifest", "labels")),
		Action: term.CheckedAction(func(c *cli.Context) (Options, error) {
			err := o.readAudit(c)
			return o, err
		}, runAudit),
	}
}

// Photos audits labelled images with the default options. It writes the list of suspects to out and an HTML page next
// to it, and prints a summary that contains the next command.
func Photos(ctx context.Context, p *term.Program, in inspect.Input, out, next string) error {
	return runAudit(ctx, p, Options{In: in, Audit: inspect.Usual(), Files: inspect.Files{Out: out, Top: examples},
		Page: pageOf(out), Next: next})
}

func runAudit(ctx context.Context, p *term.Program, o Options) error {
	defer budget.Collect(o.Audit.MaxMem)()
	if o.RateOnly {
		return printRate(ctx, p, o)
	}
	end := func() {}
	h, watch := inspect.Host{Host: p.Host()}, p.Watch
	if !p.Quiet {
		line := progress.New(p.Err, "steps", time.Now)
		h.Stage = func(name string, _ time.Duration) {
			line.Stage(name, map[string]string{"extract": "images", "score": "steps"}[name])
		}
		h.Images = func() (func(backbone.Progress), func()) {
			return func(at backbone.Progress) { line.At(at.Done, at.Total, at.Resumed, "") }, line.End
		}
		watch = func(string) (func(done, total int), func()) {
			line.Stage("write", "images")
			return func(done, total int) { line.At(done, total, 0, "") }, line.End
		}
		h.Told = func(done, total int, where string) { line.At(done, total, 0, "  "+where) }
		end = line.End
	}
	a, err := judgeInput(ctx, p, o, h)
	end()
	if err != nil {
		return err
	}
	return printAudit(ctx, p, o, a, watch)
}

// printRate estimates how many labels are wrong, and prints the estimate.
func printRate(ctx context.Context, p *term.Program, o Options) error {
	rt, err := p.OpenRuntime()
	if err != nil {
		return err
	}
	defer rt.Close()
	r, err := inspect.EstimateRate(ctx, o.In, inspect.Host{Host: p.Host()})
	return p.Result(r, o.JSON, err)
}

// judgeInput audits the input.
func judgeInput(ctx context.Context, p *term.Program, o Options, h inspect.Host) (*inspect.Report, error) {
	manifest, root := cmp.Or(o.In.Images, o.In.Manifest), o.In.Root
	var err error
	if o.Run != "" {
		o.Open.Host = p.Host()
		if o.In.Run, err = folder.Open(ctx, o.Run, o.Open); err != nil {
			return nil, err
		}
		manifest, root = o.In.Run.ManifestFile, o.In.Run.ImageRoot()
	}
	if err := o.checkFiles(p, manifest); err != nil {
		return nil, err
	}
	if o.Decisions != "" {
		if o.In.Checks, err = review.Outcomes(ctx, o.Decisions, root, manifest); err != nil {
			return nil, err
		}
	}
	if o.In.Run != nil || o.In.Features != "" { // the audit multiplies matrices, which needs ONNX Runtime
		rt, err := p.OpenRuntime()
		if err != nil {
			return nil, err
		}
		defer rt.Close()
	}
	return inspect.Judge(ctx, o.In, o.Audit, h)
}

// printAudit writes the audit's files and prints a summary. watch shows the progress of writing images.
func printAudit(ctx context.Context, p *term.Program, o Options, a *inspect.Report,
	watch func(what string) (at func(done, total int), end func())) error {
	if o.Decisions != "" {
		o.Moving = func(to map[string]string) error { return review.FollowMoves(o.Decisions, to) }
	}
	if err := a.Save(ctx, o.Files, p.Note); err != nil {
		return err
	}
	next := cmp.Or(o.Next, o.reviewCommand(a.Store, a.Dataset()))
	a.Check = o.checkCommand(a.Source())
	if o.Page != "" {
		h := report.Host{Note: p.Note, Watch: watch, Winnow: term.Version()}
		if err := report.WriteAudited(ctx, h, a, o.Page, next); err != nil {
			return fmt.Errorf("audit: %s: %w", o.Page, err)
		}
	}
	if o.JSON {
		return a.WriteJSON(p.Data)
	}
	a.WriteText(p.Out, o.Top)
	if o.Page == "" {
		return nil
	}
	fmt.Fprintf(p.Out, "\nall images, most suspect first: %s\nreport: %s\nnext: %s\n", o.Out, o.Page, next)
	return nil
}

// reviewCommand returns the command that reviews the suspects. store is the folder of the features, and d the audited
// set: if its images lie in class folders, fixed ones can be written.
func (o Options) reviewCommand(store string, d *datasets.Dataset) string {
	images := o.In.Images.Clean()
	words := o.reviewWords(images)
	fixed := "fixed.csv"
	if form, err := datasets.FormOf(images); err == nil {
		fixed = "fixed" + review.Endings[form][0]
	}
	fixed = filepath.Join(filepath.Dir(o.Out), fixed)
	to := filepath.Join(filepath.Dir(o.Out), "fixed") + "/"
	if d.IsClassFolders() && (datasets.FolderOut{Path: to}).Check(images, d) == nil {
		fixed = to
	}
	words = append(words, "--features", store, "--out", fixed)
	return term.Quoted(words)
}

// checkCommand returns the command that reviews images drawn at random from the scored images.
func (o Options) checkCommand(images location.Source) string {
	before := ""
	if o.Out == "" {
		o.Out = "suspects.csv"
		before = "audit again with --out " + o.Out + ", then "
	}
	return before + term.Quoted(append(o.reviewWords(images), "--check"))
}

// reviewWords returns the first words of a review's command: the suspects, the manifest and the images.
func (o Options) reviewWords(images location.Source) []string {
	words := []string{"winnow", "studio", o.Out, "--manifest", images.String()}
	if !o.In.Root.IsZero() {
		words = append(words, "--root", o.In.Root.String())
	}
	if o.Decisions != "" {
		words = append(words, "--decisions", o.Decisions)
	}
	for flag, name := range term.Named(o.In.Columns) {
		words = append(words, flag, name)
	}
	return words
}
