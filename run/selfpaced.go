package run

import (
	"context"

	"winnow/features"
	"winnow/filters/selfpaced"
	"winnow/run/folder"
	"winnow/train"
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
