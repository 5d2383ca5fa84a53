package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/eval"
	"winnow/eval/findings"
	"winnow/eval/judges"
	"winnow/features"
	"winnow/filters"
	"winnow/filters/leaveout"
	"winnow/head"
	"winnow/internal/atomicfile"
	"winnow/internal/config"
)

func auditCommand() *cli.Command {
	return &cli.Command{
		Name:      "audit",
		Usage:     "rank every training image by how wrong its label looks, with a suggested label",
		ArgsUsage: "[RUN]",
		Description: "Without a run, --manifest and --features name what is judged: the stored features of the training images,\n" +
			"whitened, by --scorer " + judges.Default + ". Every score leaves its own image out. Beside the suspects it looks for images that\n" +
			"fit no class, near copies with different labels, and classes that look like one or like two, and --clean writes a\n" +
			"manifest without the suspects or with the labels suggested; rows that are not for training stay as they are.\n\n" +
			"   winnow audit --manifest noisy.csv --features features --out suspects.csv --classes classes.csv\n" +
			"   winnow audit --manifest noisy.csv --features features --clean clean.csv --drop --precision 0.9\n" +
			"   winnow audit --manifest noisy.csv --features features --scorer crossfit\n\n" +
			"Scorers:\n\n" + scorerHelp() + "\n\n" +
			"Of a run, scores are those of the run's filter (P_clean: 0 surely wrong, 1 surely right), each image left out of its\n" +
			"own judgement; ProxySim judges by the run's last state, whose proxies are in its checkpoint. Of a run that weighed\n" +
			"its samples (selfpaced) the scores are the final weights, 0 to 1; images of equal weight, as many are 0 or 1, are\n" +
			"ranked by how far their losses ξ⁺+ξ⁻ lie above the mean of their class; those of weight 0 are called\n" +
			"wrong unless --noise-rate says how many; labels are then suggested by vmf. Where the manifest knows true labels, the\n" +
			"detection is measured too.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write all images, most suspect first, to `FILE`.csv, .json or .jsonl"},
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
			&cli.BoolFlag{Name: "include-eval", Usage: "--clean, without a run: judge and clean validation and test images too"},
		}, dataFlags...),
		Action: auditRun,
	}
}

// auditScorers are the scorers that can judge without the proxies of a loss.
func auditScorers() []string {
	var names []string
	for _, e := range filters.Catalog {
		if e.NeedsBank {
			names = append(names, e.Name)
		}
	}
	return append(append(names, selfPacedScorer, crossfitScorer), judges.Names()...)
}

// auditEntry is one judged image, as it is written.
type auditEntry struct {
	Rank             int      `json:"rank"`
	Path             string   `json:"path"`
	Given            string   `json:"given_label"`
	Suggested        string   `json:"suggested_label"`
	Score            float64  `json:"score"`
	SuggestedScore   float64  `json:"suggested_score"`
	Dropped          bool     `json:"dropped"` // among the share called wrong
	True             string   `json:"true_label,omitempty"`
	SupportGiven     []string `json:"nearest_with_given_label"`
	SupportSuggested []string `json:"nearest_with_suggested_label"`
	Fit              *float64 `json:"fit"`     // to the class that it fits best, in deviations; null: not judged
	Outlier          bool     `json:"outlier"` // fits no class
	Copies           []copyOf `json:"copies_with_other_labels"`
}

// audited is the outcome of an audit.
type audited struct {
	Scorer    string          `json:"scorer"`
	Suggests  string          `json:"suggested_by,omitempty"` // the scorer of the suggested labels, where that is another
	Rate      float64         `json:"rate"`
	Backbone  string          `json:"backbone,omitempty"` // file of the fine-tuned network that saw the images
	View      string          `json:"view,omitempty"`     // center or mean, where the store has several views of each image
	Detection *eval.Detection `json:"detection"`          // null where true labels are not known
	Images    []auditEntry    `json:"images"`
	LeftOut   []leftOut       `json:"left_out"`
	Noise     *noiseEstimate  `json:"estimated_noise"` // null where there is nothing to estimate from
	Classes   []auditedClass  `json:"classes"`

	left     *leaveout.Set // the classes as the scorer left them; nil: it left none
	found    *looked
	suspects []eval.Suspect // rows are positions in set
	set      features.Set   // labelled training images, embedded; IDs are positions in the dataset
	classes  []string       // names of the labels of set
}

