package run

import (
	"cmp"
	"context"
	"fmt"
	"runtime"

	"winnow/internal/lookup"
	"winnow/run/folder"
)

// screen leaves out the labels that are called wrong before the training, those that an earlier part of it left out if
// there was one.
func (s *Session) screen(ctx context.Context) error {
	var before *Screening
	if dir := s.options.Dir; s.options.Resume && folder.Begun(dir) {
		facts, err := folder.ReadFacts(dir)
		if err != nil {
			return err
		}
		if facts.Screening != nil {
			before = &Screening{Screening: *facts.Screening}
			if before.List, err = folder.ReadScreening(dir); err != nil {
				return err
			}
		}
	}
	at, end := s.options.Watch("steps of judging labels")
	var found *Screening
	var err error
	if before == nil && s.options.Screenings != nil {
		found, err = s.options.Screenings.Screen(ctx, &s.Config, &s.Data, at)
	} else {
		found, err = Screen(ctx, &s.Config, &s.Data, before, at)
	}
	end()
	if found == nil || err != nil {
		return err
	}
	s.screened = found
	s.options.Note("%s", found.Screening)
	return nil
}

// earlierRates takes the learning rates that an earlier part of the run has found.
func (s *Session) earlierRates() error {
	if dir := s.options.Dir; s.options.Resume && folder.Begun(dir) {
		facts, err := folder.ReadFacts(dir)
		if err != nil {
			return err
		}
		if s.rates = facts.RateTest; s.rates != nil {
			s.rates.Resolve(&s.Config)
		}
	}
	return nil
}

// begin throws away the run that is to be overwritten, and writes config.yaml and run.json. A run that goes on keeps what
// it wrote when it began.
func (s *Session) begin(plan Plan) error {
	s.Config.Length, s.Config.Validation = plan.Config.Length, plan.Config.Validation // as they were chosen
	if s.options.Overwrite {
		if err := folder.Clear(s.options.Dir); err != nil {
			return err
		}
	}
	if plan.Resumed > 0 && folder.Begun(s.options.Dir) {
		return nil
	}
	facts, err := s.facts(plan)
	if err != nil {
		return err
	}
	if plan.Rates != nil {
		if err := folder.WriteRange(s.options.Dir, plan.Rates.Curve); err != nil {
			return err
		}
	}
	if s.screened != nil {
		if err := folder.WriteScreening(s.options.Dir, s.screened.List); err != nil {
			return err
		}
	}
	return folder.Begin(s.options.Dir, s.Config, plan.Sum, facts)
}

// facts returns what run.json holds: what the caller knows of the machine, completed with configuration and data.
func (s *Session) facts(plan Plan) (folder.Facts, error) {
	f, data := s.options.About, s.Data
	f.Winnow, f.Go, f.Started, f.NoiseRate = s.options.Winnow, runtime.Version(), s.start.UTC(), s.noise
	f.RateTest = cmp.Or(plan.Rates, s.rates)
	if s.screened != nil {
		f.Screening = &s.screened.Screening
	}
	f.Seed, f.Manifest, f.ImagesSHA256, f.FeaturesSHA256, f.FeaturesKey = s.Config.Seed, s.Config.Data.Manifest, data.Sum, data.StoreSum, data.Key
	f.Places = folder.PlacesOf(s.options.Dir, s.Config.Data, data.ModelFile)
	f.Images, f.Unlabelled, f.Validation, f.Classes = data.Train.Len(), data.Unlabelled, data.Validation.Len(), data.Classes
	f.LeftOut, f.StepsPerEpoch, f.Steps = append([]lookup.LeftOut{}, data.LeftOut...), plan.Epoch, plan.Steps
	if share := s.backbone.Share(); share != nil {
		f.Backbone, f.TunedWeights = share.From, s.backbone.Weights()
	}
	var err error
	if f.ManifestSHA256, err = folder.FileSum(f.Manifest); err != nil {
		return f, fmt.Errorf("train: %w", err)
	}
	return f, nil
}
