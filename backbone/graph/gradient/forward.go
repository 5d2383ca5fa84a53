package gradient

import (
	"fmt"
	"slices"

	"winnow/backbone/graph"
)

// forward is the forward model during rewriting: without Constant nodes, and with the weights as inputs.
type forward struct {
	b      *graph.Builder // builds the rewritten model, and adds nodes for values that the derivative reads
	facts  map[string]*graph.ValueInfo
	known  map[string][]int64
	consts map[string]*graph.Tensor // constants that are not trained
	state  []State
	// own holds the rules of nodes that replace several others, by first output. They override the operators' rules.
	own map[string]rule
}

// prepareForward rewrites a model so that it can be differentiated: Constant nodes become initializers, weights become
// inputs, and nodes that behave differently in training are expanded.
func prepareForward(m *graph.Model, o Options) (*forward, error) {
	c := *m
	g := *m.Graph
	c.Graph = &g
	g.Nodes, g.Initializers = nil, slices.Clone(m.Graph.Initializers)
	g.Inputs, g.ValueInfo = slices.Clone(m.Graph.Inputs), slices.Clone(m.Graph.ValueInfo)
	for _, n := range m.Graph.Nodes {
		if t := n.ConstantValue(); t != nil && n.Outputs[0] != o.Output {
			g.Initializers = append(g.Initializers, t)
			continue
		}
		g.Nodes = append(g.Nodes, n)
	}
	nameSizes(g.Inputs)
	wholeGelu(&c, o.Output)
	f := &forward{}
	if err := f.rewriteNorms(&c, o); err != nil {
		return nil, err
	}
	if err := weightsToInputs(&c, o.Weights, f.state); err != nil {
		return nil, err
	}
	for _, name := range o.Inputs {
		if !slices.ContainsFunc(c.Graph.DataInputs(), func(v *graph.ValueInfo) bool { return v.Name == name }) {
			return nil, fmt.Errorf("gradient: input %q: the model has no such input", name)
		}
	}
	f.b = graph.Extend(&c)
	f.facts, f.known = graph.Infer(&c), graph.Known(&c)
	f.consts = map[string]*graph.Tensor{}
	for _, t := range c.Graph.Initializers {
		f.consts[t.Name] = t
	}
	return f, nil
}

// nameSizes names the unnamed free sizes of inputs, so that shape inference can determine which sizes are equal.
func nameSizes(inputs []*graph.ValueInfo) {
	for i, v := range inputs {
		named := *v
		named.Shape = slices.Clone(v.Shape)
		for a, d := range v.Shape {
			if !d.Known() && d.Name == "" {
				named.Shape[a] = graph.Free(fmt.Sprintf("%s.%d", v.Name, a))
			}
		}
		inputs[i] = &named
	}
}

// weightsToInputs turns initializers into inputs with the same name, type and shape.
func weightsToInputs(m *graph.Model, weights []string, state []State) error {
	g := m.Graph
	names := slices.Clone(weights)
	for _, s := range state {
		names = append(names, s.Name)
	}
	for _, name := range names {
		t := g.Initializer(name)
		if t == nil {
			return fmt.Errorf("gradient: weight %q: the nodes before the output read no initializer of that name",
				name)
		}
		if t.Type != graph.Float32 && t.Type != graph.Float64 {
			return fmt.Errorf("gradient: weight %q: found %v, expected float32 or float64", name, t.Type)
		}
		g.Initializers = slices.DeleteFunc(g.Initializers, func(t *graph.Tensor) bool { return t.Name == name })
		// in IR version 3 the initializer is an input already
		g.Inputs = slices.DeleteFunc(g.Inputs, func(v *graph.ValueInfo) bool { return v.Name == name })
		g.Inputs = append(g.Inputs, &graph.ValueInfo{Name: name, Type: t.Type, Shape: graph.ShapeOf(t.Dims...)})
	}
	return nil
}

// opsetVersion returns the operator set version of the forward model.
func (f *forward) opsetVersion() int64 { return f.b.Opset() }
