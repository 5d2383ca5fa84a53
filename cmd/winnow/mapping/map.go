// Package mapping implements the "winnow map" command.
package mapping

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/training"
	"winnow/datasets"
	"winnow/eval/tsne"
	"winnow/internal/hint"
	"winnow/report"
	"winnow/run/folder"
)

// Command returns the "winnow map" command.
func Command() *cli.Command { return newMapCommand(runMap) }

const description = `Draws a map of a run's embedding, on which similar images are near each other (t-SNE, van der
Maaten 2014, started from the principal components). Without a run, it draws the features of a store: --features
DIR --manifest FILE. winnow studio shows an interactive map.
--color suspect (flagged or not) needs --audit suspects.csv of winnow audit; a .csv map then contains the scores.

   winnow map run --out map.svg --out map.csv`

func newMapCommand(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:        "map",
		Usage:       "draw an embedding in two dimensions, as SVG or a table",
		ArgsUsage:   "[RUN]",
		Description: description,
		Flags: append([]cli.Flag{
			&cli.StringSliceFlag{Name: "out", Aliases: []string{"o"},
				Usage: "write `FILE`.svg (a drawing), .csv (coordinates); may be repeated"},
			&cli.StringFlag{Name: "split", DefaultText: "test, or query and gallery, or validation",
				Usage: "`SPLIT,...` to draw, or all"},
			term.OneOf(&cli.StringFlag{Name: "color", Value: report.ColourLabel,
				Usage: "colour the points by `PROPERTY`"}, colourings...),
			&cli.StringFlag{Name: "audit",
				Usage: "`FILE`.csv of winnow audit, for --color suspect"},
			&cli.IntFlag{Name: "max", Value: 10_000, Usage: "draw at most `N` images, chosen by --seed"},
			&cli.Float64Flag{Name: "perplexity", Value: 30, Usage: "perplexity `P` of t-SNE, about the number of " +
				"neighbours"},
			&cli.IntFlag{Name: "iterations", Value: 1000, Usage: "`N` iterations of t-SNE"},
			term.SeedFlag("seed `N` of --max and of t-SNE"),
			term.NamesFlag(),
			term.JSONFlag(),
		}, term.DataFlags...),
		Action: term.CheckedAction(readMap, call),
	}
}

var colourings = []string{report.ColourLabel, report.ColourTrue, report.ColourSplit, report.ColourSuspect}

// Options holds the parsed flags.
type Options struct {
	Dir   string // run folder; "": the feature store in Run
	Run   folder.Options
	Out   []string
	Names string // file with class names; "": none
	Audit string // list of an audit; "": none
	Draw  report.MapOptions
	JSON  bool
}

func readMap(c *cli.Context) (o Options, err error) {
	o = Options{Out: c.StringSlice("out"), Names: c.String("names"), Audit: c.String("audit"), JSON: c.Bool("json"),
		Draw: report.MapOptions{
			Split: c.String("split"), Colour: c.String("color"), Max: c.Int("max"),
			TSNE: tsne.Options{Perplexity: c.Float64("perplexity"), Iterations: c.Int("iterations"),
				Seed: c.Uint64("seed")},
		}}
	if err := o.checkMapOptions(); err != nil {
		return o, err
	}
	if o.Dir, err = term.RunOrStore(c); err != nil {
		return o, err
	}
	o.Run, err = training.RunOptions(c, splitsToLookAt(o.Draw.Split)...)
	return o, err
}

// checkMapOptions returns an error for missing, invalid or conflicting options.
func (o Options) checkMapOptions() error {
	if len(o.Out) == 0 {
		return term.Misused("winnow map: found no --out, expected a file to write: --out map.svg")
	}
	for _, path := range o.Out {
		if !slices.Contains([]string{".svg", ".csv"}, filepath.Ext(path)) {
			return term.Misused("--out: %q ends neither in .svg nor in .csv", path)
		}
	}
	d := o.Draw
	switch {
	case d.Colour == report.ColourSuspect && o.Audit == "":
		return hint.With(term.Misused("--color %s: found no --audit, expected a list of winnow audit", d.Colour),
			"make it: winnow audit RUN --out suspects.csv")
	case d.Max < 5:
		return term.Misused("--max: found %d images, expected at least 5", d.Max)
	case d.TSNE.Iterations < 1:
		return term.Misused("--iterations: found %d, expected at least 1", d.TSNE.Iterations)
	case !(d.TSNE.Perplexity >= 1) || math.IsInf(d.TSNE.Perplexity, 0):
		return term.Misused("--perplexity: found %v, expected at least 1", d.TSNE.Perplexity)
	}
	return nil
}

// splitsToLookAt returns the splits whose features are needed, or nil for all splits.
func splitsToLookAt(split string) []string {
	if split == "" {
		return folder.AnyUsual()
	}
	names := strings.Split(split, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	if slices.Contains(names, datasets.EverySplit) {
		return nil
	}
	return names
}

func runMap(ctx context.Context, p *term.Program, o Options) error {
	start := time.Now()
	scores, note, err := report.ReadScores(o.Audit)
	if err != nil {
		return err
	}
	if o.Draw.Scores = scores; note != "" {
		p.Note("%s", note)
	}
	o.Run.Host = p.Host()
	open := folder.Open
	if o.Dir == "" {
		open = func(_ context.Context, _ string, f folder.Options) (*folder.Run, error) { return folder.OpenStore(f) }
	}
	r, err := open(ctx, o.Dir, o.Run)
	if err != nil {
		return err
	}
	if err := p.CheckTargets(term.Targets("out", o.Out...), append(r.Inputs(), o.Audit)); err != nil {
		return err
	}
	if o.Draw.Names, err = p.ClassNames(o.Names, r.Manifest); err != nil {
		return fmt.Errorf("map: %w", err)
	}
	rt, err := p.OpenRuntime()
	if err != nil {
		return err
	}
	defer rt.Close()
	m, err := report.DrawMap(ctx, report.Host{Note: p.Note, Watch: p.Watch, Winnow: term.Version()}, r, o.Draw)
	if err != nil {
		return err
	}
	for _, path := range o.Out {
		if err := m.Write(path); err != nil {
			return err
		}
	}
	m.Seconds = time.Since(start).Seconds()
	if o.JSON {
		return p.JSON(m)
	}
	return m.Print(p.Out)
}
