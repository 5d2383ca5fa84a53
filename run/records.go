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

// selfPacing gives a run its weights, if its configuration wants any. Every round looks at the stored features, or at
// those that the backbone gives today, in the centre view.
func (r *training) selfPacing() (*train.SelfPaced, error) {
	if !r.cfg.SelfPaced.On() {
		return nil, nil
	}
	set := r.data.Train.Labelled()
	weights, err := selfpaced.New(r.cfg.SelfPaced.Config, set)
	if err != nil {
		return nil, err
	}
	embedded := func(ctx context.Context) (features.Set, error) { return r.embedNow(ctx, set) }
	return &train.SelfPaced{Weights: weights, Every: r.cfg.SelfPaced.Every.In(r.epoch), Seed: r.cfg.Seed, Embed: embedded}, nil
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

// recordSamples makes a run keep what it sees of its samples, as the configuration says.
func (r *training) recordSamples() error {
	tc, cfg, data := &r.config, r.cfg, r.data
	if !cfg.Scores.Record {
		return nil
	}
	var err error
	if tc.Samples, err = samples.New(samples.Config{IDs: data.Train.IDs, Labels: data.Train.Labels, From: cfg.Scores.From(tc.Steps)}); err != nil {
		return err
	}
	watch, ok := cfg.Watch(r.epoch)
	if !ok {
		return nil
	}
	if tc.Bank == nil {
		tc.Bank = features.NewBank(cfg.Scores.Bank, cfg.Head.Out, len(data.Classes))
	}
	tc.Watch, err = filters.New(watch, filters.Env{Dim: cfg.Head.Out, Classes: len(data.Classes)})
	return err
}

// writeSamples replaces the file, in the run's folder, of what training saw, if it is recorded.
func (r *training) writeSamples() error {
	if r.config.Samples == nil {
		return nil
	}
	data := r.data
	return folder.WriteSamples(r.opts.Dir, r.config.Samples.All(samples.Names{
		Path:  func(row int) string { return data.Paths[data.Train.IDs[row]] },
		Class: func(label int) string { return data.Classes[label] },
	}))
}

// writeCorrections replaces the list, in the run's folder, of the labels that the run has corrected, if it corrects any.
func (r *training) writeCorrections() error {
	c, data := r.config.Corrector, r.data
	if c == nil {
		return nil
	}
	path := filepath.Join(r.opts.Dir, folder.CorrectionsFile)
	err := atomicfile.Write(path, func(w io.Writer) error {
		out := csv.NewWriter(w)
		out.Write([]string{"path", "given", "corrected", "step", "confidence"}) // the error is told by Error
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
