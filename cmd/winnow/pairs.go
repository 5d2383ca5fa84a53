package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/papers/pairs"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

func pairsCommand() *cli.Command {
	return &cli.Command{
		Name:      "pairs",
		Usage:     "compare false pairs of training images with true ones: how near they lie, and how much of what a loss learns is wrong",
		ArgsUsage: "[RUN]",
		Description: "For a manifest with true labels beside the given ones. SCL-RHE's (004) Fig. 2: the cosines of pairs of training images,\n" +
			"by whether their given and their true labels agree; and the shares of its section 4.2: how much of what a contrastive\n" +
			"loss is taught wrongly comes from false positives, on a run's own batches (its sampler, seed and losses), embedded by\n" +
			"its head, or on frozen features without a run. Beside the labels as given stand labels with symmetric noise of the\n" +
			"same rate, on the same vectors. Nothing of it reaches a run of winnow train.\n\n" +
			"   winnow pairs runs/a --out runs/a/pairs\n" +
			"   winnow pairs --features features --manifest people.csv --synthetic 0.2 --json",
		Flags: append([]cli.Flag{
			&cli.Float64Flag{Name: "synthetic", DefaultText: "the share of wrong labels", Usage: "`RATE` of the symmetric noise beside the given labels"},
			&cli.StringFlag{Name: "loss", DefaultText: "the run's, or supcon,scl_rhe", Usage: "`LIST` of losses of pairs, with their default settings"},
			&cli.IntFlag{Name: "batches", DefaultText: "those of one epoch", Usage: "look at `N` batches"},
			&cli.StringFlag{Name: "batch", DefaultText: "the run's, or 512", Usage: "`PxK` or N: classes and images of each in a batch, or images"},
			&cli.IntFlag{Name: "pairs", Value: 50_000_000, Usage: "compare at most `N` pairs: of more, those among images drawn at random"},
			&cli.Uint64Flag{Name: "seed", DefaultText: "the run's, or 1", Usage: "seed `N` of the batches, the symmetric noise and what is drawn"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "`DIR` for pairs.json, bins.csv and the drawings"},
			&cli.BoolFlag{Name: "json", Usage: "print everything with the bins as JSON"},
		}, dataFlags...),
		Action: pairsAction,
	}
}

// pairsResult is pairs.json.
type pairsResult struct {
	Winnow     string           `json:"winnow"`
	Run        string           `json:"run,omitempty"`
	Head       string           `json:"head,omitempty"` // file in the run's folder; "" for frozen features
	Step       *int             `json:"step,omitempty"` // of the training, after which the head was as it is
	View       string           `json:"view,omitempty"`
	Seed       uint64           `json:"seed"`
	Images     int              `json:"images"`
	Compared   int              `json:"compared_images"` // fewer than Images where they were drawn
	Classes    int              `json:"classes"`         // true ones
	Labellings []labelling      `json:"labellings"`
	LeftOut    []lookup.LeftOut `json:"left_out"`
}

// labelling is what one set of labels makes of the pairs.
type labelling struct {
	Name    string        `json:"name"`
	Wrong   float64       `json:"wrong"` // share of wrong labels
	Cosines pairs.Cosines `json:"cosines"`
	Signals pairs.Signals `json:"signals"`
	Formula pairFormula   `json:"formula"`

	labels pairs.Labels
}

// pairFormula is what symmetric noise of the same rate over equally frequent classes leads one to expect.
type pairFormula struct {
	PFP     float64 `json:"p_fp"`
	PFN     float64 `json:"p_fn"`
	OfRates float64 `json:"false_positives_of_wrong_by_rate"`
}

// Names of the labellings.
const (
	asGiven  = "as given"
	symmetry = "symmetric noise"
)

func pairsAction(c *cli.Context) error {
	if c.IsSet("batches") && c.Int("batches") < 1 {
		return misused("--batches: found %d, expected 1 or more", c.Int("batches"))
	}
	if c.Int("pairs") < 1 {
		return misused("--pairs: found %d, expected 1 or more", c.Int("pairs"))
	}
	rt, err := openRuntime(c)
	if err != nil {
		return err
	}
	defer rt.Close()
	var w pairsWork
	if c.Args().Present() {
		w, err = pairsOfRun(c)
	} else {
		w, err = pairsOfFeatures(c)
	}
	if err != nil {
		return err
	}
	if c.IsSet("loss") {
		w.losses = namedLosses(c.String("loss"))
	}
	if err := w.label(c); err != nil {
		return err
	}
	if err := w.measure(c); err != nil {
		return err
	}
	if c.IsSet("out") {
		if err := writePairs(c, w.result); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, w.result)
	}
	return printPairs(c.App.Writer, w.result)
}

