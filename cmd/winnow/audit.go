package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/audit/findings"
	"winnow/audit/judges"
	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/filters"
	"winnow/filters/leaveout"
	"winnow/head"
	"winnow/internal/atomicfile"
	"winnow/internal/catalog"
	"winnow/internal/lookup"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train/samples"
)

func auditCommand() *cli.Command {
	return &cli.Command{
		Name:      "audit",
		Usage:     "rank every training image by how wrong its label looks, with a suggested label",
		ArgsUsage: "[RUN]",
		Description: "Without a run, --labels (or --manifest) and --features name what is judged: the stored features of the training images,\n" +
			"whitened, by --scorer " + judges.Default + ". Every score leaves its own image out. Beside the suspects it looks for images that\n" +
			"fit no class, near copies with different labels, and classes that look like one or like two, and --clean writes a\n" +
			"manifest without the suspects or with the labels suggested; rows that are not for training stay as they are.\n\n" +
			"   winnow audit --features features --labels noisy.csv --out suspects.csv --classes classes.csv\n" +
			"   winnow audit --features features --labels noisy.csv --clean clean.csv --drop --precision 0.9\n" +
			"   winnow audit --features features --labels noisy.csv --scorer crossfit\n\n" +
			"The cleaned manifest is the one that was read, in its own form, with all its columns: rows are left out and labels\n" +
			"replaced, nothing else. Of a folder of images a CSV manifest is made.\n\n" +
			"Scorers:\n\n" + scorerHelp() + "\n\n" +
			"Of a run, scores are those of the run's filter (P_clean: 0 surely wrong, 1 surely right), each image left out of its\n" +
			"own judgement; ProxySim judges by the run's last state, whose proxies are in its checkpoint. Of a run that weighed\n" +
			"its samples (selfpaced) the scores are the final weights, 0 to 1; images of equal weight, as many are 0 or 1, are\n" +
			"ranked by how far their losses ξ⁺+ξ⁻ lie above the mean of their class; those of weight 0 are called\n" +
			"wrong unless --noise-rate says how many; labels are then suggested by vmf. Where the manifest knows true labels, the\n" +
			"detection is measured too. The noise rate, the classes, outliers and copies are those of the stored features, whitened,\n" +
			"which have not learnt the labels.\n\n" + probabilityHelp() + "\n\n" + columnHelp,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write all images, most suspect first, to `FILE`.csv, .jsonl, .parquet, or all that is found to .json"},
			&cli.StringFlag{Name: "scorer", DefaultText: "the run's", Usage: "judge by the scorer `NAME`: " + strings.Join(auditScorers(), ", ")},
			&cli.Float64Flag{Name: "noise-rate", Aliases: []string{"rate"}, DefaultText: "the run's", Usage: "share `P` of the labels to call wrong"},
			&cli.IntFlag{Name: "top", Value: 20, Usage: "print the `N` most suspect"},
			&cli.StringFlag{Name: "max-mem", Value: "1GiB", Usage: "most memory for similarities, `SIZE`: 512MiB, 2GiB"},
			&cli.BoolFlag{Name: "json", Usage: "print everything as JSON"},
			&cli.StringFlag{Name: "classes", Usage: "write what is known of each class to `FILE`.csv"},
			&cli.Float64Flag{Name: "copies", Value: findings.CopyBound, Usage: "cosine `S` from which two images are near copies"},
			&cli.IntFlag{Name: "neighbours", Value: 10, Usage: "scorer knn: `K` images that vote"},
			&cli.IntFlag{Name: "folds", Value: 5, Usage: "scorers probe, confident and crossfit: `K` parts of which one is judged by the others"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of the folds and of the resampling behind the interval"},
			&cli.StringFlag{Name: "clean", Usage: "write a mended manifest to `FILE`, by default of the images called wrong"},
			&cli.BoolFlag{Name: "drop", Usage: "--clean: leave them out"},
			&cli.BoolFlag{Name: "relabel", Usage: "--clean: give them the suggested label"},
			&cli.Float64Flag{Name: "share", Usage: "--clean: the most suspect share `P` of the judged images"},
			&cli.Float64Flag{Name: "below", Usage: "--clean: images with a score below `SCORE`"},
			&cli.Float64Flag{Name: "precision", Usage: "--clean: as many as keep the expected share of wrong labels among them at `P`, by the scores"},
			&cli.BoolFlag{Name: "include-eval", Usage: "--clean: judge and clean validation and test images too"},
		}, named(dataFlags, "manifest", "labels")...),
		Action: auditRun,
	}
}