func auditRun(c *cli.Context) error {
	if err := checkClean(c); err != nil {
		return err
	}
	if c.NArg() == 0 && c.IsSet("manifest") && c.IsSet("features") {
		return auditStore(c)
	}
	if c.NArg() == 0 {
		return misused("winnow audit takes one run folder, or --manifest FILE and --features DIR")
	}
	if c.Bool("include-eval") {
		return misused("--include-eval goes with --manifest and --features, without a run")
	}
	if c.String("scorer") == crossfitScorer {
		return misused("--scorer: %s trains for itself and judges stored features: give --manifest and --features, and no run", crossfitScorer)
	}
	r, err := openRunArg(c, datasets.Train, datasets.Validation)
	if err != nil {
		return err
	}
	mem, err := parseSize(c.String("max-mem"))
	if err != nil {
		return misused("--max-mem: %v", err)
	}
	if auditWriter(c.String("out")) == nil {
		return misused("--out: %q ends in none of .csv, .json, .jsonl", c.String("out"))
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
	return a.give(c, r.Manifest, mem)
}

// audit judges the training images by what the run judges by, or by what the flags say.
func (r *openedRun) audit(c *cli.Context, mem int64) (audited, error) {
	if auditsByWeights(c, r.Config) {
		return auditWeights(c, r, mem)
	}
	own, err := proxiesToAuditBy(c, r)
	if err != nil {
		return audited{}, err
	}
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
	set, left, err := splitSet(r.Manifest, store, datasets.Train)
	if err != nil {
		return audited{}, err
	}
	a, err := audit(c.Context, h, set, r.Manifest, filter, own, mem)
	if err != nil {
		return a, err
	}
	a.LeftOut, a.View = append([]leftOut{}, left...), r.view(c)
	if a.Backbone = r.tunedFile(); own != nil && r.tuned != nil {
		a.Backbone = filepath.Join(r.Dir, lastBackboneFile)
	}
	return a, nil
}

// give writes and prints an audit as the flags say; d is what is to be cleaned.
func (a audited) give(c *cli.Context, d *datasets.Dataset, mem int64) error {
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
		if err := a.clean(c, d); err != nil {
			return err
		}
	}
	if path := c.String("out"); path != "" {
		write := auditWriter(path)
		if err := atomicfile.Write(path, func(w io.Writer) error { return write(w, a) }); err != nil {
			return fmt.Errorf("audit: %s: %w", path, err)
		}
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, a)
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
			note(c, "the run's method, %s, has no filter: judging its embedding with vmf", methodTitle(cfg.Method))
		} else if !c.IsSet("scorer") {
			note(c, "the run's filter is %s, which cannot judge this set: judging with vmf", f.Scorer)
		}
		f.Scorer, f.Threshold = filters.Default().Scorer, filters.Default().Threshold
	}
	if c.IsSet("scorer") {
		f.Scorer = c.String("scorer")
		if entry, err = filters.Find(f.Scorer); err != nil || !entry.NeedsBank {
			return f, misused("--scorer: %q cannot audit, expected one of %s", f.Scorer, strings.Join(auditScorers(), ", "))
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
	set = labelledOnly(set)
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
	if a.set, err = embed(h, set); err != nil {
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
	a.Images = make([]auditEntry, len(a.suspects))
	for i, s := range a.suspects {
		a.Images[i] = a.entry(i, s, d, !kept[i])
	}
	return nil
}

// entry names what a suspect holds by number.
func (a *audited) entry(i int, s eval.Suspect, d *datasets.Dataset, dropped bool) auditEntry {
	sample := d.Samples[a.set.IDs[s.Row]]
	e := auditEntry{
		Rank: i + 1, Path: sample.Path, Given: d.Classes[sample.Label], Suggested: a.classes[s.Suggested],
		Score: s.Score, SuggestedScore: s.SuggestedScore, Dropped: dropped,
		SupportGiven: a.paths(s.SupportGiven, d), SupportSuggested: a.paths(s.SupportSuggested, d),
	}
	if sample.True != datasets.Unlabelled {
		e.True = d.Classes[sample.True]
	}
	return e
}

func (a *audited) paths(list []eval.Neighbour, d *datasets.Dataset) []string {
	paths := make([]string, len(list))
	for i, n := range list {
		paths[i] = d.Samples[a.set.IDs[n.Row]].Path
	}
	return paths
}
