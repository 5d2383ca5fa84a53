package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/eval"
	"winnow/internal/atomicfile"
	"winnow/internal/lookup"
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
			&cli.StringFlag{Name: "scorer", DefaultText: "the run's", Usage: "rank the suspects by `NAME`: " + strings.Join(runScorers(), ", ")},
			&cli.IntFlag{Name: "max", Value: 10_000, Usage: "draw at most `N` images on the map"},
			&cli.BoolFlag{Name: "no-pictures", Usage: "no pictures on the page"},
			&cli.BoolFlag{Name: "no-map", Usage: "no map"},
			&cli.StringFlag{Name: "max-mem", Value: "1GiB", Usage: "most memory for similarities, `SIZE`: 512MiB, 2GiB"},
			&cli.BoolFlag{Name: "json", Usage: "print what was measured as JSON"},
		}, dataFlags...),
		Action: reportRun,
	}
}

// reportLimit is the most bytes of a page.
const reportLimit = 10_000_000

// reportResult is what winnow report --json prints.
type reportResult struct {
	File  string          `json:"file"`
	Bytes int             `json:"bytes"`
	Split string          `json:"split"`
	Runs  []reportMeasure `json:"runs"`
}

// reportMeasure is what was measured of one run.
type reportMeasure struct {
	Run       string                `json:"run"`
	Frozen    eval.Retrieval        `json:"frozen"`
	Whitened  eval.Retrieval        `json:"whitened"`
	Trained   eval.Retrieval        `json:"trained"`
	Classes   []eval.ClassRetrieval `json:"classes"`
	Detection *eval.Detection       `json:"detection"` // null where true labels are not known
	Warnings  []string              `json:"warnings"`
	LeftOut   []lookup.LeftOut      `json:"left_out"`
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
	case c.IsSet("scorer") && !slices.Contains(runScorers(), c.String("scorer")):
		return misused("--scorer: found %q, expected one of %s", c.String("scorer"), strings.Join(runScorers(), ", "))
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
		r, err := openReported(c, dir)
		if err != nil {
			return err
		}
		if err := r.measure(c, mem); err != nil {
			return err
		}
		runs = append(runs, r)
	}
	report, err := runs[0].page(c, mem)
	if len(runs) > 1 {
		report, err = comparedRuns(runs), nil
	}
	if err != nil {
		return err
	}
	page, err := runs[0].written(report)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := atomicfile.WriteBytes(result.File, page.Bytes()); err != nil {
		return fmt.Errorf("report: %s: %w", result.File, err)
	}
	if result.Bytes = page.Len(); result.Bytes > reportLimit {
		note(c, "the page has %.1f MB, more than %.0f: there is less on it with --max N, --no-map or --no-pictures", float64(result.Bytes)/1e6, reportLimit/1e6)
	}
	for _, r := range runs {
		result.Split = r.split
		result.Runs = append(result.Runs, r.measured)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, result)
	}
	fmt.Fprintf(c.App.Writer, "%s: %.1f MB; measured on %s\n", result.File, float64(result.Bytes)/1e6, runs[0].splitText())
	for _, r := range result.Runs {
		fmt.Fprintf(c.App.Writer, "%s: P@1 %.4f (frozen %.4f, whitened %.4f), %d warnings\n", r.Run, r.Trained.PrecisionAt1, r.Frozen.PrecisionAt1, r.Whitened.PrecisionAt1, len(r.Warnings))
	}
	return nil
}

// mapHeading is more than the bytes around the map.
const mapHeading = 4 << 10

// written is the page. The map, whose pictures can be made smaller, gets what everything else leaves of the limit.
func (r *reported) written(report eval.Report) (page bytes.Buffer, err error) {
	if report.Map != nil {
		rest := report
		rest.Map = nil
		if err := rest.WriteHTML(&page); err != nil {
			return page, err
		}
		r.mapRoom = min(mapBytes, reportLimit-page.Len()-mapHeading)
		page.Reset()
	}
	return page, report.WriteHTML(&page)
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
