package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"

	"winnow/internal/atomicfile"
	"winnow/papers/studies"
)

func reproduceCommand() *cli.Command {
	return &cli.Command{
		Name:      "reproduce",
		Usage:     "run a table or figure of a paper, and put our numbers beside its own",
		ArgsUsage: "STUDY",
		Description: "A study is a table of rows (recipes) and columns (datasets with label noise); a cell is one training of a head\n" +
			"on stored features, for one seed. Cells that are done are kept in --out/cells and not run again, by no study: a\n" +
			"killed run goes on where it was. Below the table stands which of the paper's claims hold in our numbers, by a\n" +
			"paired t-test over the seeds. Without a STUDY the studies are listed.\n\n" +
			"--data says what to run on. NAME=MANIFEST,FEATURES is the paper's dataset of that name (with the paper's splits:\n" +
			"winnow data import --protocol), and its numbers are shown beside ours; columns of other datasets are left out.\n" +
			"MANIFEST,FEATURES stands in for every dataset of the study, and glyphs is the dataset that is part of winnow;\n" +
			"then the claims are tested and the paper's numbers are not shown.\n\n" +
			"   winnow reproduce prism-table1 --data cars196=cars.csv,cars.features --seeds 5\n" +
			"   winnow reproduce prism-table1 --data glyphs --dry-run",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "data", Usage: "`[NAME=]MANIFEST,FEATURES`, or glyphs; may be repeated"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "reproduced", Usage: "`DIR` for the cells and the results"},
			&cli.StringFlag{Name: "seeds", DefaultText: "the study's", Usage: "`N` repetitions, seeds 1 to N, or a list as 1,3,7-9"},
			&cli.StringSliceFlag{Name: "rows", Usage: "only rows whose name has `TEXT` in it; may be repeated"},
			&cli.StringSliceFlag{Name: "columns", Usage: "only columns whose name has `TEXT` in it; may be repeated"},
			&cli.StringSliceFlag{Name: "set", Usage: "one setting of every training, `[ROW:]KEY=VALUE` as of winnow train, or of the rows whose name has ROW in it; may be repeated"},
			&cli.IntFlag{Name: "jobs", DefaultText: "one a thread", Usage: "`N` cells at once, each with its share of --threads"},
			&cli.IntFlag{Name: "classes", DefaultText: "240", Usage: "--data glyphs: draw `N` characters"},
			&cli.IntFlag{Name: "images", DefaultText: "50", Usage: "--data glyphs: draw `N` images of each"},
			&cli.BoolFlag{Name: "dry-run", Usage: "list the cells and how long they will take, and stop"},
			&cli.BoolFlag{Name: "json", Usage: "print as JSON"},
		},
		Action: runReproduce,
	}
}

// reproduction is one run of a study.
type reproduction struct {
	c       *cli.Context
	study   studies.Study
	dir     string
	store   studies.Store
	data    reproduceData
	cells   []studies.Cell // all that are wanted, in the order they are run
	results *studies.Results
	left    []string // columns without data, in words
}

func runReproduce(c *cli.Context) error {
	switch given := c.Args().Slice(); {
	case len(given) > 1:
		return misused("reproduce: found %s, expected one study", strings.Join(given, " "))
	case c.Int("jobs") < 0:
		return misused("--jobs: found %d, expected at least 1", c.Int("jobs"))
	case len(given) == 0 && (c.IsSet("data") || c.Bool("dry-run")):
		return misused("reproduce: found no study, expected one of those that winnow reproduce lists")
	case len(given) == 0:
		return listStudies(c)
	}
	r := reproduction{c: c, dir: c.String("out")}
	var err error
	if r.study, err = studies.Find(c.Args().First()); err != nil {
		return asMisuse(err)
	}
	r.store = studies.Store{Dir: filepath.Join(r.dir, "cells")}
	if err := r.openData(); err != nil {
		return err
	}
	if err := r.plan(); err != nil {
		return err
	}
	if c.Bool("dry-run") {
		return r.printPlan()
	}
	if err := r.store.Prepare(); err != nil {
		return err
	}
	if err := r.run(); err != nil {
		r.write() // what is done is worth a table
		return err
	}
	if err := r.write(); err != nil {
		return err
	}
	if c.Bool("json") {
		return r.results.JSON(c.App.Writer)
	}
	return r.results.Text(c.App.Writer)
}

