package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/filters"
	"winnow/internal/lookup"
	"winnow/losses"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
	"winnow/train/samples"
)

// trainingScores say what each way to rank by a training's record means.
var trainingScores = map[string]string{
	samples.SmallLoss:  "minus the loss of the image alone, averaged over the last half of a run's steps (scores.window)",
	samples.Ensemble:   "P_clean of the run's filter, or of scores.watch, averaged likewise, the image's own vectors left out of the bank",
	samples.Forgetting: "1/(1 + how often a run stopped believing the label); 0: it never believed it",
}

// trainingHelp lists them for the command's help.
func trainingHelp() string {
	var lines []string
	for _, name := range samples.Rankings {
		lines = append(lines, fmt.Sprintf("   %-13s  %s", name, trainingScores[name]))
	}
	return strings.Join(lines, "\n")
}

// auditsByTraining says whether an audit goes by what the training saw of its samples.
func auditsByTraining(c *cli.Context) bool {
	return slices.Contains(samples.Rankings, c.String("scorer"))
}

// auditTraining is an audit by what the training saw. Labels are suggested, and neighbours found, by vMF-Sim on the
// embedding that the training ended with.
func auditTraining(c *cli.Context, r *openedRun, mem int64) (audited, error) {
	by := c.String("scorer")
	if c.Bool("include-eval") {
		return audited{}, misused("--include-eval: what the training of %s saw is of its training images: name another --scorer", r.Dir)
	}
	list, err := folder.ReadSamples(r.Dir)
	if err != nil {
		return audited{}, err
	}
	suggest := filters.Default()
	suggest.Rate = r.Config.Filter.In(1).Rate
	if r.Config.HasPeers() {
		suggest.Rate = float64(r.Config.Peers.Rate)
	}
	if c.IsSet("noise-rate") {
		suggest.Rate = c.Float64("noise-rate")
	}
	if !(suggest.Rate >= 0 && suggest.Rate < 1) {
		return audited{}, misused("--noise-rate: found %v, expected a share from 0 to below 1", suggest.Rate)
	}
	scores, orders, ok := samples.Rank(list, by)
	if !slices.Contains(ok, true) {
		return audited{}, noTrainingScores(r, by, list)
	}
	h, store, err := r.LastState(c.Context)
	if err != nil {
		return audited{}, err
	}
	set, left, err := lookup.Split(r.Manifest, store, datasets.Train)
	if err != nil {
		return audited{}, err
	}
	set = set.Labelled()
	if err := sameSamples(set, r.Manifest, list); err != nil {
		return audited{}, withHint(fmt.Errorf("audit: %s: %w", filepath.Join(r.Dir, folder.SamplesFile), err), "scores of a training are of the images and labels that it was given; --scorer %s judges others", suggest.Scorer)
	}
	var rows []int
	for i := range list {
		if ok[i] {
			rows = append(rows, i)
		} else {
			left = append(left, lookup.LeftOut{Path: list[i].Path, Reason: "no batch of the last part of the training held it, or none that could judge it"})
		}
	}
	a, err := judged(c.Context, h, set.Rows(rows), r.Manifest, suggest, nil, mem)
	if err != nil {
		return a, err
	}
	eval.Rejudge(a.suspects, pick(scores, rows), pick(orders, rows))
	a.Scorer, a.Suggests, a.Rate = by, suggest.Scorer, suggest.Rate
	if err := a.conclude(r.Manifest, func(orders []float64) []bool { return eval.KeepShare(orders, suggest.Rate) }); err != nil {
		return a, err
	}
	a.LeftOut, a.View = append([]lookup.LeftOut{}, left...), r.Look()
	if r.Tuned != nil {
		a.Backbone = filepath.Join(r.Dir, folder.LastBackboneFile)
	}
	return a, nil
}

func pick(values []float64, rows []int) []float64 {
	out := make([]float64, len(rows))
	for i, row := range rows {
		out[i] = values[row]
	}
	return out
}

// sameSamples refuses what was seen of other images or labels than those of set.
func sameSamples(set features.Set, d *datasets.Dataset, list []samples.Sample) error {
	if len(list) != set.Len() {
		return fmt.Errorf("found %d images, expected the %d labelled, readable training images", len(list), set.Len())
	}
	for i, s := range list {
		sample := d.Samples[set.IDs[i]]
		if label := d.Classes[sample.Label]; s.Path != sample.Path || s.Label != label {
			return fmt.Errorf("entry %d: found %q with the label %q, expected %q with %q", i+1, s.Path, s.Label, sample.Path, label)
		}
	}
	return nil
}

// noTrainingScores says why a run has nothing to rank its samples by.
func noTrainingScores(r *openedRun, by string, list []samples.Sample) error {
	seen := slices.ContainsFunc(list, func(s samples.Sample) bool { return s.Seen > 0 })
	switch cfg := r.Config; {
	case !cfg.Scores.Record:
		return misused("--scorer %s: the run of %s kept nothing of its samples (scores.record is false): train with scores.record on", by, r.Dir)
	case len(list) == 0:
		return misused("--scorer %s: %s holds no %s: the training is not finished, or older than this scorer", by, r.Dir, folder.SamplesFile)
	case !seen:
		return misused("--scorer %s: the training of %s ended before the last %.0f %% of its steps, which are averaged: train shorter, or set scores.window", by, r.Dir, 100*cfg.Scores.Window)
	case by == samples.SmallLoss:
		return misused("--scorer %s: %s", by, whyNoLoss(cfg))
	case cfg.Method != config.Metric:
		return misused("--scorer %s: the method of the run, %s, judges no embedding: --scorer %s may be there, and --scorer vmf judges where the training ended", by, cfg.Method, samples.SmallLoss)
	}
	return misused("--scorer %s: the run's filter is %s, which gives no scores that leave the image out: train with --set scores.watch=vmf, which drops nothing", by, r.Config.Filter.Scorer)
}

// whyNoLoss says why no sample of a run has a loss of its own.
func whyNoLoss(cfg config.Run) string {
	if cfg.Method != config.Metric {
		return fmt.Sprintf("%s has no loss that is a sum over samples", cfg.Method)
	}
	if cfg.SelfPaced.On() {
		return "the run weighs its samples, and a loss that is weighed says how little a sample counts: expected --scorer " + selfPacedScorer
	}
	for _, l := range cfg.Losses {
		loss, err := losses.New(l.Name, l.Settings, losses.Env{Dim: cfg.Head.Out, Classes: 2, Init: train.Rand(0, "terms", 0)})
		if err != nil {
			return err.Error()
		}
		if rows, ok := loss.(losses.RowWise); !ok || !rows.NoteTerms() {
			return fmt.Sprintf("the loss %s, as the run sets it, is no sum of terms of single images, so that no image has a loss of its own", l.Term())
		}
	}
	return "no image had another of its label to be compared with"
}
