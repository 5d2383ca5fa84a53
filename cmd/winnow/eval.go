package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
)

func evalCommand() *cli.Command {
	return &cli.Command{
		Name:      "eval",
		Usage:     "measure retrieval with a trained head, beside frozen and whitened features",
		ArgsUsage: "RUN",
		Description: "Every image of the split asks for its nearest neighbours among the others; where the manifest has the\n" +
			"splits query and gallery (and no test), queries ask the gallery. Recall@K, P@1, R-Precision and MAP@R as in\n" +
			"Musgrave et al., A Metric Learning Reality Check (2020); queries without a positive are left out.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "split", DefaultText: "test, or query against gallery", Usage: "the `SPLIT` to measure on"},
			&cli.StringFlag{Name: "k", Value: "1,2,4,8,16,32", Usage: "`K,...` of Recall@K"},
			&cli.StringFlag{Name: "max-mem", Value: "1GiB", Usage: "most memory for similarities, `SIZE`: 512MiB, 2GiB"},
			&cli.BoolFlag{Name: "count-lonely", Usage: "a query without any positive counts as a miss"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		}, dataFlags...),
		Action: evalRun,
	}
}

// evalResult is what winnow eval --json prints: the trained head, and beside it what needs no training.
type evalResult struct {
	eval.Retrieval
	Split      string         `json:"split"`
	Frozen     eval.Retrieval `json:"frozen"`
	Whitened   eval.Retrieval `json:"whitened"`
	FineTuned  bool           `json:"finetuned,omitempty"`
	Backbone   string         `json:"backbone,omitempty"` // file of the fine-tuned network that was measured
	Verdict    string         `json:"verdict"`
	Unlabelled int            `json:"unlabelled"` // images that take no part: nobody knows what they should find, or who them
	LeftOut    []leftOut      `json:"left_out"`
}

func evalRun(c *cli.Context) error {
	splits := []string{datasets.Test, datasets.Query, datasets.Gallery}
	if c.IsSet("split") {
		splits = []string{c.String("split")}
	}
	r, err := openRunArg(c, splits...)
	if err != nil {
		return err
	}
	opts, err := retrievalOptions(c)
	if err != nil {
		return err
	}
	rt, err := openRuntime(c)
	if err != nil {
		return err
	}
	defer rt.Close()
	result := evalResult{Split: c.String("split"), LeftOut: []leftOut{}}
	frozen, err := r.frozenStore(c)
	if err != nil {
		return err
	}
	var gallery *features.Set
	if result.Split == "" {
		result.Split = datasets.Test
		if len(r.Manifest.Select(datasets.Test)) == 0 && len(r.Manifest.Select(datasets.Query)) > 0 {
			result.Split = datasets.Query
			g, left, err := splitSet(r.Manifest, r.Store, datasets.Gallery)
			if err != nil {
				return err
			}
			if g.Len() == 0 {
				return fmt.Errorf("eval: the manifest has the split query and no readable image in gallery")
			}
			labelled := labelledOnly(g)
			if labelled.Len() == 0 {
				return fmt.Errorf("eval: none of the %d images of the gallery has a label", g.Len())
			}
			result.Unlabelled = g.Len() - labelled.Len()
			gallery, result.LeftOut = &labelled, append(result.LeftOut, left...)
		}
	}
	query, left, err := splitSet(r.Manifest, r.Store, result.Split)
	if err != nil {
		return err
	}
	if query.Len() == 0 {
		return fmt.Errorf("eval: the manifest has no readable image in the split %s; it has %s", result.Split, splitNames(r.Manifest))
	}
	result.Unlabelled += query.Len()
	if query = labelledOnly(query); query.Len() == 0 {
		return fmt.Errorf("eval: none of the images of the split %s has a label", result.Split)
	}
	result.Unlabelled -= query.Len()
	result.LeftOut = append(result.LeftOut, left...)
	now := asked{query, gallery}
	was := now
	if frozen != r.Store {
		if was, err = frozenOf(r.Manifest, frozen, result.Split, gallery != nil); err != nil {
			return err
		}
		was, now = onSameImages(was, now)
	}
	train, _, err := splitSet(r.Manifest, frozen, datasets.Train)
	if err != nil {
		return err
	}
	if train.Len() == 0 {
		return fmt.Errorf("eval: the manifest has no train split to compute the whitened row from; it has %s", splitNames(r.Manifest))
	}
	all, err := compareTuned(c.Context, r.Head, train, was, now, opts)
	if err != nil {
		return err
	}
	all.FineTuned = r.tuned != nil
	if all.Trained.N == 0 {
		return fmt.Errorf("eval: no image of the split %s has another of its class to find", result.Split)
	}
	result.Retrieval, result.Frozen, result.Whitened, result.Verdict = all.Trained, all.Frozen, all.Whitened, all.verdict()
	result.FineTuned, result.Backbone = all.FineTuned, r.tunedFile()
	if c.Bool("json") {
		return printJSON(c.App.Writer, result)
	}
	printEval(c.App.Writer, result, opts.K)
	return nil
}

