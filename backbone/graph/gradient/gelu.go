package gradient

import (
	"math"

	"winnow/backbone/graph"
)

// wholeGelu replaces x·½·(1+erf(x/√2)), the form in which exporters write Gelu, by ONNX Runtime's Gelu operator. The
// derivative then stores only x instead of three tensors of the same size, the largest in a transformer. The forward
// operation takes one pass instead of five.
func wholeGelu(m *graph.Model, output string) {
	s := speller{g: m.Graph, made: m.Graph.Producers(), uses: map[string][]*graph.Node{}, output: output}
	for _, n := range m.Graph.Nodes {
		for _, in := range n.Inputs {
			s.uses[in] = append(s.uses[in], n)
		}
	}
	gone, whole := map[*graph.Node]bool{}, map[*graph.Node]*graph.Node{}
	for _, n := range m.Graph.Nodes {
		if x, parts := s.findGelu(n); parts != nil {
			last := parts[len(parts)-1]
			whole[last] = &graph.Node{Name: last.Name, Op: "Gelu", Domain: "com.microsoft", Inputs: []string{x},
				Outputs: last.Outputs}
			for _, p := range parts {
				gone[p] = true
			}
		}
	}
	if len(whole) == 0 {
		return
	}
	var nodes []*graph.Node
	for _, n := range m.Graph.Nodes {
		if w := whole[n]; w != nil {
			nodes = append(nodes, w)
		} else if !gone[n] {
			nodes = append(nodes, n)
		}
	}
	m.Graph.Nodes = nodes
	b := graph.Extend(m)
	b.Import("com.microsoft", 1)
	m.Opsets = b.Model().Opsets
}

// speller matches chains of nodes.
type speller struct {
	g      *graph.Graph
	made   map[string]*graph.Node
	uses   map[string][]*graph.Node
	output string
}

// findGelu finds the Gelu around an Erf node: its input x, and its nodes with the last node last. It returns no nodes
// if the chain is not a float32 Gelu, or if another node reads an intermediate value.
func (s *speller) findGelu(erf *graph.Node) (x string, parts []*graph.Node) {
	if erf.Op != "Erf" || !graph.IsONNX(erf.Domain) {
		return "", nil
	}
	in := s.made[erf.Inputs[0]]
	x, ok := s.combinesWith(in, "Div", math.Sqrt2)
	if !ok {
		x, ok = s.combinesWith(in, "Mul", math.Sqrt2/2)
	}
	if !ok || s.onlyReader(in) != erf {
		return "", nil
	}
	more := s.onlyReader(erf)
	if _, ok := s.combinesWith(more, "Add", 1); !ok {
		return "", nil
	}
	parts = []*graph.Node{in, erf, more}
	// Three factors remain: x, ½ and 1+erf, in any order.
	t, halved, times := more, false, false
	for !halved || !times {
		n := s.onlyReader(t)
		if n == nil || n.Op != "Mul" {
			return "", nil
		}
		other := n.Inputs[0]
		if other == t.Outputs[0] {
			other = n.Inputs[1]
		}
		if h := s.made[other]; !halved && !times && h != nil && s.onlyReader(h) == n {
			if of, ok := s.combinesWith(h, "Mul", 0.5); ok && of == x {
				return x, append(parts, h, n)
			}
		}
		_, half := s.combinesWith(n, "Mul", 0.5)
		switch {
		case other == x && !times:
			times = true
		case half && !halved:
			halved = true
		default:
			return "", nil
		}
		parts, t = append(parts, n), n
	}
	return x, parts
}

// onlyReader returns the node that reads a node's output, or nil unless exactly one node reads it.
func (s *speller) onlyReader(n *graph.Node) *graph.Node {
	if n == nil || n.Outputs[0] == s.output || len(s.uses[n.Outputs[0]]) != 1 {
		return nil
	}
	return s.uses[n.Outputs[0]][0]
}

// combinesWith reports whether a node applies op to a tensor and the given float32 number, and returns the tensor.
func (s *speller) combinesWith(n *graph.Node, op string, number float64) (of string, ok bool) {
	if n == nil || n.Op != op || !graph.IsONNX(n.Domain) || len(n.Inputs) != 2 {
		return "", false
	}
	for i, name := range n.Inputs {
		t := s.g.Initializer(name)
		if t == nil || t.Type != graph.Float32 || i == 0 && op == "Div" {
			continue
		}
		list, err := t.Float64s()
		if err == nil && len(list) == 1 && len(t.Dims) < 2 && math.Abs(list[0]/number-1) < 1e-5 {
			return n.Inputs[1-i], true
		}
	}
	return "", false
}
