package main

import (
	"context"
	"os"
	"path/filepath"

	"winnow/features"
	"winnow/graph"
	"winnow/head"
	"winnow/models"
	"winnow/run/folder"
	"winnow/run/tuning"
)

// state is a network with a head on it, as a training left them.
type state struct {
	head   *head.Head
	tuning *tuning.Tuning // nil: the stored features stay as they are
	model  *graph.Model
}

// lastState reads the state that a run ended with, which need not be the one that validation chose.
func lastState(at *trainCommandRun) (s state, err error) {
	if s.head, _, err = models.ReadHead(filepath.Join(at.dir, folder.LastHeadFile)); err != nil || at.tuning == nil {
		return s, err
	}
	s.tuning = at.tuning
	data, err := os.ReadFile(filepath.Join(at.dir, folder.LastBackboneFile))
	if err == nil {
		s.model, err = graph.Read(data)
	}
	return s, err
}

// features are the rows of set, stored features, as this network sees their images.
func (s state) features(ctx context.Context, set features.Set) (features.Set, error) {
	if s.tuning == nil {
		return set, nil
	}
	return s.tuning.FeaturesOf(ctx, s.model, set)
}

func (s state) embed(ctx context.Context, set features.Set) (features.Set, error) {
	set, err := s.features(ctx, set)
	if err != nil {
		return set, err
	}
	return s.head.EmbedSet(set)
}
