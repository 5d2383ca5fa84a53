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

// Choose selects the weights to train on the way to an output, in the order of their first use. what is
//
//	all          every trainable weight (see [Weights])
//	a stage      its weights and those of every later node: training starts there (see [Stages])
//	a module     the same of a part of a stage, by its path: encoder.layer.11
//	a pattern    with * for any text: the weights whose names, or whose nodes' names, match
//
// The name of a single weight or node is also a pattern. If nothing is selected, the error lists the stages.
func Choose(m *graph.Model, output, what string) ([]string, error) {
	weights, stages := Weights(m, output), Stages(m, output)
	if len(weights) == 0 {
		return nil, fmt.Errorf("gradient: the network has no weight on the way to %q", output)
	}
	takes := func(w Weight) bool {
		return what == AllWeights || matchesPattern(what, w.Name) || matchesPattern(what, w.Node)
	}
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
	return nil, fmt.Errorf("gradient: weights %q: found no such stage%s, and none of the %d weights or their nodes "+
		"is named so: expected %s, a pattern such as %q, or one of the stages %s",
		what, catalog.Ask(what, known), len(weights), AllWeights, weights[0].Name[:min(3, len(weights[0].Name))]+"*",
		strings.Join(known, ", "))
}

// isInside reports whether a weight belongs to a module, named by its path: encoder.layer.11.
func isInside(w Weight, module string) bool {
	return strings.HasPrefix(strings.Join(modulePath(w), "."), module+".")
}

// matchesPattern reports whether a name matches a pattern in which * stands for any text, including slashes and dots.
func matchesPattern(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return pattern == name
	}
	rest, ok := strings.CutPrefix(name, first)
	if !ok || len(rest) < len(last) || !strings.HasSuffix(rest, last) {
		return false
	}
	rest = rest[:len(rest)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return true
}
