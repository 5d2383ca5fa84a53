package run

import (
	"context"
	"fmt"
	"math"

	"winnow/audit"
	"winnow/features"
	"winnow/run/config"
	"winnow/run/folder"
)

// screening holds the labels that screening removes, and how they were found.
type screening struct {
	folder.Screening
	List []folder.Screened // most suspect first
}

// screenTraining scores the labels of the training images by their stored features, before training, with the audit's
// scorer that the configuration names. It removes flagged labels, but keeps their images as unlabelled, and sets the
// filter's noise rate to the share of wrong labels expected among the rest. If the features do not predict the labels,
// no label is flagged. before is the result of an earlier part of the run, or nil; at receives the progress and may be
// nil. screenTraining returns nil if the configuration disables screening, if the labels were screened already, or if
// fewer than two classes have two images.
//
// A network learns wrong labels in its first epoch, before its filter can detect them. Features that were not trained
// on these labels can detect them. This is the pruning of confident learning (Northcutt, Jiang & Chuang 2021, section
// 3.2), with winnow's own scorer.
func screenTraining(ctx context.Context, cfg *config.Run, data *Data, before *screening, at func(done, total int)) (
	found *screening, err error) {
	if cfg.Screen == config.NoScreen || data.Screened || !data.hasComparable() {
		return nil, nil
	}
	if found = before; found == nil {
		if found, err = data.askJudge(ctx, *cfg, at); err != nil {
			return nil, err
		}
	}
	data.leaveOut(found.List)
	if err := data.stillClasses(); err != nil {
		return nil, err
	}
	if found.Blind { // leave the filter's rate to be estimated
		return found, nil
	}
	cfg.Filter.Rate = config.GivenRate(found.Left)
	if cfg.HasPeers() {
		cfg.Peers.Rate = cfg.Filter.Rate
	}
	return found, nil
}

// askJudge scores the labels, and returns the flagged labels and the share of wrong labels expected among the rest.
func (d *Data) askJudge(ctx context.Context, cfg config.Run, at func(done, total int)) (*screening, error) {
	o := audit.Options{Scorer: cfg.Screen, Classes: len(d.Classes), Whiten: true, Seed: cfg.Seed}
	if rate := cfg.Filter.Rate.Share; !cfg.Filter.Rate.Auto {
		o.Rate = &rate
	}
	result, err := d.auditTraining(ctx, o, at)
	if err != nil {
		return nil, fmt.Errorf("train: screen: %w", err)
	}
	found := &screening{Screening: folder.Screening{By: result.Scorer, Judged: len(result.Suspects),
		Blind: result.Blind}}
	if result.Blind {
		return found, nil
	}
	kept := 0
	for _, s := range result.Suspects {
		if d.Trusted[d.Train.IDs[s.Row]] {
			kept++ // right, because a person decided: adds nothing to found.Left
			continue
		}
		if s.Flagged && !s.Alone {
			found.List = append(found.List, folder.Screened{Path: d.Paths[d.Train.IDs[s.Row]],
				Label: d.Classes[s.GivenClass], Score: s.Score, Suggested: d.Classes[s.SuggestedClass]})
			continue
		}
		found.Left += 1 - s.Score
		kept++
	}
	found.Wrong = len(found.List)
	found.Left = math.Round(1e4*min(found.Left/float64(max(kept, 1)), 0.99)) / 1e4
	if !audit.Named(result.Scorer).Probability { // the sum of other scores is no expected number of wrong labels
		found.Left = 0
	}
	return found, nil
}

// auditTraining audits a copy of the training labels.
func (d *Data) auditTraining(ctx context.Context, o audit.Options, at func(done, total int)) (audit.Result, error) {
	set := d.Train
	set.Labels = append([]int(nil), set.Labels...)
	white, err := d.judgeWhitening(ctx)
	if err != nil {
		return audit.Result{}, err
	}
	by := audit.Auditor{Whitening: white}
	if at != nil {
		by.Told = func(done, total int, _ string) { at(done, total) }
	}
	return by.Run(ctx, set, o)
}

// leaveOut removes the labels of these images from Train and Stored.
func (d *Data) leaveOut(wrong []folder.Screened) {
	out := map[string]bool{}
	for _, w := range wrong {
		out[w.Path] = true
	}
	take := func(set *features.Set) {
		set.Labels = append([]int(nil), set.Labels...)
		for i, id := range set.IDs {
			if out[d.Paths[id]] {
				set.Labels[i] = features.Unlabelled
			}
		}
	}
	take(&d.Train)
	if d.Stored.Len() == d.Train.Len() {
		d.Stored = d.Train
	} else {
		take(&d.Stored)
	}
	d.Screened = true
}

// hasComparable reports whether at least two classes have two training images each: a scorer compares an image with
// others of its class.
func (d *Data) hasComparable() bool {
	images, classes := map[int]int{}, 0
	for _, y := range d.Train.Labels {
		if images[y]++; y != features.Unlabelled && images[y] == 2 {
			classes++
		}
	}
	return classes > 1
}

// stillClasses returns an error if screening left fewer than two classes.
func (d *Data) stillClasses() error {
	seen := map[int]bool{}
	for _, y := range d.Train.Labels {
		if y != features.Unlabelled {
			seen[y] = true
		}
	}
	if len(seen) < 2 {
		return fmt.Errorf("train: screen: the labels that are not flagged have %d classes, expected two or more: "+
			"train with %s", len(seen), config.Key("screen="+config.NoScreen))
	}
	return nil
}
