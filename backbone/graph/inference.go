package graph

import (
	"fmt"
	"slices"
	"strings"
)

// random lists the operators that draw new random numbers at each run.
var random = []string{"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli",
	"Multinomial"}

// ForInference returns a model in inference mode, and the nodes that were exported in training mode: Dropout becomes
// the identity, BatchNormalization uses its stored statistics. Outputs that exist only in training are removed. A node
// keeps its mode if another node reads one of these outputs.
func ForInference(m *Model) (*Model, []*Node) {
	e := evaluating{opset: m.Opset(), read: map[string]bool{}, constants: m.Graph.Constants(), gone: map[string]bool{}}
	e.markEvaluating(m.Graph)
	g := e.rewriteGraph(m.Graph)
	if g == m.Graph {
		return m, nil
	}
	c := *m
	c.Graph = g
	g.Outputs = filterList(g.Outputs, func(v *ValueInfo) bool { return !e.gone[v.Name] })
	return &c, e.changed
}

// evaluating is the state of one call of ForInference.
type evaluating struct {
	opset     int64
	read      map[string]bool // tensors that any node reads
	constants map[string]*Tensor
	gone      map[string]bool // outputs that no node computes any more
	changed   []*Node
}

func (e *evaluating) markEvaluating(g *Graph) {
	for _, n := range g.Nodes {
		for _, name := range n.listUses() {
			e.read[name] = true
		}
	}
}

// rewriteGraph returns the graph with its nodes rewritten, or the same graph if no node changes.
func (e *evaluating) rewriteGraph(g *Graph) *Graph {
	c := *g
	c.Nodes = slices.Clone(g.Nodes)
	for i, n := range c.Nodes {
		c.Nodes[i] = e.rewriteNode(n)
	}
	if slices.Equal(c.Nodes, g.Nodes) {
		return g
	}
	return &c
}

func (e *evaluating) rewriteNode(n *Node) *Node {
	c := *n
	c.Attributes = slices.Clone(n.Attributes)
	for i, a := range c.Attributes {
		if a.Graph != nil {
			inner := *a
			if inner.Graph = e.rewriteGraph(a.Graph); inner.Graph != a.Graph {
				c.Attributes[i] = &inner
			}
		}
	}
	if !e.isTraining(n) ||
		slices.ContainsFunc(n.Outputs[1:], func(out string) bool { return out != "" && e.read[out] }) {
		if slices.Equal(c.Attributes, n.Attributes) {
			return n
		}
		return &c
	}
	for _, out := range n.Outputs[1:] {
		e.gone[out] = true
	}
	c.Outputs = n.Outputs[:1]
	c.Attributes = filterList(c.Attributes, func(a *Attribute) bool {
		return a.Name != "training_mode" &&
			a.Name != "is_test"
	})
	if e.opset < 7 {
		c.Attributes = append(c.Attributes, Int("is_test", 1))
	}
	if n.hasOp("Dropout") {
		c.Inputs = n.Inputs[:min(len(n.Inputs), 2)]
	}
	e.changed = append(e.changed, n)
	return &c
}

// isTraining reports whether a node is in training mode. Before operator set 7 the attribute is_test determines the
// mode; for BatchNormalization before set 14 the number of outputs does. Dropout of sets 7 to 11 never drops values.
func (e *evaluating) isTraining(n *Node) bool {
	switch {
	case !n.hasOp("Dropout", "BatchNormalization") || len(n.Outputs) == 0:
		return false
	case e.opset < 7:
		return n.Int("is_test", 0) == 0
	case n.hasOp("Dropout"):
		t := e.constants[n.Input(2)]
		return n.Input(2) != "" && (t == nil || !slices.Equal(t.raw, []byte{0}))
	case e.opset < 14:
		return slices.ContainsFunc(n.Outputs[1:], func(out string) bool { return out != "" })
	}
	return n.Int("training_mode", 0) != 0
}

// Unsettled returns the nodes that make an output depend on random numbers, or on the other images of a batch because
// they normalise by the batch. Shapes depend on neither.
func Unsettled(m *Model, output string) []*Node {
	e := evaluating{opset: m.Opset(), constants: m.Graph.Constants()}
	var found []*Node
	var search func(nodes []*Node, needed map[string]bool)
	search = func(nodes []*Node, needed map[string]bool) {
		for _, n := range slices.Backward(nodes) {
			if needed != nil && !slices.ContainsFunc(n.Outputs, func(out string) bool { return needed[out] }) {
				continue
			}
			if e.isTraining(n) || n.hasOp(random...) {
				found = append(found, n)
			}
			for _, g := range n.Subgraphs() {
				search(g.Nodes, nil)
			}
			if needed != nil && !n.hasOp("Shape", "Size", "RandomNormalLike", "RandomUniformLike") {
				for _, name := range n.listUses() {
					needed[name] = true
				}
			}
		}
	}
	search(m.Graph.Nodes, map[string]bool{output: true})
	slices.Reverse(found)
	return found
}

// Describe lists at most five nodes, by operator, name and first output.
func Describe(nodes []*Node) string {
	var list []string
	for _, n := range nodes[:min(len(nodes), 5)] {
		list = append(list, fmt.Sprintf("%s of node %q (making %q)", n.Op, n.Name, n.Outputs[0]))
	}
	if more := len(nodes) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}