// auditScorers are the scorers that can judge without the proxies of a loss.
func auditScorers() []string { return append(append(runScorers(), judges.Names()...), crossfitScorer) }

// runScorers are those of them that are about runs.
func runScorers() []string {
	var names []string
	for _, e := range filters.Catalog {
		if e.NeedsBank {
			names = append(names, e.Name)
		}
	}
	return slices.Concat(names, []string{selfPacedScorer}, samples.Rankings)
}

// audited is the outcome of an audit.
type audited struct {
	Scorer    string            `json:"scorer"`
	Suggests  string            `json:"suggested_by,omitempty"` // the scorer of the suggested labels, where that is another
	Rate      float64           `json:"rate"`
	Backbone  string            `json:"backbone,omitempty"` // file of the fine-tuned network that saw the images
	View      string            `json:"view,omitempty"`     // center or mean, where the store has several views of each image
	Detection *eval.Detection   `json:"detection"`          // null where true labels are not known
	Images    []suspects.Entry  `json:"images"`
	Unjudged  int               `json:"unjudged"` // images alone in their class: nothing is known of them, and their score is 1
	LeftOut   []lookup.LeftOut  `json:"left_out"`
	Noise     *folder.NoiseRate `json:"estimated_noise"` // null where there is nothing to estimate from
	Classes   []auditedClass    `json:"classes"`

	left     *leaveout.Set // the classes as the scorer left them; nil: it left none
	found    *looked
	suspects []eval.Suspect  // rows are positions in set
	set      features.Set    // labelled training images, embedded; IDs are positions in the dataset
	stored   features.Set    // the same as look takes them, where that is not set
	from     *features.Store // of the network that judged, where that is not the run's
	classes  []string        // names of the labels of set
}

func auditRun(c *cli.Context) error {
	if err := checkAudit(c); err != nil {
		return err
	}
	if c.NArg() == 0 && c.IsSet("manifest") && c.IsSet("features") {
		return auditStore(c)
	}
	if c.NArg() == 0 {
		return misused("winnow audit takes one run folder, or --labels FILE and --features DIR")
	}
	splits := []string{datasets.Train, datasets.Validation}
	if c.Bool("include-eval") {
		splits = nil // all
	}
	if c.String("scorer") == crossfitScorer {
		return misused("--scorer: %s trains for itself and judges stored features: give --labels and --features, and no run", crossfitScorer)
	}
	r, err := openRunArg(c, splits...)
	if err != nil {
		return err
	}
	if err := checkForm(c, r.ManifestFile); err != nil {
		return err
	}
	if err := checkWritten(c, r.ManifestFile); err != nil {
		return err
	}
	mem, err := parseSize(c.String("max-mem"))
	if err != nil {
		return misused("--max-mem: %v", err)
	}
	if err := checkOut(c); err != nil {
		return err
	}
	if slices.Contains(judges.Names(), c.String("scorer")) {
		return auditEmbedding(c, r, mem)
	}
	rt, err := openRuntime(c)
	if err != nil {
		return err
	}
	defer rt.Close()
	a, err := r.audit(c, mem)
	if err != nil {
		return err
	}
	if err := a.lookAtStored(r); err != nil {
		return err
	}
	return a.give(c, r.ManifestFile, r.Manifest, mem)
}

