package run

import (
	"winnow/features"
	"winnow/filters"
	"winnow/run/folder"
	"winnow/train/samples"
)

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
