package main

import (
	"fmt"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/run/comparison"
)

func evalCommand() *cli.Command {
	return &cli.Command{
		Name:      "eval",
		Usage:     "measure a trained head, beside frozen and whitened features",
		ArgsUsage: "RUN",
		Description: "Every image of the split asks for its nearest neighbours among the others; where the manifest has the\n" +
			"splits query and gallery (and no test), queries ask the gallery. Recall@K, P@1, R-Precision and MAP@R as in\n" +
			"Musgrave et al., A Metric Learning Reality Check (2020); queries without a positive are left out.\n" +
			"--metrics adds others (winnow metrics lists them): clustering parts the images of the split by k-means and\n" +
			"compares the clusters with their labels; nearest-class-mean and linear-probe learn the classes of the --fit\n" +
			"split from its given labels and name those of the split's images.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "split", DefaultText: "test, or query against gallery", Usage: "the `SPLIT` to measure on"},
			&cli.StringFlag{Name: "metrics", Value: "retrieval", Usage: "`NAME,...` of winnow metrics, or all"},
			&cli.StringFlag{Name: "fit", DefaultText: "train, or gallery for queries", Usage: "the `SPLIT` that nearest-class-mean and linear-probe are fitted on"},
			&cli.StringFlag{Name: "k", Value: "1,2,4,8,16,32", Usage: "`K,...` of Recall@K"},
			&cli.IntFlag{Name: "queries", DefaultText: "all", Usage: "let only `N` images, drawn by --seed, ask for their neighbours among all"},
			&cli.StringFlag{Name: "max-mem", Value: "1GiB", Usage: "most memory for similarities, `SIZE`: 512MiB, 2GiB"},
			&cli.BoolFlag{Name: "count-lonely", Usage: "a query without any positive counts as a miss, an image of a class not fitted as wrong"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`N` that k-means draws its starts by, and --queries"},
			&cli.StringSliceFlag{Name: "set", Usage: "`METRIC.SETTING=VALUE`, as winnow metrics METRIC lists them; may be repeated"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		}, dataFlags...),
		Action: evalRun,
	}
}

// evalResult is what winnow eval --json prints: the trained head, and beside it what needs no training.
type evalResult struct {
	*eval.Retrieval
	Split      string              `json:"split"`
	Frozen     *eval.Retrieval     `json:"frozen,omitempty"`
	Whitened   *eval.Retrieval     `json:"whitened,omitempty"`
	FineTuned  bool                `json:"finetuned,omitempty"`
	Backbone   string              `json:"backbone,omitempty"` // file of the fine-tuned network that was measured
	View       string              `json:"view,omitempty"`     // center or mean, where the store has several views of each image
	Verdict    string              `json:"verdict,omitempty"`
	Unlabelled int                 `json:"unlabelled"` // images that take no part: nobody knows what they should find, or who them
	LeftOut    []lookup.LeftOut    `json:"left_out"`
	Metrics    map[string]measured `json:"metrics,omitempty"`      // by name, those besides retrieval
	Skipped    map[string]string   `json:"not_measured,omitempty"` // by name, why
}

// evalGarbage is how much garbage, in percent of what is in use, waits for the collector while vectors are compared.
// Nearly all memory is vectors and similarities, which it does not look into: with a million images the usual 100
// would take another two gigabytes to save it a second of work.
const evalGarbage = 20

func evalRun(c *cli.Context) error {
	defer debug.SetGCPercent(debug.SetGCPercent(evalGarbage))
	metrics, err := chooseMetrics(c)
	if err != nil {
		return err
	}
	splits := []string{datasets.Test, datasets.Query, datasets.Gallery}
	if c.IsSet("split") {
		splits = []string{c.String("split")}
	}
	if metrics.fits() {
		splits = append(splits, fitSplit(c, datasets.Train))
	}
	r, err := openRunArg(c, splits...)
	if err != nil {
		return err
	}
	rt, err := openRuntime(c)
	if err != nil {
		return err
	}
	defer rt.Close()
	result := evalResult{Split: c.String("split"), View: r.Look(), LeftOut: []lookup.LeftOut{}}
	data, err := readEvalData(c, r, &result, metrics.fits())
	if err != nil {
		return err
	}
	result.FineTuned, result.Backbone = r.Tuned != nil, r.TunedFile()
	if err := metrics.measure(c, r.Head, data, &result); err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, result)
	}
	metrics.print(c.App.Writer, result)
	return nil
}

// evalData is what is measured: the same images as the backbone saw them before the run and as it sees them now, and
// the train split before it, from which the whitening is.
type evalData struct {
	train    features.Set
	was, now comparison.Asked
	fitted   string // the split of fit
}

