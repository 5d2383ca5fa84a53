package pairs

import (
	"cmp"
	"context"
	"fmt"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/folder"
)

// BatchOptions name the images and the batches.
type BatchOptions struct {
	Run     string         // folder of a run; "": Data names a store and its manifest
	Data    folder.Options // of the run, or of the store; OpenBatches sets Splits
	Sampler config.Sampler // for a store: a run has its own
	Batch   string         // replaces the sampler's batch: PxK, or N if it draws rows
	Batches int            // number of batches; 0: those of one epoch
	Seed    *uint64        // nil: the run's, or 1
}

// Origin is the origin of vectors.
type Origin struct {
	Run  string `json:"run,omitempty"`
	Head string `json:"head,omitempty"` // file in the run's folder; "" for frozen features
	// Step is the head's step of the training; nil: unknown.
	Step *int   `json:"step,omitempty"`
	View string `json:"view,omitempty"`
	Seed uint64 `json:"seed"`
}

// Name describes the vectors.
func (o Origin) Name() string {
	if o.Run == "" {
		return "frozen features"
	}
	name := o.Run + ", " + o.Head
	if o.Step != nil {
		name += fmt.Sprintf(" (after step %d)", *o.Step)
	}
	return name
}

// Batches holds the images of the split train.
type Batches struct {
	Origin
	Manifest *datasets.Dataset
	Set      features.Set // unit rows; classes are numbered without gaps, IDs are positions in Manifest
	Classes  int
	Sampler  config.Sampler
	Config   config.Run // of the run; for a store, config.Default
	LeftOut  []lookup.LeftOut

	batches int
}

// OpenBatches embeds the training images.
func OpenBatches(ctx context.Context, o BatchOptions) (Batches, error) {
	o.Data.Splits = []string{datasets.Train, datasets.Validation}
	open, t := folder.OpenStore, Batches{Config: config.Default(), Sampler: o.Sampler, batches: o.Batches}
	if o.Run != "" {
		open = func(of folder.Options) (*folder.Run, error) { return folder.Open(ctx, o.Run, of) }
	}
	r, err := open(o.Data)
	if err != nil {
		return t, err
	}
	data, err := run.Join(ctx, r.Manifest, r.Store)
	if err != nil {
		return t, err
	}
	t.Manifest, t.Set, t.Classes, t.Seed = r.Manifest, data.Train, len(data.Classes), 1
	t.LeftOut = append([]lookup.LeftOut{}, data.LeftOut...)
	if o.Run == "" {
		err = features.Normalize(t.Set.X)
	} else {
		t.Origin = Origin{Run: r.Dir, Head: r.HeadFile, Step: stepOf(r), View: r.Look(), Seed: r.Config.Seed}
		t.Config, t.Sampler = r.Config, r.Config.Sampler
		t.Set, err = r.Head.EmbedSet(ctx, t.Set)
	}
	if err != nil {
		return t, err
	}
	if o.Seed != nil {
		t.Seed = *o.Seed
	}
	if o.Batch != "" {
		if err := t.Sampler.SetBatch(o.Batch); err != nil {
			return t, hint.Misused("batch: %w", err)
		}
	}
	return t, nil
}

// stepOf returns the step of a run's head, or nil if the run's result does not tell.
func stepOf(r *folder.Run) *int {
	result, err := folder.ReadResult(r.Dir)
	if err != nil {
		return nil
	}
	if r.HeadFile == folder.BestHeadFile && result.BestStep >= 0 {
		return &result.BestStep
	}
	return &result.Steps
}

// Each calls visit for each batch of a set from the first epoch on, with the batch's number, from 0, and its labelled
// rows. The labels of set are numbered without gaps.
func (t Batches) Each(ctx context.Context, set features.Set, visit func(number int, rows []int)) error {
	sampler, err := t.Sampler.New(set.Labels, t.Seed)
	if err != nil {
		return err
	}
	batches := cmp.Or(t.batches, sampler.Batches())
	for number, epoch := 0, 0; number < batches; epoch++ {
		for rows := range sampler.Each(epoch) {
			if number == batches {
				break
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			visit(number, rows[:sampler.Labelled()])
			number++
		}
	}
	return nil
}
