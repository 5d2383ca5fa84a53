package main

import (
	"fmt"
	"path"

	"winnow/graph"
	"winnow/graph/gradient"
)

func pick(m *graph.Model, output, spec string) ([]string, error) {
	var names []string
	for _, w := range gradient.Weights(m, output) {
		a, _ := path.Match(spec, w.Name)
		if spec == "all" || a {
			names = append(names, w.Name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("gradient: %q matches nothing", spec)
	}
	return names, nil
}
