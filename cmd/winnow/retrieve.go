package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/datasets/glyphs"
	"winnow/eval"
	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/internal/lookup"
	"winnow/report/page"
	"winnow/run/comparison"
	"winnow/run/evaluation"
)

func retrieveCommand() *cli.Command {
	return &cli.Command{
		Name:      "retrieve",
		Usage:     "show images and their nearest neighbours, hits and misses marked, on a page",
		ArgsUsage: "[RUN]",
		Description: "Images of the split (or of query, which ask gallery) with the images that the run embeds nearest to them. A hit has\n" +
			"the query's label. Without a run it looks at the features of a store as they are: --features DIR --manifest FILE.\n" +
			"Queries without any other image of their label are not chosen.\n\n" +
			"   winnow retrieve run --queries 12 --k 8 --out retrieval.html",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Required: true, Usage: "write the page to `FILE`.html"},
			&cli.StringFlag{Name: "split", DefaultText: "test, or query against gallery", Usage: "the `SPLIT` to look at"},
			&cli.IntFlag{Name: "queries", Value: 12, Usage: "`N` images that ask"},
			&cli.IntFlag{Name: "k", Value: 8, Usage: "`K` nearest of each"},
			&cli.StringFlag{Name: "choose", Value: chooseRandom, Usage: "which ask, `WHICH`: random (by --seed), or worst: fewest hits among the K nearest, of those the nearest misses first"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`N` that queries are drawn by"},
			&cli.StringFlag{Name: "max-mem", Value: "1GiB", Usage: "most memory for similarities, `SIZE`: 512MiB, 2GiB"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		}, dataFlags...),
		Action: retrieveRun,
	}
}

// Ways to choose queries.
const (
	chooseRandom = "random"
	chooseWorst  = "worst"
)

// mostShown bounds a page: N queries of K neighbours.
const mostShown = 5000

// pictureSide is how wide, in pixels, a page's pictures are at most.
const pictureSide = 128

// retrieveResult is what winnow retrieve --json prints.
type retrieveResult struct {
	File      string           `json:"file"`
	Split     string           `json:"split"`
	View      string           `json:"view,omitempty"` // center or mean, where the store has several views of each image
	Choice    string           `json:"choice"`
	Seed      uint64           `json:"seed"`
	Of        int              `json:"of"`            // images that could have asked
	Gallery   int              `json:"gallery"`       // images asked
	Precision float64          `json:"hits_per_rank"` // share of hits among the neighbours shown
	Queries   []shownQuery     `json:"queries"`
	LeftOut   []lookup.LeftOut `json:"left_out"`
	k         int
	of        comparison.Asked // embedded
}

// shownQuery is one query with its nearest.
type shownQuery struct {
	Path    string       `json:"path"`
	Label   string       `json:"label"`
	Hits    int          `json:"hits"`
	Nearest []shownImage `json:"nearest"`
}

type shownImage struct {
	Path       string  `json:"path"`
	Label      string  `json:"label"`
	Similarity float32 `json:"similarity"`
	Hit        bool    `json:"hit"`
}

func retrieveRun(c *cli.Context) error {
	n, k := c.Int("queries"), c.Int("k")
	mem, err := parseSize(c.String("max-mem"))
	switch choice := c.String("choose"); {
	case err != nil:
		return misused("--max-mem: %v", err)
	case n < 1 || k < 1 || n > mostShown || k > mostShown || n*k > mostShown:
		return misused("--queries %d --k %d: expected at least one of each and at most %d pictures", n, k, mostShown)
	case choice != chooseRandom && choice != chooseWorst:
		return misused("--choose: found %q, expected %s or %s", choice, chooseRandom, chooseWorst)
	case filepath.Ext(c.String("out")) != ".html":
		return misused("--out: %q does not end in .html", c.String("out"))
	}
	splits := []string{datasets.Test, datasets.Query, datasets.Gallery}
	if c.IsSet("split") {
		splits = []string{c.String("split")}
	}
	r, err := openEmbedding(c, splits...)
	if err != nil {
		return err
	}
	rt, err := openRuntime(c)
	if err != nil {
		return err
	}
	defer rt.Close()
	result := retrieveResult{File: c.String("out"), Choice: c.String("choose"), Seed: c.Uint64("seed"), View: r.Look(), k: k}
	if err := result.find(c, r, n, mem); err != nil {
		return err
	}
	report, err := result.report(c, r)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(result.File, report.WriteHTML); err != nil {
		return fmt.Errorf("retrieve: %s: %w", result.File, err)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, result)
	}
	result.print(c.App.Writer)
	return nil
}

// find embeds the images, chooses the queries and finds their neighbours.
func (r *retrieveResult) find(c *cli.Context, run *openedRun, n int, mem int64) error {
	images, err := evaluation.Asked(run.Run, c.String("split"))
	if err != nil {
		return err
	}
	r.Split, r.LeftOut = images.Split, images.LeftOut
	if r.of, err = images.Now.Embedded(run.embedSet); err != nil {
		return err
	}
	return r.ask(c, run, n, mem)
}

