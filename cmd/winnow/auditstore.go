package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/audit/judges"
	"winnow/backbone"
	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/filters"
	"winnow/internal/catalog"
	"winnow/internal/lookup"
	"winnow/run"
	"winnow/run/folder"
	"winnow/train"
)

// auditStore is winnow audit without a run: of the stored features of a manifest's training images, whitened.
func auditStore(c *cli.Context) error {
	mem, err := parseSize(c.String("max-mem"))
	if err != nil {
		return misused("--max-mem: %v", err)
	}
	if err := checkOut(c); err != nil {
		return err
	}
	if v := c.String("view"); v != backbone.CenterName && v != folder.MeanView {
		return misused("--view: found %q, expected %s or %s", v, backbone.CenterName, folder.MeanView)
	}
	for _, flag := range []string{"last", "root"} {
		if c.IsSet(flag) {
			return misused("--%s is about runs: name one, or leave it out", flag)
		}
	}
	name := c.String("scorer")
	if name == "" {
		name = judges.Default
	}
	if !slices.Contains(storeScorers(), name) {
		return misused("--scorer: %q cannot judge stored features%s, expected one of %s", name, catalog.Ask(name, storeScorers()), strings.Join(storeScorers(), ", "))
	}
	if err := checkSwapped(c); err != nil {
		return err
	}
	if err := checkForm(c, c.String("manifest")); err != nil {
		return err
	}
	if err := checkWritten(c, c.String("manifest")); err != nil {
		return err
	}
	whole, err := datasets.Read(c.String("manifest"), datasets.ReadOptions{})
	if err != nil {
		return err
	}
	d := asJudged(c, whole)
	store, err := features.Open(c.String("features"))
	if err != nil {
		return withHint(err, "make the features first: winnow extract")
	}
	if err := store.Verify(); err != nil {
		return withHint(err, "make the features again: winnow extract --overwrite")
	}
	if store, err = folder.LookAt(store, c.String("view"), noter(c)); err != nil {
		return err
	}
	rt, err := openRuntime(c)
	if err != nil {
		return err
	}
	defer rt.Close()
	data, err := run.Join(d, store)
	if err != nil {
		return err
	}
	if data.Unlabelled > 0 {
		note(c, "%d training images have no label and are not judged", data.Unlabelled)
	}
	z, err := run.JudgedVectors(data)
	if err != nil {
		return err
	}
	a := audited{Scorer: name, classes: data.Classes, set: z.Labelled(), LeftOut: append([]lookup.LeftOut{}, data.LeftOut...)}
	if store.Views() > 1 {
		a.View = c.String("view")
	}
	if name == crossfitScorer {
		err = a.judgeCrossfit(c, data.Train.Labelled(), mem)
	} else {
		err = a.judge(c, mem)
	}
	if err != nil {
		return err
	}
	return a.finish(c, c.String("manifest"), d, whole, mem)
}

// auditEmbedding is winnow audit of a run's embedding by a judge of the catalog.
func auditEmbedding(c *cli.Context, r *openedRun, mem int64) error {
	rt, err := openRuntime(c)
	if err != nil {
		return err
	}
	defer rt.Close()
	d := asJudged(c, r.Manifest)
	set, left, err := lookup.Split(d, r.Store, datasets.Train)
	if err != nil {
		return err
	}
	a := audited{Scorer: c.String("scorer"), classes: r.Manifest.Classes, LeftOut: append([]lookup.LeftOut{}, left...), View: r.Look(), Backbone: r.TunedFile()}
	if a.set, err = r.Head.EmbedSet(set.Labelled()); err != nil {
		return err
	}
	if err := a.judge(c, mem); err != nil {
		return err
	}
	if err := a.lookAtStored(r); err != nil {
		return err
	}
	return a.finish(c, r.ManifestFile, d, r.Manifest, mem)
}

// storeScorers are the scorers that can judge vectors without a run.
func storeScorers() []string {
	names := append(judges.Names(), crossfitScorer)
	for _, e := range filters.Catalog {
		if e.NeedsBank {
			names = append(names, e.Name)
		}
	}
	return names
}

// asJudged is the dataset as it is judged: its training images, or with --include-eval all.
func asJudged(c *cli.Context, d *datasets.Dataset) *datasets.Dataset {
	if !c.Bool("include-eval") {
		return d
	}
	note(c, "--include-eval: images of the other splits are judged together with the training images, and cleaned: what is measured on them from now on is not independent of these scores")
	all := *d
	all.Samples = slices.Clone(d.Samples)
	for i := range all.Samples {
		all.Samples[i].Split = datasets.Train
	}
	return &all
}

