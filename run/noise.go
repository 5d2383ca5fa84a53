package run

import (
	"context"
	"math"

	"winnow/features"
	"winnow/filters/noiserate"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

// JudgedVectors returns the vectors of the training images that labels are judged by: stored features, whitened, which
// needs no label.
func JudgedVectors(ctx context.Context, data Data) (features.Set, error) {
	return head.WhitenSet(ctx, data.Train, head.Widest)
}

// ResolveRate puts an estimate where the configuration asks for one; nil: it asks for none.
func ResolveRate(ctx context.Context, cfg *config.Run, data Data) (*folder.NoiseRate, error) {
	if !cfg.NeedsRate() {
		return nil, nil
	}
	z, err := JudgedVectors(ctx, data)
	if err != nil {
		return nil, err
	}
	e, err := noiserate.NewEstimate(ctx, z, len(data.Classes), noiserate.Auto, train.Rand(cfg.Seed, "noise rate", 0))
	if err != nil {
		return nil, hint.With(err, "give the share of wrong labels: --noise-rate P")
	}
	cfg.SetRate(math.Round(1e4*e.Rate) / 1e4)
	return new(folder.WrittenRate(e)), nil
}
