package runner

import (
	"winnow/papers/studies"
	"winnow/run/config"
)

// Steps returns the number of steps of a training of a study's row on a column with this many images. It is 0 if the
// length is in epochs and images is 0.
func Steps(s studies.Study, row, column, images int) (int, error) {
	r := reproduction{Options: Options{Study: s}}
	cell := studies.Cell{Row: row, Column: column, Seed: 1, Choice: min(len(s.Choices(s.Rows[row])), 1)}
	cfg, err := r.config(cell)
	if err != nil || cfg.Length.Epochs && images == 0 {
		return 0, err
	}
	return cfg.Length.In(max(images/batch(cfg), 1)), nil
}

// batch returns the number of images of a batch.
func batch(cfg config.Run) int {
	if cfg.Sampler.Variant == config.Shuffle {
		return cfg.Sampler.Rows
	}
	return cfg.Sampler.Classes * cfg.Sampler.Images
}
