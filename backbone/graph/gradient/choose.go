package gradient

import (
	"fmt"
	"slices"
	"strings"

	"winnow/backbone/graph"
	"winnow/internal/catalog"
)

// AllWeights selects every trainable weight.
const AllWeights = "all"

// Choose selects the weights to train for an output, in the order of their first use. what is
//
//	all          every trainable weight (see [Weights])
//	a stage      the weights of the stage and of every later node: training starts there (see [Stages])
//	a module     as for a stage, but training starts at a module within a stage, given by its path: encoder.layer.11
//
// If nothing is selected, the error lists the stages.
func Choose(m *graph.Model, output, what string) ([]string, error) {
	weights, stages := Weights(m, output), Stages(m, output)
	if len(weights) == 0 {
		return nil, fmt.Errorf("gradient: no weight of the network contributes to the output %q", output)
	}
	takes := func(Weight) bool { return what == AllWeights }
	if at := slices.IndexFunc(stages, func(s Stage) bool { return s.Name == what }); at >= 0 && what != AllWeights {
		takes = func(w Weight) bool { return w.Depth >= stages[at].First }
	} else if at := slices.IndexFunc(weights, func(w Weight) bool { return isInside(w, what) }); at >= 0 &&
		what != AllWeights {
		takes = func(w Weight) bool { return w.Depth >= weights[at].Depth }
	}
	var names, known []string
	for _, w := range weights {
		if takes(w) {
			names = append(names, w.Name)
		}
	}
	if len(names) > 0 {
		return names, nil
	}
	for _, s := range stages {
		known = append(known, s.Name)
	}
	return nil, fmt.Errorf("gradient: weights %q: found no such stage%s, expected %s or one of %s", what,
		catalog.Ask(what, known), AllWeights, strings.Join(known, ", "))
}

// isInside reports whether a weight belongs to a module, given by its path: encoder.layer.11.
func isInside(w Weight, module string) bool {
	return strings.HasPrefix(strings.Join(modulePath(w), "."), module+".")
}
