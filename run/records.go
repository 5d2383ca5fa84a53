package run

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"winnow/features"
	"winnow/filters"
	"winnow/filters/selfpaced"
	"winnow/internal/atomicfile"
	"winnow/run/folder"
	"winnow/train"
	"winnow/train/samples"
)

// selfPacing returns the weights of the samples; nil if the configuration has none. Every round uses the present
// features in the centre view: those stored, or those of the backbone in training.
func (r *Training) selfPacing() (*train.SelfPaced, error) {
	if !r.Config.SelfPaced.On() {
		return nil, nil
	}
	set := r.Data.Train.Labelled()
	weights, err := selfpaced.New(r.Config.SelfPaced.Config, set)
	if err != nil {
		return nil, err
	}
	return &train.SelfPaced{
		Weights: weights, Every: r.Config.SelfPaced.Every.In(r.Epoch), Seed: r.Config.Seed,
		Embed: func(ctx context.Context) (features.Set, error) { return r.embedNow(ctx, set) },
	}, nil
}

// finalWeights returns the weights of the labelled training images, in the manifest's order.
func finalWeights(data Data, w *selfpaced.Weights) []folder.Weight {
	set := data.Train.Labelled()
	list := make([]folder.Weight, set.Len())
	for i, v := range w.All() {
		list[i] = folder.Weight{Path: data.Paths[set.IDs[i]], Label: data.Classes[set.Labels[i]], Weight: v}
	}
	return list
}

// recordSamples makes a run record losses and scores of its samples, as the configuration says.
func (r *Training) recordSamples() error {
	tc, cfg, data := &r.loop, r.Config, r.Data
	if !cfg.Scores.Record {
		return nil
	}
	var err error
	record := samples.Config{IDs: data.Train.IDs, Labels: data.Train.Labels, From: cfg.Scores.From(tc.Steps)}
	if tc.Samples, err = samples.New(record); err != nil {
		return err
	}
	watch, ok := cfg.Watch(r.Epoch)
	if !ok {
		return nil
	}
	if tc.Bank == nil {
		tc.Bank = features.NewBank(cfg.Scores.Bank, cfg.Head.Out, len(data.Classes))
	}
	tc.Watch, err = filters.New(watch, filters.Env{Dim: cfg.Head.Out, Classes: len(data.Classes)})
	return err
}

// writeSamples replaces the run's file of losses and scores, if they are recorded.
func (r *Training) writeSamples() error {
	if r.loop.Samples == nil {
		return nil
	}
	data := r.Data
	return folder.WriteSamples(r.options.Dir, r.loop.Samples.All(samples.Names{
		Path:  func(row int) string { return data.Paths[data.Train.IDs[row]] },
		Class: func(label int) string { return data.Classes[label] },
	}))
}

// writeCorrections replaces the run's list of corrected labels, if it corrects any.
func (r *Training) writeCorrections() error {
	c, data := r.loop.Corrector, r.Data
	if c == nil {
		return nil
	}
	path := filepath.Join(r.options.Dir, folder.CorrectionsFile)
	err := atomicfile.Write(path, func(w io.Writer) error {
		out := csv.NewWriter(w)
		out.Write(folder.CorrectionsHeader) // Error returns its error
		for _, k := range c.Corrections() {
			out.Write([]string{data.Paths[data.Train.IDs[k.Row]], data.Classes[c.Given(k.Row)], data.Classes[k.To],
				strconv.Itoa(k.Step), strconv.FormatFloat(k.Confidence, 'g', 6, 64)})
		}
		out.Flush()
		return out.Error()
	})
	if err != nil {
		return fmt.Errorf("train: %s: %w", path, err)
	}
	return nil
}
