// Package audit is the command winnow audit.
package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/audit"
	"winnow/audit/findings"
	"winnow/audit/judges"
	"winnow/backbone"
	"winnow/cmd/winnow/progress"
	"winnow/cmd/winnow/term"
	"winnow/internal/budget"
	"winnow/parts"
	"winnow/report"
	"winnow/run/auditing"
	"winnow/run/folder"
)

// Command returns winnow audit.
func Command() *cli.Command { return command(run) }

func command(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:        "audit",
		Usage:       "say which labels of a folder of images, or of a run, look wrong, with a suggested label",
		ArgsUsage:   "PHOTOS | RUN",
		Description: help(),
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "model", DefaultText: "the best known that is installed", Usage: "look at images by the backbone `NAME` of winnow models list, or an ONNX file; several, side by side: A,B"},
			&cli.StringFlag{Name: "split", DefaultText: "all", Usage: "of a folder or manifest of images judge the `SPLITS` train, validation, test, … alone"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, DefaultText: "of images suspects.csv", Usage: "write all images, most suspect first, to `FILE`.csv, .jsonl, .parquet, or all that is found to .json"},
			&cli.StringFlag{Name: "scorer", DefaultText: "of features " + judges.Default + ", else the run's", Usage: "judge by the scorer `NAME`: " + strings.Join(auditing.Scorers(), ", ")},
			&cli.StringFlag{Name: "probs", Usage: "judge by class probabilities of any model, `FILE`.npy, .csv or .parquet: a row an image of --labels, a column a class; best out of fold"},
			&cli.Float64Flag{Name: "noise-rate", DefaultText: "the run's", Usage: "share `P` of the labels to call wrong"},
			&cli.IntFlag{Name: "top", Value: 20, DefaultText: "20, of images 10", Usage: "print the `N` most suspect"},
			&cli.StringFlag{Name: "max-mem", Value: "1GiB", Usage: budget.Usage},
			&cli.BoolFlag{Name: "json", Usage: "print everything as JSON"},
			&cli.BoolFlag{Name: "spreadsheet", Usage: "--out and --classes: write labels and paths so that no spreadsheet takes one for a formula"},
			&cli.StringFlag{Name: "classes", Usage: "write what is known of each class to `FILE`.csv"},
			&cli.Float64Flag{Name: "copies", Value: findings.CopyBound, Usage: "cosine `S` from which two images are near copies"},
			&cli.IntFlag{Name: "neighbours", Value: 10, Usage: "scorers knn and, the image itself counted, simifeat-v and simifeat-r: `K` images that vote"},
			&cli.IntFlag{Name: "folds", Value: 5, Usage: "scorers combined, self-confidence, margin, confident and crossfit: `K` parts of which one is judged by the others"},
			&cli.IntFlag{Name: "seeds", Value: 1, Usage: "scorers combined and crossfit: judge by the mean of `N` partings into folds, each with a seed of its own"},
			&cli.StringFlag{Name: "finetune", Usage: "scorers combined and crossfit: judge each fold by a network fine-tuned on the others, too: all of it or from `STAGE` on, as winnow train has it"},
			&cli.StringFlag{Name: "augment", DefaultText: "by the images", Usage: "--finetune: change images by the recipe `NAME`, as winnow train has it"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed `N` of the folds and of the resampling behind the interval"},
			&cli.StringFlag{Name: "clean", Usage: "write a mended manifest to `FILE`, by default of the images called wrong"},
			&cli.BoolFlag{Name: "drop", Usage: "--clean: leave them out"},
			&cli.BoolFlag{Name: "relabel", Usage: "--clean: give them the suggested label"},
			&cli.Float64Flag{Name: "share", Usage: "--clean: the most suspect share `P` of the judged images"},
			&cli.Float64Flag{Name: "below", Usage: "--clean: images with a score below `SCORE`"},
			&cli.Float64Flag{Name: "precision", Usage: "--clean: as many as keep the expected share of wrong labels among them at `P`, by the scores"},
			&cli.IntFlag{Name: "fit-sample", DefaultText: fmt.Sprintf("all, or %d of more than a million", audit.Fitted), Usage: "with images or --features, scorers " + strings.Join(audit.Dealt(), ", ") + ": fit to `N` images drawn by --seed, beside sums over all, so that many images need little memory"},
			term.ShardFlag("images"),
			&cli.BoolFlag{Name: "include-eval", Usage: "--clean: judge and clean validation and test images too"},
		}, term.Renamed(term.DataFlags, "manifest", "labels")...),
		Action: term.Action(read, call),
	}
}

