package main

import (
	"winnow/graph"
	"winnow/graph/gradient"
)

func pick(m *graph.Model, output, spec string) ([]string, error) {
	var names []string
	for _, w := range gradient.Weights(m, output) {
		names = append(names, w.Name)
	}
	return names, nil
}
