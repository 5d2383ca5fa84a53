package run

import (
	"context"

	"winnow/features"
	"winnow/filters/selfpaced"
	"winnow/run/folder"
	"winnow/train"
)

// selfPacing returns the weighting of samples; nil if the configuration has none. Every round uses the current features
// of the centre view: the stored features, or those of the fine-tuned backbone.
func (r *Training) selfPacing() (*train.SelfPaced, error) {
	if !r.Config.SelfPaced.On() {
		return nil, nil
	}
	set := r.Data.Train.Labelled()
	weights, err := selfpaced.New(r.Config.SelfPaced.Config, set)
	if err != nil {
		return nil, err
	}
	return &train.SelfPaced{
		Weights: weights, Every: r.Config.SelfPaced.Every.In(r.Epoch), Seed: r.Config.Seed,
		Embed: func(ctx context.Context) (features.Set, error) { return r.embedNow(ctx, set) },
	}, nil
}

// finalWeights returns the weights of the labelled training images, in the order of the manifest.
func finalWeights(data Data, w *selfpaced.Weights) []folder.Weight {
	set := data.Train.Labelled()
	list := make([]folder.Weight, set.Len())
	for i, v := range w.All() {
		list[i] = folder.Weight{Path: data.Paths[set.IDs[i]], Label: data.Classes[set.Labels[i]], Weight: v}
	}
	return list
}
