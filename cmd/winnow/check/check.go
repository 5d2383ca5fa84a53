// Package check implements the "winnow check" command, which tests labels in continuous integration.
package check

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/audit"
	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/internal/atomicfile"
	"winnow/report"
	"winnow/report/review"
	"winnow/run/check"
	"winnow/run/inspect"
)

//go:embed help.txt
var helpText string

// Options holds the parsed flags of "winnow check".
type Options struct {
	In        inspect.Input
	Scorer    string
	Gate      check.Gate
	Baseline  string // file of known findings; "": none
	Update    bool   // write Baseline anew
	Since     location.Source
	Decisions string // decisions file of winnow studio; "": none
	Format    string
	Out, HTML string // files for the findings in Format and for the page; "": none
}

// Command returns the "winnow check" command.
func Command() *cli.Command {
	o := Options{Scorer: "fitted", Format: "text", In: inspect.Input{Conflicts: true, Contents: true,
		Features: "check.features"}}
	failOn, root, since := check.Usual, "", ""
	return &cli.Command{
		Name: "check",
		Usage: "test the labels in CI: fail if new images have duplicates with other labels, leaks, label " +
			"errors, …",
		ArgsUsage:   "PHOTOS",
		Description: helpText,
		Flags: slices.Concat([]cli.Flag{
			term.Flag(&failOn, "fail-on", "exit with 1 if a new finding is one of the `CHECKS` "+
				strings.Join(check.Names(), ", ")+"; label-error=0.99: from this probability on; wrong=2%: the "+
				"largest share; none"),
			term.Flag(&o.Baseline, "baseline", "leave out the known findings in `FILE`"),
			term.Flag(&o.Update, "update-baseline", "write all present findings to --baseline"),
			term.Flag(&since, "since", "leave out findings about images that did not change since `OLD`, an earlier "+
				"manifest or folder"),
			term.OneOf(term.Flag(&o.Format, "format", "print the findings as `FORMAT`"), check.FormatNames...),
			term.Flag(&o.Out, "out,o", "write the findings in --format to `FILE`, and print them as text"),
			term.Flag(&o.HTML, "html", "write a page with the images of the findings to `FILE`"),
			term.Flag(&o.Decisions, "decisions", "use the decisions made in winnow studio, `FILE`.decisions.db"),
			term.Flag(&o.In.Features, "features", "keep the features in `DIR`; the next check embeds only new images"),
			term.Flag(&o.In.Model, "model", "embed the images with the backbone `NAME` (winnow models list) or an "+
				"ONNX file", "the best installed backbone"),
			term.Flag(&o.Scorer, "scorer", "score labels with the scorer `NAME`, which returns probabilities; "+
				"combined finds more and takes longer"),
			term.Flag(&root, "root", "`DIR` (or .zip file) that the manifest's paths are relative to",
				"the manifest's folder"),
		}, term.ColumnFlags()),
		Action: term.CheckedAction(func(c *cli.Context) (Options, error) {
			var err error
			o.In.Root, o.Since, o.In.Columns = location.At(root), location.At(since), term.Columns(c)
			if o.In.Images, err = term.OneSource(c, "one folder of images or manifest"); err != nil {
				return o, err
			}
			if o.Gate, err = check.ParseGate(failOn); err != nil {
				return o, term.Misused("--fail-on: %w", err)
			}
			switch by := audit.Named(o.Scorer); {
			case !slices.Contains(audit.Names(), by.Name) || !by.Probability:
				return o, term.Misused("--scorer: found %q, expected a scorer that returns probabilities, such as "+
					"fitted or combined (winnow list scorers)", o.Scorer)
			case o.Update && o.Baseline == "":
				return o, term.Misused("--update-baseline needs --baseline FILE")
			}
			return o, nil
		}, runCheck),
	}
}

