package run

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/filters/noiserate"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

// whitened is a source of vectors that are whitened when they are read, and not kept.
type whitened struct {
	features.Source
	head *head.Head
	raw  *[]float32
}

// Dim returns the dimension of the whitened vectors.
func (w whitened) Dim() int { return w.head.Config().Out }

// Part whitens the vectors of n rows from row from on.
func (w whitened) Part(ctx context.Context, scratch *[]float32, from, n int) (blas32.General, error) {
	in, err := w.Source.Part(ctx, w.raw, from, n)
	if err != nil {
		return in, err
	}
	x := features.Resize(blas32.General{Data: *scratch}, n, w.Dim())
	*scratch = x.Data
	return x, w.head.EmbedInto(x, in)
}

// resolveRate estimates the noise rate if the configuration asks for it, else it returns nil. If there are more
// labelled images than enough (0: [noiserate.Enough]), it draws that many and compares them with the classes of all.
func resolveRate(ctx context.Context, cfg *config.Run, data Data, enough int) (*folder.NoiseRate, error) {
	if !cfg.NeedsRate() {
		return nil, nil
	}
	enough = cmp.Or(enough, noiserate.Enough(len(data.Classes)))
	rng, labelled := train.Rand(cfg.Seed, "noise rate", 0), data.Train.Len()-data.Unlabelled
	ask := func() (noiserate.Estimate, error) {
		white, err := data.judgeWhitening(ctx)
		if err != nil {
			return noiserate.Estimate{}, err
		}
		if labelled > enough {
			x := whitened{data.Train, white, new([]float32)}
			return noiserate.NewSampledEstimate(ctx, x, len(data.Classes), enough, noiserate.Auto, rng)
		}
		z, err := white.EmbedSet(ctx, data.Train)
		if err != nil {
			return noiserate.Estimate{}, err
		}
		return noiserate.NewEstimate(ctx, z, len(data.Classes), noiserate.Auto, rng)
	}
	e, err := ask()
	if err != nil {
		return nil, hint.With(err, "give the share of wrong labels: %s", config.Key("filter.rate=0.2"))
	}
	cfg.SetRate(math.Round(1e4*e.Rate) / 1e4)
	written := folder.WrittenRate(e)
	if labelled > enough {
		written.Of = labelled
	}
	return &written, nil
}
