package graph

import (
	"errors"
	"fmt"
	"slices"
)

// Footprint returns the peak memory in bytes that the tensors between nodes take during a run, per image of a batch. A
// tensor exists from the node that computes it to the last node that reads it. A node needs its inputs and outputs at
// the same time.
//
//	max over nodes k of Σ_{t made at or before k, read at or after k} bytes(t)
//
// Footprint infers the shapes for one image and for two images of planes×high×wide, and returns the difference.
// Weights and a runtime's memory inside a node are not included. Tensors that the runtime could reuse in place are, so
// the true value may be smaller. Footprint returns an error if the shape of a tensor is unknown.
func Footprint(m *Model, input string, planes, high, wide int) (int64, error) {
	one, err := measureFootprint(m, input, 1, planes, high, wide)
	if err != nil {
		return 0, err
	}
	two, err := measureFootprint(m, input, 2, planes, high, wide)
	return max(two-one, 0), err
}

// measureFootprint returns the peak memory in bytes of a run with n images.
func measureFootprint(m *Model, input string, n, planes, high, wide int) (int64, error) {
	c := Sized(m, input, planes, high, wide)
	g := c.Graph
	for i, in := range g.Inputs {
		if in.Name == input && len(in.Shape) == 4 {
			v := *in
			v.Shape = slices.Clone(in.Shape)
			v.Shape[0] = Fixed(int64(n))
			g.Inputs[i] = &v
		}
	}
	for i, out := range g.Outputs { // the shapes declared in the file are for its own batch size
		v := *out
		v.Shape = nil
		g.Outputs[i] = &v
	}
	facts, last, constant := inferModel(c), lastReads(g), g.byName()
	var now, most int64
	sizes := map[string]int64{}
	enter := func(name string) error {
		if name == "" || constant[name] != nil || sizes[name] != 0 {
			return nil
		}
		size, err := facts[name].factBytes()
		if err != nil {
			return fmt.Errorf("graph: footprint: tensor %q: %w", name, err)
		}
		sizes[name], now = size, now+size
		return nil
	}
	if err := enter(input); err != nil {
		return 0, err
	}
	for k, node := range g.Nodes {
		if len(node.Subgraphs()) > 0 {
			return 0, fmt.Errorf("graph: footprint: node %q (%s) contains subgraphs, whose memory is unknown",
				node.Name, node.Op)
		}
		for _, name := range node.Outputs {
			if _, read := last[name]; !read {
				continue // an output that is never read: a dropout mask, statistics of an old batch normalisation
			}
			if err := enter(name); err != nil {
				return 0, err
			}
		}
		most = max(most, now)
		for _, name := range node.Inputs {
			if last[name] == k {
				now, sizes[name] = now-sizes[name], 0
			}
		}
	}
	return most, nil
}

// lastReads returns the index of the last node that reads each tensor. Outputs of the graph are read after all nodes.
func lastReads(g *Graph) map[string]int {
	last := map[string]int{}
	for k, node := range g.Nodes {
		for _, name := range node.Inputs {
			last[name] = k
		}
	}
	for _, out := range g.Outputs {
		last[out.Name] = len(g.Nodes)
	}
	return last
}

// maxFootprint is the largest size of a tensor in bytes that factBytes accepts: 1 TiB.
const maxFootprint = 1 << 40

// factBytes returns the size in bytes of a tensor whose shape is completely known.
func (f fact) factBytes() (int64, error) {
	if kinds[f.typ].bits == 0 || f.shape == nil {
		return 0, errors.New("type or shape cannot be inferred from the graph")
	}
	n := int64(1)
	for _, d := range f.shape {
		if !d.Known() {
			return 0, fmt.Errorf("shape %v cannot be fully inferred from the graph", f.shape)
		}
		if d.Size > 0 && n > maxFootprint/d.Size {
			return 0, fmt.Errorf("shape %v is too large", f.shape)
		}
		n *= d.Size
	}
	return f.typ.rawBytes(n), nil
}