// audit judges the training images by what the run judges by, or by what the flags say; with --include-eval all.
func (r *openedRun) audit(c *cli.Context, mem int64) (audited, error) {
	if auditsByTraining(c) {
		return auditTraining(c, r, mem)
	}
	if auditsByWeights(c, r.Config) {
		if c.Bool("include-eval") {
			return audited{}, misused("--include-eval: the weights of %s are of its training images: name another --scorer", r.Dir)
		}
		return auditWeights(c, r, mem)
	}
	own, err := proxiesToAuditBy(c, r)
	if err != nil {
		return audited{}, err
	}
	if own != nil && c.Bool("include-eval") {
		return audited{}, misused("--include-eval: the proxies of %s are of the classes it was trained on: name another --scorer", r.Dir)
	}
	d := asJudged(c, r.Manifest)
	filter := r.Config.Filter.In(1)
	if own == nil {
		if filter, err = auditFilter(c, r.Config); err != nil {
			return audited{}, err
		}
	} else if c.IsSet("rate") {
		filter.Rate = c.Float64("rate")
	}
	h, store := r.Head, r.Store
	if own != nil {
		h, store = own.head, own.store
	}
	set, left, err := lookup.Split(d, store, datasets.Train)
	if err != nil {
		return audited{}, err
	}
	a, err := audit(c.Context, h, set, d, filter, own, mem)
	if err != nil {
		return a, err
	}
	a.LeftOut, a.View, a.from = append([]lookup.LeftOut{}, left...), r.Look(), store
	if a.Backbone = r.TunedFile(); own != nil && r.Tuned != nil {
		a.Backbone = filepath.Join(r.Dir, folder.LastBackboneFile)
	}
	return a, nil
}

// give writes and prints an audit as the flags say; source, read as d, is what is to be cleaned.
func (a audited) give(c *cli.Context, source string, d *datasets.Dataset, mem int64) error {
	if a.found == nil {
		if err := a.look(c, mem); err != nil {
			return err
		}
	}
	a.tell(d)
	if path := c.String("classes"); path != "" {
		if err := atomicfile.Write(path, a.writeClasses); err != nil {
			return fmt.Errorf("audit: %s: %w", path, err)
		}
	}
	if c.IsSet("clean") {
		if err := a.clean(c, source, d); err != nil {
			return err
		}
	}
	if path := c.String("out"); path != "" {
		if err := atomicfile.Write(path, func(w io.Writer) error { return a.write(w, path) }); err != nil {
			return fmt.Errorf("audit: %s: %w", path, err)
		}
	}
	if c.Bool("json") {
		return a.writeJSON(c.App.Writer)
	}
	printAudit(c.App.Writer, a, c.Int("top"))
	return nil
}

// auditFilter is the run's filter, or vMF-Sim where that cannot judge a whole set by the set alone.
func auditFilter(c *cli.Context, cfg config.Run) (filters.Config, error) {
	f := cfg.Filter.In(1)
	if cfg.HasPeers() {
		f.Rate = float64(cfg.Peers.Rate)
	}
	entry, err := filters.Find(f.Scorer)
	if err != nil || !entry.NeedsBank {
		if !c.IsSet("scorer") && cfg.Method != config.Metric {
			note(c, "the run's method, %s, has no filter: judging its embedding with vmf", run.MethodTitle(cfg.Method))
		} else if !c.IsSet("scorer") {
			note(c, "the run's filter is %s, which cannot judge this set: judging with vmf", f.Scorer)
		}
		f.Scorer, f.Threshold = filters.Default().Scorer, filters.Default().Threshold
	}
	if c.IsSet("scorer") {
		f.Scorer = c.String("scorer")
		if entry, err = filters.Find(f.Scorer); err == nil && entry.NeedsProxy {
			return f, misused("--scorer: %s judges by the proxies of a run that was trained with --filter %s, and this one was not: expected one of %s", f.Scorer, f.Scorer, strings.Join(auditScorers(), ", "))
		} else if err != nil || !entry.NeedsBank {
			return f, misused("--scorer: %q cannot audit%s, expected one of %s", f.Scorer, catalog.Ask(f.Scorer, auditScorers()), strings.Join(auditScorers(), ", "))
		}
		f.Threshold = filters.ThresholdSTRM
	}
	if c.IsSet("noise-rate") {
		f.Rate = c.Float64("noise-rate")
	}
	return f, f.Validate()
}

