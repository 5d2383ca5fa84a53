// Package retrieve is the command winnow retrieve.
package retrieve

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/internal/atomicfile"
	"winnow/internal/budget"
	"winnow/report"
	"winnow/run/folder"
	"winnow/run/measure"
)

// Command returns winnow retrieve.
func Command() *cli.Command { return command(run) }

const description = `Shows images of the split (or of query, searched in gallery) with their nearest neighbours in the
embedding of the run. A hit has the label of the query. Without a run it uses the features of a store as they
are: --features DIR --manifest FILE. Queries without another image of their label are not chosen.

   winnow retrieve run --queries 12 --k 8 --out retrieval.html`

func command(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:        "retrieve",
		Usage:       "show images with their nearest neighbours, hits and misses marked, on a page",
		ArgsUsage:   "[RUN]",
		Description: description,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Required: true,
				Usage: "write the page to `FILE`.html"},
			&cli.StringFlag{Name: "split", DefaultText: "test, or query against gallery, or validation",
				Usage: "the `SPLIT` to look at"},
			&cli.IntFlag{Name: "queries", Value: 12, Usage: "show `N` queries"},
			&cli.IntFlag{Name: "k", Value: 8, Usage: "show the `K` nearest images of each"},
			&cli.StringFlag{Name: "choose", Value: measure.ChooseRandom,
				Usage: "how to choose queries, `WHICH`: random (by --seed); worst: fewest hits among the K nearest, " +
					"then the nearest misses; or spread: the first image of each of evenly spaced classes"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed `N` of the queries"},
			&cli.StringFlag{Name: "max-mem", Value: "1GiB", Usage: budget.Usage},
			term.NamesFlag(),
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		}, term.DataFlags...),
		Action: term.Action(read, call),
	}
}

// mostShown is the largest number of pictures on a page.
const mostShown = 5000

// Options are the options of winnow retrieve.
type Options struct {
	Dir   string // of a run; "": the store of Run
	Run   folder.Options
	Out   string
	Split string
	Names string // file
	Find  measure.ExampleOptions
	JSON  bool
}

func read(c *cli.Context) (o Options, err error) {
	n, k := c.Int("queries"), c.Int("k")
	o = Options{Out: c.String("out"), Split: c.String("split"), Names: c.String("names"), JSON: c.Bool("json"),
		Find: measure.ExampleOptions{Choice: c.String("choose"), Queries: n, K: k, Seed: c.Uint64("seed")}}
	if o.Find.MaxMem, err = term.Size(c, "max-mem"); err != nil {
		return o, err
	}
	switch {
	case n < 1 || k < 1 || n > mostShown || k > mostShown || n*k > mostShown:
		return o, term.Misused("--queries %d --k %d: expected at least one of each and at most %d pictures", n, k,
			mostShown)
	case !measure.IsChoice(o.Find.Choice):
		return o, term.Misused("--choose: found %q, expected %s", o.Find.Choice, measure.Choices)
	case filepath.Ext(o.Out) != ".html":
		return o, term.Misused("--out: %q does not end in .html", o.Out)
	}
	splits := folder.AnyUsual()
	if c.IsSet("split") {
		splits = []string{o.Split}
	}
	if o.Dir, err = term.RunOrStore(c); err != nil {
		return o, err
	}
	o.Run, err = term.RunOptions(c, splits...)
	return o, err
}

// result is what winnow retrieve --json prints.
type result struct {
	File string `json:"file"`
	measure.Examples
}

func run(ctx context.Context, p *term.Program, o Options) error {
	defer budget.Collect(o.Find.MaxMem)()
	r, err := p.OpenEmbedding(ctx, o.Dir, o.Run)
	if err != nil {
		return err
	}
	names, err := p.ClassNames(o.Names, r.Manifest)
	if err != nil {
		return fmt.Errorf("retrieve: %w", err)
	}
	rt, err := p.OpenRuntime()
	if err != nil {
		return err
	}
	defer rt.Close()
	found, err := measure.FindExamples(ctx, r, o.Split, o.Find)
	if err != nil {
		return err
	}
	content, err := report.Retrieval(ctx, report.Host{Note: p.Note, Watch: p.Watch, Winnow: term.Version()}, r, found,
		names)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(o.Out, content.WriteHTML); err != nil {
		return fmt.Errorf("retrieve: %s: %w", o.Out, err)
	}
	if o.JSON {
		return p.JSON(result{o.Out, found})
	}
	fmt.Fprintf(p.Out, "%s: %s\n", o.Out, found.Summary())
	return nil
}
