// Package report implements the "winnow report" command.
package report

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"winnow/audit"
	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/training"
	"winnow/internal/atomicfile"
	"winnow/internal/budget"
	"winnow/report"
	"winnow/run/folder"
)

// Command returns the "winnow report" command.
func Command() *cli.Command { return newReportCommand(runReport) }

const description = `Writes one HTML file to read offline or to print. It shows the training and its curves, the filter,
retrieval compared with frozen and whitened features, the classes, the most suspect labels, retrieval examples, a map
(t-SNE), warnings, and definitions of all numbers. Images are read from --root. winnow sweep compares several runs.

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
			term.OneOf(&cli.StringFlag{Name: "scorer", DefaultText: "as for winnow audit RUN",
				Usage: "rank the suspects by the scorer `NAME`"}, audit.Names()...),
			&cli.BoolFlag{Name: "no-pictures", Usage: "show no images on the page"},
			term.NamesFlag(),
			term.JSONFlag(),
		}, term.DataFlags...),
		Action: term.Action(readReport, call),
	}
}

// Options holds the parsed flags.
type Options struct {
	Dir    string // run folder
	Run    folder.Options
	Out    string
	Split  string // "": the split that report.UsualSplit returns
	Names  string // file with class names; "": none
	Scorer string // "": the default of winnow audit for a run
	Bare   bool   // show no images
	JSON   bool
}

func readReport(c *cli.Context) (o Options, err error) {
	o = Options{Out: c.String("out"), Split: c.String("split"), Scorer: c.String("scorer"),
		Names: c.String("names"),
		JSON:  c.Bool("json"), Bare: c.Bool("no-pictures")}
	if o.Dir, err = term.OneArgument(c, "one run folder"); err != nil {
		return o, err
	}
	if filepath.Ext(o.Out) != ".html" {
		return o, term.Misused("--out: %q does not end in .html", o.Out)
	}
	o.Run, err = training.RunOptions(c)
	return o, err
}

// result is the output of "winnow report --json".
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