// pairsWork is what pairs are looked at of.
type pairsWork struct {
	result  pairsResult
	data    *datasets.Dataset
	set     features.Set // labelled training images as embedded; IDs are positions in data
	sampler train.SamplerConfig
	losses  []config.Loss
}

// pairsOfRun embeds a run's training images and takes over its batches and losses.
func pairsOfRun(c *cli.Context) (w pairsWork, err error) {
	r, err := openRunArg(c, datasets.Train, datasets.Validation)
	if err != nil {
		return w, err
	}
	data, err := run.Join(r.Manifest, r.Store)
	if err != nil {
		return w, err
	}
	w = newPairsWork(r.Manifest, data)
	w.result.Run, w.result.Head, w.result.View, w.result.Seed, w.result.Step = r.Dir, r.HeadFile, r.Look(), r.Config.Seed, stateStep(r)
	w.sampler, w.losses = r.Config.Sampler, r.Config.Losses
	if r.Config.Method != config.Metric {
		w.losses = nil
	}
	w.set, err = r.Head.EmbedSet(w.set)
	return w, err
}

// pairsOfFeatures takes the features of a store as embeddings, and SCL-RHE's batches and losses.
func pairsOfFeatures(c *cli.Context) (w pairsWork, err error) {
	for _, flag := range []string{"manifest", "features"} {
		if !c.IsSet(flag) {
			return w, misused("pairs: --%s is missing: expected a run folder, or --manifest and --features", flag)
		}
	}
	d, err := datasets.Read(c.String("manifest"), datasets.ReadOptions{})
	if err != nil {
		return w, err
	}
	store, err := features.Open(c.String("features"))
	if err != nil {
		return w, err
	}
	if store, err = folder.LookAt(store, c.String("view"), noter(c)); err != nil {
		return w, err
	}
	data, err := run.Join(d, store)
	if err != nil {
		return w, err
	}
	w = newPairsWork(d, data)
	w.sampler = train.SamplerConfig{Variant: train.Shuffle, Rows: 512}
	w.losses = namedLosses("supcon,scl_rhe")
	return w, features.Normalize(w.set.X)
}

func newPairsWork(d *datasets.Dataset, data run.Data) pairsWork {
	return pairsWork{data: d, set: data.Train.Labelled(), result: pairsResult{Winnow: version(), Seed: 1, LeftOut: append([]lookup.LeftOut{}, data.LeftOut...)}}
}

// namedLosses are losses with their default settings.
func namedLosses(list string) (out []config.Loss) {
	for _, name := range strings.Split(list, ",") {
		out = append(out, config.Loss{Name: strings.TrimSpace(name)})
	}
	return out
}

// label puts the true labels beside the given ones, and beside those symmetric noise.
func (w *pairsWork) label(c *cli.Context) error {
	if !w.data.HasTruth(datasets.Train) {
		return withHint(fmt.Errorf("pairs: the manifest has no true labels to compare with"), "make a manifest with known wrong labels: winnow data corrupt")
	}
	if c.IsSet("seed") {
		w.result.Seed = c.Uint64("seed")
	}
	given := labelling{Name: asGiven, labels: labelsAt(w.data, w.set.IDs)}
	given.Wrong = given.labels.Wrong()
	rate := given.Wrong
	if c.IsSet("synthetic") {
		rate = c.Float64("synthetic")
	}
	w.result.Labellings = []labelling{given}
	w.result.Images, w.result.Classes = w.set.Len(), classesIn(given.labels.True)
	if rate == 0 {
		return withHint(misused("pairs: no label of the manifest is wrong"), "--synthetic RATE looks at symmetric noise")
	}
	noise, err := newNoise(c.Context, noiseSpec{Model: "symmetric", Rate: rate, Count: datasets.Exact}, nil)
	if err != nil {
		return err
	}
	noisy, err := w.data.TrueLabels(datasets.Train).Corrupt(datasets.Train, noise, noiseRand(w.result.Seed))
	if err != nil {
		return err
	}
	other := labelling{Name: symmetry, labels: labelsAt(noisy, w.set.IDs)}
	other.Wrong = other.labels.Wrong()
	w.result.Labellings = append(w.result.Labellings, other)
	return nil
}

// labelsAt are the labels of the samples at these positions.
func labelsAt(d *datasets.Dataset, at []int) (l pairs.Labels) {
	for _, id := range at {
		l.Given, l.True = append(l.Given, d.Samples[id].Label), append(l.True, d.Samples[id].True)
	}
	return l
}

func classesIn(labels []int) int {
	return len(slices.Compact(slices.Sorted(slices.Values(labels))))
}