// runCheck audits the images and prints the new findings.
func runCheck(ctx context.Context, p *term.Program, o Options) error {
	known, err := o.checkFiles(p)
	if err != nil {
		return err
	}
	if o.Decisions != "" {
		if o.In.Checks, err = review.Outcomes(ctx, o.Decisions, o.In.Root, o.In.Images); err != nil {
			return err
		}
	}
	rt, err := p.OpenRuntime()
	if err != nil {
		return err
	}
	defer rt.Close()
	settings := inspect.Usual()
	settings.Scorer = o.Scorer
	a, err := inspect.Judge(ctx, o.In, settings, inspect.Host{Host: p.Host()})
	if err != nil {
		return err
	}
	place, err := o.placeFindings(ctx)
	if err != nil {
		return err
	}
	r, err := check.List(a, o.Gate, place)
	if err != nil {
		return err
	}
	if !o.Since.IsZero() {
		old, err := datasets.Read(o.Since, datasets.ReadOptions{Names: o.In.Columns, Note: p.Note, Conflicts: true,
			Root: o.In.Root})
		if err != nil {
			return err
		}
		r.Since(old, a.Dataset())
	}
	if o.Update {
		if known, err = r.WriteBaseline(o.Baseline); err != nil {
			return fmt.Errorf("check: %w", err)
		}
		p.Note("%s: %d findings", o.Baseline, len(known.Findings))
	}
	if known != nil {
		r.Baseline(known)
	}
	failed := r.CountFailed()
	if err := o.printFindings(ctx, p, a, r); err != nil {
		return err
	}
	return failed
}

// checkFiles checks the output files before the work, and reads the baseline, nil if there is none.
func (o Options) checkFiles(p *term.Program) (known *check.Baseline, err error) {
	var to []term.Target
	for _, f := range []term.Target{{Flag: "out", Path: o.Out}, {Flag: "html", Path: o.HTML},
		{Flag: "baseline", Path: o.Baseline}} {
		if f.Path != "" && (f.Flag != "baseline" || o.Update) {
			to = append(to, f)
		}
	}
	read := []string{o.In.Images.Path(), o.Since.Path(), o.Decisions}
	if err := p.CheckTargets(to, read); err != nil || o.Baseline == "" {
		return nil, err
	}
	return check.ReadBaseline(o.Baseline, o.Update)
}

// placeFindings returns the function that finds the file and the line of an image: in a folder the image, otherwise the
// manifest with the row's line in a table.
func (o Options) placeFindings(ctx context.Context) (func(path string, row int) (string, int), error) {
	layout, err := datasets.LayoutOf(ctx, o.In.Images)
	first := 0
	if err == nil && layout == datasets.File {
		var form datasets.Format
		form, err = datasets.FormOf(o.In.Images)
		first = map[datasets.Format]int{datasets.CSV: 2, datasets.JSONL: 1, datasets.PRISM: 1}[form]
	}
	return func(path string, row int) (string, int) {
		switch {
		case layout == datasets.Folder && path != "":
			return o.In.Images.Join(path).String(), 0
		case first > 0 && row >= 0:
			return o.In.Images.String(), row + first
		}
		return o.In.Images.String(), 0
	}, err
}

// printFindings prints the findings and writes the files.
func (o Options) printFindings(ctx context.Context, p *term.Program, a *inspect.Report, r *check.Result) error {
	if o.HTML != "" {
		h := report.Host{Note: p.Note, Watch: p.Watch, Winnow: term.Version()}
		if err := report.WriteChecked(ctx, h, a, r, o.HTML); err != nil {
			return fmt.Errorf("check: %s: %w", o.HTML, err)
		}
	}
	write := check.Formats[o.Format]
	if o.Out != "" {
		if err := atomicfile.Write(o.Out, func(w io.Writer) error { return write(r, w, term.Version()) }); err != nil {
			return fmt.Errorf("check: %w", err)
		}
	}
	if o.Out != "" || o.Format == "text" {
		return r.Write(p.Out)
	}
	return write(r, p.Data, term.Version())
}