// judge fills in the suspects of a.set by the scorer's name.
func (a *audited) judge(c *cli.Context, mem int64) (err error) {
	opts := eval.AuditOptions{MaxMem: mem}
	if !slices.Contains(judges.Names(), a.Scorer) {
		pairs := 0
		for _, n := range a.given() {
			if n > 1 {
				pairs++
			}
		}
		if pairs < 2 {
			return fmt.Errorf("audit: %d classes have two images or more, expected at least two", pairs)
		}
		cfg := filters.Default()
		cfg.Scorer, cfg.Threshold = a.Scorer, filters.ThresholdSTRM
		f, err := filters.New(cfg, filters.Env{Dim: a.set.Dim(), Classes: len(a.classes)})
		if err != nil {
			return err
		}
		a.suspects, err = eval.Audit(c.Context, f.Scorer(), a.set, len(a.classes), opts)
		return err
	}
	v, err := judges.Of(c.Context, a.set, len(a.classes), a.Scorer, judges.Options{
		Neighbours: c.Int("neighbours"), Folds: c.Int("folds"), MaxMem: mem, Rand: train.Rand(c.Uint64("seed"), "judges", 0),
	})
	if err != nil {
		return err
	}
	a.left = v.Classes
	a.suspects, err = eval.Suspects(c.Context, a.set, v.Opinion, opts)
	return err
}

// finish finds out what else there is to say of the set, concludes and gives the audit; d is the dataset as it was
// judged, whole as it was read.
func (a *audited) finish(c *cli.Context, source string, d, whole *datasets.Dataset, mem int64) error {
	if err := a.look(c, mem); err != nil {
		return err
	}
	a.Rate = 0
	if a.Noise != nil {
		a.Rate = a.Noise.Rate
	}
	if c.IsSet("noise-rate") {
		a.Rate = c.Float64("noise-rate")
	}
	if err := a.conclude(d, func(orders []float64) []bool { return eval.KeepShare(orders, a.Rate) }); err != nil {
		return err
	}
	return a.give(c, source, whole, mem)
}

// scorerHelp lists the scorers for the command's help.
func scorerHelp() string {
	var out strings.Builder
	for _, j := range judges.Catalog {
		fmt.Fprintf(&out, "   %-13s  %s\n", j.Name, j.Help)
	}
	fmt.Fprintf(&out, "   %-13s  %s\n", crossfitScorer, crossfitHelp)
	for _, e := range filters.Catalog {
		if e.NeedsBank {
			fmt.Fprintf(&out, "   %-13s  %s of %s, eq. %s\n", e.Name, e.Title, e.Paper, e.Equation)
		}
	}
	fmt.Fprintf(&out, "   %-13s  the final weights of a run that weighed its samples\n", selfPacedScorer)
	out.WriteString(trainingHelp())
	return out.String()
}

// probabilityHelp says for the command's help which scores mean a probability.
func probabilityHelp() string {
	var yes, no []string
	for _, name := range auditScorers() {
		if isProbability(name) {
			yes = append(yes, name)
		} else {
			no = append(no, name)
		}
	}
	return "Scores of " + strings.Join(yes, ", ") + "\nare probabilities that a label is right. Those of " +
		strings.Join(no, ", ") + "\nonly rank labels: --precision does not take them, and suggested_probability stays empty unless another scorer\nsuggests the labels, as vmf does for selfpaced and for what a training saw."
}

// columnHelp says what stands in the file of --out; the names are those of winnow/audit/suspects.
const columnHelp = "Columns of --out: rank, path, given_label, suggested_label (the given one where none fits better), score (of the given\n" +
	"label), suggested_score (of that label), suggested_probability (where the scorer gives probabilities), dropped\n" +
	"(called wrong), true_label (where known), nearest_with_given_label, nearest_with_suggested_label (images that speak for\n" +
	"either, nearest first), fit (to the best class, in deviations from other images'), outlier, copies_with_other_labels;\n" +
	"lists of paths are joined by |, a | in a path is written \\|, and what belongs to them (_similarity, _label) stands in\n" +
	"columns behind.\n\n" +
	"Columns of --classes: class, images, kappa (concentration, corrected for the number of images), purity (estimated share\n" +
	"of right labels, with its interval of 95 %), most_like (the class hardest to tell from it), likeness (0: apart, 1: a\n" +
	"coin could tell no worse), looks_like_the_same (one class under two names), sides_alike (how like each other its two\n" +
	"sides are, 1: one group), looks_like_two (two classes under one name)."