// readEvalData finds the images and notes in the result what takes no part.
func readEvalData(c *cli.Context, r *openedRun, result *evalResult, fit bool) (evalData, error) {
	var data evalData
	store, err := r.FrozenStore()
	if err != nil {
		return data, err
	}
	if data.now, err = readAsked(r, result); err != nil {
		return data, err
	}
	if fit {
		data.fitted = fitSplit(c, datasets.Train)
		if data.now.Gallery != nil {
			data.fitted = fitSplit(c, datasets.Gallery)
		}
		if data.fitted == result.Split {
			return data, misused("--fit: %s is the split to measure on, expected another", data.fitted)
		}
		set, _, err := lookup.Split(r.Manifest, r.Store, data.fitted)
		if err != nil {
			return data, err
		}
		if set = set.Labelled(); set.Len() == 0 {
			return data, fmt.Errorf("eval: the manifest has no readable image with a label in the split %s to fit on; it has %s", data.fitted, r.Manifest.SplitNames())
		}
		data.now.Fit = &set
	}
	data.was = data.now
	if store != r.Store {
		if data.was, err = frozenOf(r.Manifest, store, result.Split, data.now.Gallery != nil, data.fitted); err != nil {
			return data, err
		}
		data.was, data.now = onSameImages(data.was, data.now)
	}
	if result.Split == datasets.Train && len(data.was.Query.IDs) == len(r.Manifest.Select(datasets.Train)) {
		data.train = data.was.Query // all of it is there already: a million vectors need not be there twice
	} else if data.train, _, err = lookup.Split(r.Manifest, store, datasets.Train); err != nil {
		return data, err
	}
	if data.train.Len() == 0 {
		return data, fmt.Errorf("eval: the manifest has no train split to compute the whitened row from; it has %s", r.Manifest.SplitNames())
	}
	return data, nil
}

// fitSplit is the split to fit on.
func fitSplit(c *cli.Context, otherwise string) string {
	if c.IsSet("fit") {
		return c.String("fit")
	}
	return otherwise
}

// readAsked is the labelled images of the split asked for, or of queries and gallery; which it is, the result says.
func readAsked(r *openedRun, result *evalResult) (comparison.Asked, error) {
	var gallery *features.Set
	if result.Split == "" {
		result.Split = datasets.Test
		if len(r.Manifest.Select(datasets.Test)) == 0 && len(r.Manifest.Select(datasets.Query)) > 0 {
			result.Split = datasets.Query
			g, left, err := lookup.Split(r.Manifest, r.Store, datasets.Gallery)
			if err != nil {
				return comparison.Asked{}, err
			}
			if g.Len() == 0 {
				return comparison.Asked{}, fmt.Errorf("eval: the manifest has the split query and no readable image in gallery")
			}
			labelled := g.Labelled()
			if labelled.Len() == 0 {
				return comparison.Asked{}, fmt.Errorf("eval: none of the %d images of the gallery has a label", g.Len())
			}
			result.Unlabelled = g.Len() - labelled.Len()
			gallery, result.LeftOut = &labelled, append(result.LeftOut, left...)
		}
	}
	query, left, err := lookup.Split(r.Manifest, r.Store, result.Split)
	if err != nil {
		return comparison.Asked{}, err
	}
	if query.Len() == 0 {
		return comparison.Asked{}, fmt.Errorf("eval: the manifest has no readable image in the split %s; it has %s", result.Split, r.Manifest.SplitNames())
	}
	result.Unlabelled += query.Len()
	if query = query.Labelled(); query.Len() == 0 {
		return comparison.Asked{}, fmt.Errorf("eval: none of the images of the split %s has a label", result.Split)
	}
	result.Unlabelled -= query.Len()
	result.LeftOut = append(result.LeftOut, left...)
	return comparison.Asked{Query: query, Gallery: gallery}, nil
}

// frozenOf is the labelled images of a split, of the gallery if there is one and of the split to fit on if one is
// named, as another store has them.
func frozenOf(d *datasets.Dataset, store *features.Store, split string, gallery bool, fit string) (out comparison.Asked, err error) {
	if out.Query, _, err = lookup.Split(d, store, split); err != nil {
		return out, err
	}
	out.Query = out.Query.Labelled()
	if gallery {
		g, _, err := lookup.Split(d, store, datasets.Gallery)
		if err != nil {
			return out, err
		}
		g = g.Labelled()
		out.Gallery = &g
	}
	if fit != "" {
		f, _, err := lookup.Split(d, store, fit)
		if err != nil {
			return out, err
		}
		f = f.Labelled()
		out.Fit = &f
	}
	return out, nil
}

// onSameImages leaves out what only one of the two could read: an image that was mended since the training.
func onSameImages(a, b comparison.Asked) (comparison.Asked, comparison.Asked) {
	both := func(p, q *features.Set) (*features.Set, *features.Set) {
		if p == nil || q == nil {
			return nil, nil
		}
		r, s := shared(*p, *q), shared(*q, *p)
		return &r, &s
	}
	var x, y comparison.Asked
	x.Query, y.Query = shared(a.Query, b.Query), shared(b.Query, a.Query)
	x.Gallery, y.Gallery = both(a.Gallery, b.Gallery)
	x.Fit, y.Fit = both(a.Fit, b.Fit)
	return x, y
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
