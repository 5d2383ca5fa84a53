package main

import (
	"fmt"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/head"
	"winnow/models/architecture"
)

// network is what is trained: the backbone, run and differentiated by ONNX Runtime, and a linear classifier on
// its features, which only training needs.
type network struct {
	model      *graph.Model // as drawn from the seed
	live       *ort.Live
	classifier head.Classifier
}

// averages is the share of the running statistics that is kept at each step: 60 batches account for 95 %.
const averages = 0.95

// newNetwork draws the weights of a backbone and of a classifier from a seed, and loads the backbone.
func newNetwork(rt *ort.Runtime, described architecture.Network, classes int, seed uint64) (*network, error) {
	model := described.Model(seed)
	var weights []string
	for _, w := range gradient.Weights(model, architecture.Output) {
		weights = append(weights, w.Name)
	}
	d, err := gradient.Differentiate(model, gradient.Options{
		Output: architecture.Output, Weights: weights,
		BatchNorm: gradient.BatchNorm{Train: true, Momentum: averages}, Kernels: rt.Kernels(),
	})
	if err != nil {
		return nil, fmt.Errorf("glyphnet: %w", err)
	}
	live, err := ort.NewLive(rt, d, ort.LiveOptions{Model: model})
	if err != nil {
		return nil, fmt.Errorf("glyphnet: %w", err)
	}
	return &network{model, live, newClassifier(live.Dim(), classes, seed)}, nil
}

// listParams lists everything that the solver changes, in a fixed order.
func (n *network) listParams() []*features.Param {
	return append(n.live.Params()[:len(n.live.Params()):len(n.live.Params())], n.classifier.Weight, n.classifier.Bias)
}

// exportTrained returns the backbone with its current weights and running statistics.
func (n *network) exportTrained() (*graph.Model, error) {
	return graph.WithValues(n.model, n.live.Values())
}
