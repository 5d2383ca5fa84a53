package run

import (
	"context"
	"math"

	"winnow/features"
	"winnow/filters/noiserate"
	"winnow/internal/hint"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

// enoughImages is the maximal number of labelled images for an estimate of the noise rate. At this number, an estimate
// of 20 % has a standard error of 0.13 percentage points.
const enoughImages = 100_000

// resolveRate estimates the noise rate if the configuration asks for an estimate, else it returns nil. If there are
// more labelled images than enough, it draws a random subset of enough images.
func resolveRate(ctx context.Context, cfg *config.Run, data Data, enough int) (*folder.NoiseRate, error) {
	if !cfg.NeedsRate() {
		return nil, nil
	}
	set, labelled := data.Train, data.Train.Len()-data.Unlabelled
	if labelled > enough {
		rows := make([]int, 0, labelled)
		for i, y := range set.Labels {
			if y >= 0 {
				rows = append(rows, i)
			}
		}
		train.Rand(cfg.Seed, "noise rate", 0).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		set = set.Rows(rows[:enough])
	}
	e, err := estimateRate(ctx, set, &data)
	if err != nil {
		return nil, hint.With(err, "set the share of wrong labels yourself: %s", config.Key("filter.rate=0.2"))
	}
	cfg.SetRate(math.Round(1e4*e.Rate) / 1e4)
	written := folder.WrittenRate(e)
	if labelled > enough {
		written.Of = labelled
	}
	return &written, nil
}

func estimateRate(ctx context.Context, set features.Set, data *Data) (e noiserate.Estimate, err error) {
	white, err := data.judgeWhitening(ctx)
	if err != nil {
		return e, err
	}
	z, err := white.EmbedSet(ctx, set)
	if err != nil {
		return e, err
	}
	return noiserate.NewEstimate(ctx, z, len(data.Classes))
}
