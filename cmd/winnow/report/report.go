// Package report implements the "winnow report" command.
package report

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/audit"
	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/training"
	"winnow/internal/atomicfile"
	"winnow/internal/budget"
	"winnow/report"
	"winnow/run/folder"
)

// Command returns winnow report.
func Command() *cli.Command { return newReportCommand(runReport) }

const description = `One file to read offline or to print: the training and its course, the filter, retrieval next to
frozen and whitened features, classes, the most suspect labels, retrieval examples, a map (t-SNE), warnings,
and definitions of all numbers. Images come from --root. winnow sweep compares several runs.

   winnow report run --out report.html`

func newReportCommand(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:        "report",
		Usage:       "write a page about a run: training, metrics, suspects, map",
		ArgsUsage:   "RUN",
		Description: description,
		Flags: append([]cli.Flag{
			term.Required(term.OutFlag("write the page to `FILE`.html")),
			&cli.StringFlag{Name: "split", DefaultText: "test, or query against gallery, or validation",
				Usage: "the `SPLIT` to measure, show and draw"},
			&cli.StringFlag{Name: "scorer", DefaultText: "as winnow audit RUN",
				Usage: "rank the suspects by `NAME`: " + strings.Join(audit.Names(), ", ")},
			&cli.BoolFlag{Name: "no-pictures", Usage: "no pictures on the page"},
			term.NamesFlag(),
			term.JSONFlag(),
		}, term.DataFlags...),
		Action: term.Action(readReport, call),
	}
}

// Options are the options of winnow report.
type Options struct {
	Dir    string // of the run
	Run    folder.Options
	Out    string
	Split  string // "": the usual one of each run
	Names  string // file
	Scorer string // "": as winnow audit judges a run
	Bare   bool   // no pictures
	JSON   bool
}

func readReport(c *cli.Context) (o Options, err error) {
	o = Options{Out: c.String("out"), Split: c.String("split"), Scorer: c.String("scorer"),
		Names: c.String("names"),
		JSON:  c.Bool("json"), Bare: c.Bool("no-pictures")}
	if o.Dir, err = term.OneArgument(c, "one run folder"); err != nil {
		return o, err
	}
	switch scorers := audit.Names(); {
	case filepath.Ext(o.Out) != ".html":
		return o, term.Misused("--out: %q does not end in .html", o.Out)
	case c.IsSet("scorer") && !slices.Contains(scorers, o.Scorer):
		return o, term.Misused("--scorer: found %q, expected one of %s", o.Scorer, strings.Join(scorers, ", "))
	}
	o.Run, err = training.RunOptions(c)
	return o, err
}

// result is what winnow report --json prints.
type result struct {
	File  string            `json:"file"`
	Bytes int               `json:"bytes"`
	Split string            `json:"split"`
	Runs  []report.Measured `json:"runs"`
}

func runReport(ctx context.Context, p *term.Program, o Options) error {
	defer budget.Collect(report.MaxMem)()
	o.Run.Host = p.Host()
	rt, err := p.OpenRuntime()
	if err != nil {
		return err
	}
	defer rt.Close()
	run, err := folder.Open(ctx, o.Dir, o.Run)
	if err != nil {
		return err
	}
	names, err := p.ClassNames(o.Names, run.Manifest)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	h := report.Host{Note: p.Note, Watch: p.Watch, Winnow: term.Version()}
	made, err := report.Make(ctx, h, run, names, report.Asked{Split: o.Split, Scorer: o.Scorer}, !o.Bare)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(o.Out, made.File); err != nil {
		return fmt.Errorf("report: %s: %w", o.Out, err)
	}
	r := made.Run.Measured()
	done := result{File: o.Out, Bytes: len(made.File), Split: made.Run.Split, Runs: []report.Measured{r}}
	if o.JSON {
		return p.JSON(done)
	}
	_, err = fmt.Fprintf(p.Out, "%s: %.1f MB; measured on %s\n%s: P@1 %.4f (frozen %.4f, whitened %.4f), %d warnings\n",
		o.Out, float64(done.Bytes)/1e6, made.Run.SplitText(), r.Run, r.Trained.PrecisionAt1, r.Frozen.PrecisionAt1,
		r.Whitened.PrecisionAt1, len(r.Warnings))
	return err
}
