package pairs

import (
	"context"

	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/losses"
	"winnow/run/config"
	"winnow/train"
)

// SkewOptions name the data and the losses' settings.
type SkewOptions struct {
	BatchOptions
	Margin, Beta *float64 // nil: those of the run's losses, or of [DefaultMining]
}

// Skew is the skew of the batches of a run, or of stored features.
type Skew struct {
	Origin
	Report
	LeftOut []lookup.LeftOut `json:"left_out"`
}

// MeasureSkew measures the skew on the batches of a training from its first epoch on, embedded by its present head, or
// on stored features in batches of 12 classes with 5 images each.
func MeasureSkew(ctx context.Context, o SkewOptions) (Skew, error) {
	o.Data.Host = o.Data.Host.Complete()
	o.Sampler = config.Sampler{Variant: config.Groups, Classes: 12, Images: 5}
	t, err := OpenBatches(ctx, o.BatchOptions)
	if err != nil {
		return Skew{}, err
	}
	if t.Step != nil && *t.Step == 0 {
		o.Data.Host.Note("%s is the state before the first step, which validation found best: the last state can be "+
			"measured instead", t.Head)
	}
	s := DefaultMining(t.Classes)
	if o.Run != "" {
		s.takeOver(t.Config.Losses)
	}
	if o.Margin != nil {
		s.Margin = *o.Margin
	}
	if o.Beta != nil {
		s.Beta = *o.Beta
	}
	meter, err := NewMiningMeter(s)
	if err != nil {
		return Skew{}, hint.AsMisuse(err)
	}
	err = t.Each(ctx, t.Set, func(number int, rows []int) {
		meter.Add(t.Set.Rows(rows), train.Rand(t.Seed, "skew", number))
	})
	return Skew{Origin: t.Origin, Report: meter.Report(), LeftOut: t.LeftOut}, err
}

// takeOver takes α and β from a run's marginal loss, and α from its triplet loss if that compares the same
// distances and not, for example, their squares.
func (s *MiningSettings) takeOver(list []config.Loss) {
	for _, l := range list {
		values, err := losses.Resolve(l.Name, l.Settings)
		switch {
		case err != nil:
		case l.Name == "marginal":
			s.Margin, s.Beta = values["margin"].(float64), values["beta"].(float64)
		case l.Name == "triplet" && values["distance"] == "l2":
			s.Margin = values["margin"].(float64)
		}
	}
}