// listStudies prints what can be reproduced.
func listStudies(c *cli.Context) error {
	all, err := studies.List()
	if err != nil {
		return err
	}
	if c.Bool("json") {
		type line struct {
			Name     string   `json:"name"`
			Title    string   `json:"title"`
			Paper    string   `json:"paper"`
			Source   string   `json:"source"`
			Datasets []string `json:"datasets"`
			Rows     int      `json:"rows"`
			Columns  int      `json:"columns"`
			Claims   int      `json:"claims"`
		}
		lines := []line{}
		for _, s := range all {
			lines = append(lines, line{s.Name, s.Title, s.Paper, s.Source, s.Datasets(), len(s.Rows), len(s.Columns), len(s.Claims)})
		}
		return printJSON(c.App.Writer, lines)
	}
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "study\twhat\tsource\tdata\tcells a seed")
	for _, s := range all {
		fmt.Fprintf(w, "%s\t%s\t%s, %s\t%s\t%d\n", s.Name, s.Title, s.Paper, s.Source, strings.Join(s.Datasets(), " "), cellsASeed(s))
	}
	return w.Flush()
}

func cellsASeed(s studies.Study) (n int) {
	for _, row := range s.Rows {
		if row.Recipe != "" {
			n += len(s.Columns) - len(row.Skip)
		}
	}
	return n
}

// run trains and measures every cell that is not done yet, several at once.
func (r *reproduction) run() error {
	jobs, threads := r.jobs()
	rt, err := openRuntimeThreads(r.c, threads)
	if err != nil {
		return err
	}
	defer rt.Close()
	var rest []studies.Cell
	for _, cell := range r.cells {
		o, done, err := r.kept(cell)
		if err != nil {
			return err
		}
		if done {
			r.results.Add(cell, o)
		} else {
			rest = append(rest, cell)
		}
	}
	note(r.c, "%d cells, %d done before, %d at once", len(r.cells), len(r.cells)-len(rest), jobs)
	type done struct {
		cell    studies.Cell
		outcome studies.Outcome
	}
	found := make(chan done)
	g, ctx := errgroup.WithContext(r.c.Context)
	next := make(chan studies.Cell)
	g.Go(func() error {
		defer close(next)
		for _, cell := range rest {
			select {
			case next <- cell:
			case <-ctx.Done():
				return nil
			}
		}
		return nil
	})
	for range jobs {
		g.Go(func() error {
			for cell := range next {
				o, err := r.cell(ctx, cell)
				if err != nil {
					return fmt.Errorf("%s: %w", r.describe(cell), err)
				}
				if err := r.store.Put(cell.Key, o); err != nil {
					return err
				}
				found <- done{cell, o}
			}
			return nil
		})
	}
	failed := make(chan error, 1)
	go func() {
		failed <- g.Wait()
		close(found)
	}()
	start, n := time.Now(), 0
	for d := range found {
		r.results.Add(d.cell, d.outcome)
		n++
		left := time.Since(start) / time.Duration(n) * time.Duration(len(rest)-n)
		note(r.c, "%d/%d  %s: %s in %.1f s, %s left", n, len(rest), r.describe(d.cell), r.headline(d.outcome), d.outcome.Seconds, left.Round(time.Second))
	}
	if err := <-failed; err != nil {
		return err
	}
	return r.c.Context.Err()
}

// kept is what came of a cell before, if it was run. A damaged file counts for none: the cell is run again.
func (r *reproduction) kept(cell studies.Cell) (studies.Outcome, bool, error) {
	o, done, err := r.store.Get(cell.Key)
	if errors.Is(err, studies.ErrDamaged) {
		note(r.c, "%v: it is run again", err)
		return o, false, nil
	}
	return o, done, err
}

// jobs is how many cells run at once, and on how many threads each computes.
func (r *reproduction) jobs() (jobs, threads int) {
	all := r.c.Int("threads")
	if all == 0 {
		all = runtime.GOMAXPROCS(0)
	}
	jobs = r.c.Int("jobs")
	if jobs < 1 || jobs > all {
		jobs = all
	}
	return jobs, max(all/jobs, 1)
}

// headline is a cell's first measure.
func (r *reproduction) headline(o studies.Outcome) string {
	m := r.study.Measures[0]
	return fmt.Sprintf("%s %.4f", m, o.Measures[m])
}

func (r *reproduction) describe(cell studies.Cell) string {
	return fmt.Sprintf("%s, %s, seed %d", r.study.Rows[cell.Row].Name, r.study.Columns[cell.Column].Name, cell.Seed)
}

// write writes the results beside each other.
func (r *reproduction) write() error {
	if r.results.Len() == 0 {
		return nil
	}
	dir := filepath.Join(r.dir, r.study.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("reproduce: %w", err)
	}
	for _, f := range []struct {
		name string
		to   func(io.Writer) error
	}{
		{"report.txt", r.results.Text}, {"report.md", r.results.Markdown}, {"results.csv", r.results.CSV}, {"report.html", r.results.HTML},
	} {
		if err := atomicfile.Write(filepath.Join(dir, f.name), f.to); err != nil {
			return err
		}
	}
	note(r.c, "written to %s: report.txt, report.md, report.html, results.csv", dir)
	return nil
}

// matches says whether a name has one of the texts in it; no texts match everything.
func matches(name string, texts []string) bool {
	return len(texts) == 0 || slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(name), strings.ToLower(t)) })
}
