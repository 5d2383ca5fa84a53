package run

import (
	"winnow/features"
	"winnow/filters"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
	"winnow/train/samples"
)

// recordSamples makes a run keep what it sees of its samples, as the configuration says.
func recordSamples(tc *train.Config, cfg config.Run, data Data, epoch int) error {
	if !cfg.Scores.Record {
		return nil
	}
	var err error
	if tc.Samples, err = samples.New(samples.Config{IDs: data.Train.IDs, Labels: data.Train.Labels, From: cfg.Scores.From(tc.Steps)}); err != nil {
		return err
	}
	watch, ok := cfg.Watch(epoch)
	if !ok {
		return nil
	}
	if tc.Bank == nil {
		tc.Bank = features.NewBank(cfg.Scores.Bank, cfg.Head.Out, len(data.Classes))
	}
	tc.Watch, err = filters.New(watch, filters.Env{Dim: cfg.Head.Out, Classes: len(data.Classes)})
	return err
}

// writeSamples replaces the file, in the run's folder, of what training saw; r may be nil, and then there is none.
func writeSamples(dir string, r *samples.Record, data Data) error {
	if r == nil {
		return nil
	}
	return folder.WriteSamples(dir, r.All(samples.Names{
		Path:  func(row int) string { return data.Paths[data.Train.IDs[row]] },
		Class: func(label int) string { return data.Classes[label] },
	}))
}