// ask finds the neighbours of n queries among the embedded images.
func (r *retrieveResult) ask(c *cli.Context, run *openedRun, n int, mem int64) error {
	gallery := r.of.Query
	if r.of.Gallery != nil {
		gallery = *r.of.Gallery
	}
	rows := notLonely(r.of)
	r.Of, r.Gallery = len(rows), gallery.Len()
	if len(rows) == 0 {
		return fmt.Errorf("retrieve: no image of the split %s has another of its label to find", r.Split)
	}
	if r.Choice == chooseRandom {
		rows = drawSome(rows, n, r.Seed, "retrieve")
	}
	own := 0 // of a query that is in the gallery itself
	if r.of.Gallery == nil {
		own = 1
	}
	lists, err := eval.Nearest(c.Context, r.of.Query.Rows(rows), &gallery, r.k+own, mem)
	if err != nil {
		return err
	}
	for i, list := range lists {
		if own == 1 {
			list = slices.DeleteFunc(list, func(near eval.Neighbour) bool { return near.Row == rows[i] })
		}
		r.Queries = append(r.Queries, shown(run.Manifest, r.of.Query.IDs[rows[i]], gallery, first(list, r.k)))
	}
	if r.Choice == chooseWorst {
		slices.SortStableFunc(r.Queries, func(a, b shownQuery) int {
			return cmp.Or(cmp.Compare(a.Hits, b.Hits), cmp.Compare(b.nearestMiss(), a.nearestMiss()))
		})
		r.Queries = first(r.Queries, n)
	}
	hits, all := 0, 0
	for _, q := range r.Queries {
		hits, all = hits+q.Hits, all+len(q.Nearest)
	}
	r.Precision = float64(hits) / float64(max(all, 1))
	return nil
}

// notLonely is the rows of the queries that have a positive.
func notLonely(of comparison.Asked) (rows []int) {
	least, labels := 1, []int(nil)
	if of.Gallery == nil { // the query itself is one
		least, labels = 2, of.Query.Labels
	} else {
		labels = of.Gallery.Labels
	}
	counts := map[int]int{}
	for _, label := range labels {
		counts[label]++
	}
	for i, label := range of.Query.Labels {
		if counts[label] >= least {
			rows = append(rows, i)
		}
	}
	return rows
}

// shown names a query and its neighbours.
func shown(d *datasets.Dataset, id int, gallery features.Set, list []eval.Neighbour) shownQuery {
	s := d.Samples[id]
	q := shownQuery{Path: s.Path, Label: d.Classes[s.Label], Nearest: []shownImage{}}
	for _, near := range list {
		other := d.Samples[gallery.IDs[near.Row]]
		q.Nearest = append(q.Nearest, shownImage{other.Path, d.Classes[other.Label], near.Similarity, other.Label == s.Label})
		if other.Label == s.Label {
			q.Hits++
		}
	}
	return q
}

// nearestMiss is the similarity of the nearest image of another label, -1 for none.
func (q shownQuery) nearestMiss() float32 {
	for _, n := range q.Nearest {
		if !n.Hit {
			return n.Similarity
		}
	}
	return -1
}

// print writes the result for people.
func (r retrieveResult) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n", r.File, r.summary())
}

func (r retrieveResult) summary() string {
	how := fmt.Sprintf("%d queries, drawn by seed %d from the %d of %s", len(r.Queries), r.Seed, r.Of, r.Split)
	if r.Choice == chooseWorst {
		how = fmt.Sprintf("the %d worst of %d queries of %s", len(r.Queries), r.Of, r.Split)
	}
	return fmt.Sprintf("%s; %.1f %% of their %d nearest are hits", how, 100*r.Precision, r.k)
}

// report is the page.
func (r retrieveResult) report(c *cli.Context, run *openedRun) (page.Report, error) {
	what := "the features of " + filepath.Base(run.Dir)
	if run.Head != nil {
		what = "the run " + filepath.Base(run.Dir)
	}
	report := page.Report{Title: "What images find in " + what, Verdict: []string{strings.ToUpper(r.summary()[:1]) + r.summary()[1:] + "."}, Facts: []page.Fact{
		{Name: "queries", Value: fmt.Sprintf("images of %s with another of their label to find; %d images are asked, the query itself left out", r.Split, r.Gallery)},
		{Name: "hit", Value: "has the query's label as the manifest gives it"},
		{Name: "similarity", Value: "cosine of the two vectors"},
	}}
	if r.Choice == chooseWorst {
		report.Facts = append(report.Facts, page.Fact{Name: "worst", Value: fmt.Sprintf("fewest hits among the %d nearest; of those with equally many the ones whose nearest miss is most similar", r.k)})
	}
	if run.Head != nil {
		report.Facts = append(report.Facts, page.Fact{Name: "head", Value: filepath.Join(run.Dir, run.HeadFile)})
	}
	report.Facts = append(report.Facts, page.Fact{Name: "features", Value: run.Store.Dir}, page.Fact{Name: "manifest", Value: run.ManifestFile}, page.Fact{Name: "winnow", Value: version()})
	files, err := pictureFiles(c, run, r.paths(), pictureSide)
	report.Queries = r.cards(files)
	return report, err
}

// paths are the images of the page.
func (r retrieveResult) paths() (list []string) {
	for _, q := range r.Queries {
		list = append(list, q.Path)
		for _, n := range q.Nearest {
			list = append(list, n.Path)
		}
	}
	return list
}

// cards show the queries with pictures by path.
func (r retrieveResult) cards(files map[string][]byte) (list []page.QueryCard) {
	for _, q := range r.Queries {
		card := page.QueryCard{Query: page.Picture{Data: files[q.Path], Caption: glyphs.Readable(q.Label), File: q.Path}}
		for _, n := range q.Nearest {
			card.Nearest = append(card.Nearest, page.Picture{Data: files[n.Path], Caption: glyphs.Readable(n.Label), Note: fmt.Sprintf("similarity %.3f", n.Similarity), File: n.Path, Good: n.Hit})
		}
		list = append(list, card)
	}
	return list
}