// audit judges the labelled rows of set by the head's embedding, and by a run's own proxies if its filter does
// (own may be nil). It is the one way: winnow audit and winnow demo both come here.
func audit(ctx context.Context, h *head.Head, set features.Set, d *datasets.Dataset, cfg filters.Config, own *runProxies, maxMem int64) (audited, error) {
	a, err := judged(ctx, h, set, d, cfg, own, maxMem)
	if err != nil {
		return a, err
	}
	return a, a.conclude(d, func(orders []float64) []bool { return eval.KeepShare(orders, cfg.Rate) })
}

// judged is an audit that is not concluded yet.
func judged(ctx context.Context, h *head.Head, set features.Set, d *datasets.Dataset, cfg filters.Config, own *runProxies, maxMem int64) (audited, error) {
	a := audited{Scorer: cfg.Scorer, Rate: cfg.Rate, classes: d.Classes}
	set = set.Labelled()
	env := filters.Env{Dim: h.Config().Out, Classes: len(d.Classes)}
	if own != nil {
		a.classes = own.classes
		set.Labels = own.number(set.Labels)
		env.Classes, env.Proxies, env.PerClass = len(own.classes), own.param, own.param.Rows/len(own.classes)
	}
	if set.Len() < 2 {
		return a, fmt.Errorf("audit: %d labelled, readable training images, expected at least 2", set.Len())
	}
	var err error
	if a.set, err = h.EmbedSet(set); err != nil {
		return a, err
	}
	f, err := filters.New(cfg, env)
	if err != nil {
		return a, err
	}
	if a.suspects, err = eval.Audit(ctx, f.Scorer(), a.set, env.Classes, eval.AuditOptions{MaxMem: maxMem}); err != nil {
		return a, err
	}
	return a, nil
}

// conclude says which labels are called wrong, measures that where the truth is known, and names everything.
func (a *audited) conclude(d *datasets.Dataset, keep func(orders []float64) []bool) error {
	orders := make([]float64, len(a.suspects))
	for i, s := range a.suspects {
		orders[i] = s.Order
	}
	kept := keep(orders)
	if d.HasTruth(datasets.Train) {
		wrong := make([]bool, len(a.suspects))
		for i, s := range a.suspects {
			sample := d.Samples[a.set.IDs[s.Row]]
			wrong[i] = sample.Label != sample.True
		}
		detection, err := eval.Detect(orders, wrong, kept)
		if err != nil {
			return err
		}
		a.Detection = &detection
	}
	a.Images = make([]suspects.Entry, len(a.suspects))
	certain, given := a.suggestsProbably(), a.given()
	for i, s := range a.suspects {
		alone := given[a.set.Labels[s.Row]] < 2
		if a.Images[i] = a.entry(i, s, d, !kept[i], certain && !alone); alone {
			a.Unjudged++
		}
	}
	return nil
}

// given counts the images of each class.
func (a *audited) given() []int {
	count := make([]int, len(a.classes))
	for _, y := range a.set.Labels {
		count[y]++
	}
	return count
}

// entry names what a suspect holds by number.
func (a *audited) entry(i int, s eval.Suspect, d *datasets.Dataset, dropped, certain bool) suspects.Entry {
	sample := d.Samples[a.set.IDs[s.Row]]
	e := suspects.Entry{
		Rank: i + 1, Path: sample.Path, Given: d.Classes[sample.Label], Suggested: a.classes[s.Suggested],
		Score: s.Score, SuggestedScore: &s.SuggestedScore, Dropped: dropped,
		SupportGiven: a.near(s.SupportGiven, d), SupportSuggested: a.near(s.SupportSuggested, d), Copies: []suspects.Copy{},
	}
	if certain {
		e.SuggestedProbability = e.SuggestedScore
	}
	if sample.True != datasets.Unlabelled {
		e.True = d.Classes[sample.True]
	}
	return e
}

func (a *audited) near(list []eval.Neighbour, d *datasets.Dataset) []suspects.Near {
	near := make([]suspects.Near, len(list))
	for i, n := range list {
		near[i] = suspects.Near{Path: d.Samples[a.set.IDs[n.Row]].Path, Similarity: cosine(n.Similarity)}
	}
	return near
}

// cosine is a similarity with the digits that a float32 has.
func cosine(v float32) float64 { return math.Round(float64(v)*1e6) / 1e6 }
