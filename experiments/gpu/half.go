package main

import (
	"fmt"
	"math"
	"slices"

	"winnow/backbone/graph"
)

// kept are the inputs that stay float32 when everything else becomes float16, by operator.
var kept = map[string][]int{"Resize": {1, 2}, "Upsample": {1}}

// half returns a model that computes in float16 between an input and outputs of float32. Its weights stay float32 in
// the file; the runtime converts them once, when it loads the model. Numbers beyond float16's largest, 65,504, become
// ±∞.
func half(m *graph.Model) (*graph.Model, error) {
	b := graph.Extend(m)
	c := b.Model()
	g := c.Graph
	nodes := g.Nodes
	g.Nodes, g.ValueInfo = nil, nil
	to := graph.Int("to", int64(graph.Float16))
	halves := map[string]string{} // float16 versions of float32 inputs and constants
	for _, in := range g.DataInputs() {
		if in.Type == graph.Float32 {
			halves[in.Name] = b.Node("Cast", []string{in.Name}, to)
		}
	}
	for _, t := range g.Initializers {
		if t.Type == graph.Float32 {
			halves[t.Name] = b.Node("Cast", []string{t.Name}, to)
		}
	}
	outputs := map[string]string{}
	for i, out := range g.Outputs {
		if out.Type != graph.Float32 {
			return nil, fmt.Errorf("gpu: float16: output %v, expected float32", out)
		}
		outputs[out.Name] = b.Fresh(out.Name + ".half")
		g.Outputs[i] = out
	}
	for _, n := range nodes {
		if len(n.Subgraphs()) > 0 {
			return nil, fmt.Errorf("gpu: float16: node %q is a %s, expected no nodes that hold graphs", n.Name, n.Op)
		}
		copied := *n
		copied.Inputs, copied.Outputs = slices.Clone(n.Inputs), slices.Clone(n.Outputs)
		for i, name := range copied.Inputs {
			if h := halves[name]; h != "" && !slices.Contains(kept[n.Op], i) {
				copied.Inputs[i] = h
			} else if o := outputs[name]; o != "" {
				copied.Inputs[i] = o
			}
		}
		if n.Op == "Cast" && n.Int("to", 0) == int64(graph.Float32) {
			copied.Attributes = []*graph.Attribute{to}
		}
		for i, name := range copied.Outputs {
			if o := outputs[name]; o != "" {
				copied.Outputs[i] = o
			}
		}
		b.Add(&copied)
		if t := n.ConstantValue(); t != nil && t.Type == graph.Float32 {
			halves[t.Name] = b.Node("Cast", []string{t.Name}, to)
		}
	}
	for name, h := range outputs {
		b.Add(&graph.Node{Name: b.Fresh(name + ".float32"), Op: "Cast", Inputs: []string{h}, Outputs: []string{name},
			Attributes: []*graph.Attribute{graph.Int("to", int64(graph.Float32))}})
	}
	return c, nil
}

// cosine returns the cosine of two vectors, and the length of their difference divided by that of the first.
func cosine(a, b []float32) (cos, relative float64) {
	var aa, bb, ab, dd float64
	for i, v := range a {
		x, y := float64(v), float64(b[i])
		aa, bb, ab, dd = aa+x*x, bb+y*y, ab+x*y, dd+(x-y)*(x-y)
	}
	return ab / math.Sqrt(aa*bb), math.Sqrt(dd / aa)
}