func run(ctx context.Context, p *term.Program, o Options) error {
	defer budget.Collect(o.Audit.MaxMem)()
	o.Audit.Note = p.Note
	end := func() {}
	o.Images.Host, o.Audit.Tuning.Host, o.watch = p.Host(), p.Host(), p.Watch
	if !p.Quiet {
		line := progress.New(p.Err, "steps", time.Now)
		o.Audit.Stage = func(name string, guess, after time.Duration) {
			line.Stage(name, map[string]string{"extract": "images", "judge": "steps"}[name], guess, after)
		}
		o.Images.Host.Images = func() (func(backbone.Progress), func()) {
			return func(at backbone.Progress) { line.At(at.Done, at.Total, at.Resumed, "") }, line.End
		}
		o.watch = func(string) (func(done, total int), func()) {
			line.Stage("write", "pictures", 0, 0)
			return func(done, total int) { line.At(done, total, 0, "") }, line.End
		}
		o.Audit.Told = func(done, total, kept int, where string) { line.At(done, total, kept, "  "+where) }
		end = line.End
	}
	a, made, err := judge(ctx, p, o)
	end()
	if !o.Shard.Whole() {
		return p.Result(made, o.JSON, err)
	}
	if _, ok := errors.AsType[auditing.ScorerError](err); ok {
		return term.AsMisuse(err)
	}
	if err != nil {
		return err
	}
	return give(ctx, p, o, a)
}

// judge audits a store or a run, or makes a part of that.
func judge(ctx context.Context, p *term.Program, o Options) (a *auditing.Report, made parts.Made, err error) {
	var r *folder.Run
	manifest := cmp.Or(o.Images.Source, o.Stored.Manifest)
	if o.Run != "" {
		o.Open.Host = p.Host()
		if r, err = folder.Open(ctx, o.Run, o.Open); err != nil {
			return nil, made, err
		}
		manifest = r.ManifestFile
	}
	if err := o.checkFiles(manifest); err != nil {
		return nil, made, err
	}
	if r == nil && o.Stored.Features == "" && o.Images.Source == "" { // nothing to multiply
		a, err = auditing.Store(ctx, o.Stored, o.Audit)
		return a, made, err
	}
	rt, err := p.OpenRuntime()
	if err != nil {
		return nil, made, err
	}
	defer rt.Close()
	switch {
	case r != nil:
		a, err = auditing.Run(ctx, r, o.Audit)
	case o.Images.Source != "":
		a, err = auditing.Photos(ctx, o.Images, o.Audit)
	case !o.Shard.Whole():
		made, err = auditing.StorePart(ctx, o.Stored, o.Audit, o.Files, p.Dealt(o.Shard), term.Version())
	default:
		a, err = auditing.Store(ctx, o.Stored, o.Audit)
	}
	return a, made, err
}

// give writes and prints an audit.
func give(ctx context.Context, p *term.Program, o Options, a *auditing.Report) error {
	if o.Cut.By == audit.Precision && !audit.Probability(a.Scorer) {
		other := ", or --scorer " + judges.Default
		if a.Scorer == audit.Probabilities {
			other = "" // not beside --probs
		}
		return term.Misused("--precision: %s: take --share or --below%s", auditing.Ranks(a.Scorer), other)
	}
	if err := a.Save(ctx, o.Files, o.Audit); err != nil {
		return err
	}
	if o.Page != "" {
		h := report.Host{Note: p.Note, Watch: o.watch, Winnow: term.Version()}
		if err := report.WriteAudited(ctx, h, a, o.Page, a.ReviewCommand(o.Out)); err != nil {
			return fmt.Errorf("audit: %s: %w", o.Page, err)
		}
	}
	if o.JSON {
		return a.WriteJSON(p.Data)
	}
	if o.Page == "" {
		a.WriteText(p.Out, o.Top)
		return nil
	}
	a.WriteSummary(p.Out, o.Top)
	fmt.Fprintf(p.Out, "\nall images, most suspect first: %s\nto look at: %s\nnext: %s\n", o.Out, o.Page, a.ReviewCommand(o.Out))
	return nil
}