// frozenOf is the labelled images of a split, and of the gallery if there is one, as another store has them.
func frozenOf(d *datasets.Dataset, store *features.Store, split string, gallery bool) (asked, error) {
	q, _, err := splitSet(d, store, split)
	if err != nil || !gallery {
		return asked{query: labelledOnly(q)}, err
	}
	g, _, err := splitSet(d, store, datasets.Gallery)
	g = labelledOnly(g)
	return asked{labelledOnly(q), &g}, err
}

// onSameImages leaves out what only one of the two could read: an image that was mended since the training.
func onSameImages(a, b asked) (asked, asked) {
	q := asked{query: shared(a.query, b.query)}
	p := asked{query: shared(b.query, a.query)}
	if a.gallery != nil && b.gallery != nil {
		g, h := shared(*a.gallery, *b.gallery), shared(*b.gallery, *a.gallery)
		q.gallery, p.gallery = &g, &h
	}
	return q, p
}

// shared is the rows of set that are of the same images as some of other's.
func shared(set, other features.Set) features.Set {
	there := make(map[int]bool, other.Len())
	for _, id := range other.IDs {
		there[id] = true
	}
	rows := []int{}
	for i, id := range set.IDs {
		if there[id] {
			rows = append(rows, i)
		}
	}
	if len(rows) == set.Len() {
		return set
	}
	return set.Rows(rows)
}

// splitNames lists the splits a manifest has.
func splitNames(d *datasets.Dataset) string {
	text := ""
	for i, s := range d.Count() {
		if i > 0 {
			text += ", "
		}
		text += s.Split
	}
	return text
}

func printEval(w io.Writer, r evalResult, ks []int) {
	fmt.Fprintf(w, "%-10s %8s", r.Split, "P@1")
	for _, k := range ks {
		if k != 1 {
			fmt.Fprintf(w, " %8s", fmt.Sprintf("R@%d", k))
		}
	}
	fmt.Fprintf(w, " %8s %8s\n", "R-Prec", "MAP@R")
	for _, row := range []struct {
		name string
		r    eval.Retrieval
	}{{"frozen", r.Frozen}, {"whitened", r.Whitened}, {"trained", r.Retrieval}} {
		fmt.Fprintf(w, "%-10s %8.4f", row.name, row.r.PrecisionAt1)
		for _, k := range ks {
			if k != 1 {
				fmt.Fprintf(w, " %8.4f", row.r.Recall[k])
			}
		}
		fmt.Fprintf(w, " %8.4f %8.4f\n", row.r.RPrecision, row.r.MAPAtR)
	}
	fmt.Fprintf(w, "%d queries", r.N)
	if r.Lonely > 0 {
		fmt.Fprintf(w, ", %d without any positive", r.Lonely)
	}
	if r.Unlabelled > 0 {
		fmt.Fprintf(w, ", %d images without a label left out", r.Unlabelled)
	}
	if n := len(r.LeftOut); n > 0 {
		fmt.Fprintf(w, ", %d unreadable images left out", n)
	}
	fmt.Fprintf(w, "\n%s\n", r.Verdict)
}
