package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/audit"
	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/internal/atomicfile"
	"winnow/report"
	"winnow/report/page"
	"winnow/run/auditing"
	"winnow/run/evaluation"
)

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "put all that is known of a run, or of several beside each other, on one page",
		ArgsUsage: "RUN [RUN ...]",
		Description: "What was trained, how it went, what the filter did, retrieval beside frozen and whitened features, classes, the most\n" +
			"suspect labels, retrieval examples, a map (t-SNE), warnings, and what every number means: one file that needs\n" +
			"nothing else, to read offline and to print. Of several runs it holds their settings where they differ, their\n" +
			"numbers, and their curves over each other. Pictures come from --root; the page stays below 10 MB.\n\n" +
			"   winnow report run --out report.html     winnow report run-a run-b --out compared.html",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Required: true, Usage: "write the page to `FILE`.html"},
			&cli.StringFlag{Name: "split", DefaultText: "test, or query against gallery, or validation", Usage: "the `SPLIT` to measure, show and draw"},
			&cli.StringFlag{Name: "scorer", DefaultText: "the run's", Usage: "rank the suspects by `NAME`: " + strings.Join(auditing.RunScorers(), ", ")},
			&cli.IntFlag{Name: "max", Value: 10_000, Usage: "draw at most `N` images on the map"},
			&cli.BoolFlag{Name: "no-pictures", Usage: "no pictures on the page"},
			&cli.BoolFlag{Name: "no-map", Usage: "no map"},
			&cli.StringFlag{Name: "max-mem", Value: "1GiB", Usage: "most memory for similarities, `SIZE`: 512MiB, 2GiB"},
			&cli.BoolFlag{Name: "json", Usage: "print what was measured as JSON"},
		}, dataFlags...),
		Action: reportRun,
	}
}

// reportResult is what winnow report --json prints.
type reportResult struct {
	File  string            `json:"file"`
	Bytes int               `json:"bytes"`
	Split string            `json:"split"`
	Runs  []report.Measured `json:"runs"`
}

// reported is a run and its page.
type reported struct {
	*openedRun
	page   *report.Run
	split  string           // measured
	judged []suspects.Entry // its training labels, the most suspect first
}

func reportRun(c *cli.Context) error {
	mem, err := parseSize(c.String("max-mem"))
	switch {
	case err != nil:
		return misused("--max-mem: %v", err)
	case c.NArg() == 0:
		return misused("winnow report takes one run folder or several: found none")
	case filepath.Ext(c.String("out")) != ".html":
		return misused("--out: %q does not end in .html", c.String("out"))
	case c.IsSet("scorer") && !slices.Contains(auditing.RunScorers(), c.String("scorer")):
		return misused("--scorer: found %q, expected one of %s", c.String("scorer"), strings.Join(auditing.RunScorers(), ", "))
	case c.Int("max") < 5:
		return misused("--max: found %d images, expected at least 5", c.Int("max"))
	}
	dirs := c.Args().Slice()
	for i, dir := range dirs {
		if slices.Contains(dirs[:i], dir) {
			return misused("winnow report: %s is named twice", dir)
		}
	}
	rt, err := openRuntime(c)
	if err != nil {
		return err
	}
	defer rt.Close()
	result := reportResult{File: c.String("out")}
	var runs []*reported
	for _, dir := range dirs {
		r, err := measuredRun(c, dir, mem)
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	content, drawMap, err := reportPage(c, runs, mem)
	if err != nil {
		return err
	}
	page, err := report.Write(content, drawMap)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := atomicfile.WriteBytes(result.File, page); err != nil {
		return fmt.Errorf("report: %s: %w", result.File, err)
	}
	if result.Bytes = len(page); result.Bytes > report.Limit {
		note(c, "the page has %.1f MB, more than %.0f: there is less on it with --max N, --no-map or --no-pictures", float64(result.Bytes)/1e6, report.Limit/1e6)
	}
	for _, r := range runs {
		result.Split = r.split
		result.Runs = append(result.Runs, r.page.Measured())
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, result)
	}
	fmt.Fprintf(c.App.Writer, "%s: %.1f MB; measured on %s\n", result.File, float64(result.Bytes)/1e6, runs[0].page.SplitText())
	for _, r := range result.Runs {
		fmt.Fprintf(c.App.Writer, "%s: P@1 %.4f (frozen %.4f, whitened %.4f), %d warnings\n", r.Run, r.Trained.PrecisionAt1, r.Frozen.PrecisionAt1, r.Whitened.PrecisionAt1, len(r.Warnings))
	}
	return nil
}

// measuredRun opens a run, measures it, and audits its training labels.
func measuredRun(c *cli.Context, dir string, mem int64) (*reported, error) {
	run, err := openRun(c, dir)
	if err != nil {
		return nil, err
	}
	r := &reported{openedRun: run}
	if r.page, err = report.Open(run.Run, version()); err != nil {
		return nil, err
	}
	found, err := evaluation.Read(run.Run, evaluation.Options{Split: reportSplit(c, r.Manifest)})
	if err != nil {
		return nil, err
	}
	r.split = found.Split
	images := report.Images{Split: found.Split, Train: found.Train, Was: found.Was, Now: found.Now, LeftOut: found.LeftOut}
	if err := r.page.Measure(c.Context, images, mem); err != nil {
		return nil, err
	}
	a, err := auditing.Run(c.Context, run.Run, auditing.Options{Note: noter(c), Options: audit.Options{Scorer: c.String("scorer"), MaxMem: mem, JustRank: true}})
	var unfit auditing.ScorerError
	if errors.As(err, &unfit) {
		return nil, asMisuse(err)
	}
	if err != nil {
		return nil, err
	}
	r.judged = a.Images
	r.page.Judge(report.Judged{Scorer: a.Scorer, Suggests: a.Suggests, Rate: a.Rate, Images: a.Images, Detection: a.Detection,
		Weights: a.Scorer == auditing.SelfPaced, Record: auditing.Meanings[a.Scorer]})
	return r, nil
}

// reportPage is the page of one run with its pictures and map, or of several beside each other.
func reportPage(c *cli.Context, runs []*reported, mem int64) (page.Report, mapDrawer, error) {
	if len(runs) > 1 {
		var pages []*report.Run
		for _, r := range runs {
			pages = append(pages, r.page)
		}
		return report.Compared(pages), nil, nil
	}
	report := runs[0].page.Page()
	drawMap, err := runs[0].illustrate(c, &report, mem)
	return report, drawMap, err
}

// reportSplit is the split that a report looks at: test, or query against gallery (""), or what there is to see of
// images that the run was not trained on, else of those it was.
func reportSplit(c *cli.Context, d *datasets.Dataset) string {
	if c.IsSet("split") {
		return c.String("split")
	}
	for _, split := range []string{datasets.Test, datasets.Query, datasets.Validation} {
		if len(d.Select(split)) > 0 {
			if split == datasets.Validation {
				return split
			}
			return ""
		}
	}
	return datasets.Train
}
