package run

import (
	"context"
	"path/filepath"

	"winnow/features"
	"winnow/head"
	"winnow/models"
	"winnow/run/folder"
)

// State is a head and its backbone at the end of a training.
type State struct {
	Head     *head.Head
	features func(ctx context.Context, set features.Set) (features.Set, error)
}

// Last reads the last state of the training, which need not be the one that validation chose.
func (r *Training) Last() (last State, err error) {
	if last.Head, _, err = models.ReadHead(filepath.Join(r.options.Dir, folder.LastHeadFile)); err != nil {
		return last, err
	}
	last.features, err = r.backbone.Saved(filepath.Join(r.options.Dir, folder.LastBackboneFile))
	return last, err
}

// Features returns a set of images, given their stored features, with the features of the state's backbone.
func (s State) Features(ctx context.Context, set features.Set) (features.Set, error) {
	return s.features(ctx, set)
}

// Embed embeds a set of images, given their stored features.
func (s State) Embed(ctx context.Context, set features.Set) (features.Set, error) {
	set, err := s.features(ctx, set)
	if err != nil {
		return set, err
	}
	return s.Head.EmbedSet(ctx, set)
}
