package graph_test

import (
	"slices"
	"testing"

	"winnow/backbone/graph"
)

// TestForInference checks that nodes exported in training mode are rewritten unless another node reads an output that
// exists only in training. Such nodes, and nodes that draw random numbers, are reported as unsettled.
func TestForInference(t *testing.T) {
	truth := func(v uint8) *graph.Tensor { c := graph.NewTensor("train", []uint8{v}); c.Type = graph.Bool; return c }
	node := func(op string, in, out []string, attributes ...*graph.Attribute) *graph.Node {
		return &graph.Node{Op: op, Inputs: in, Outputs: out, Attributes: attributes}
	}
	norm := []string{"x", "v", "v", "v", "v"}
	rewritten, settled := []string{"changed"}, []string(nil)
	for _, c := range []struct {
		name  string
		opset int64
		train uint8
		nodes []*graph.Node
		want  []string // "changed" and the unsettled operators
	}{
		{"Dropout trains", 13, 1, []*graph.Node{node("Dropout", []string{"x", "", "train"}, []string{"y", "mask"})},
			rewritten},
		{"Dropout does not", 13, 0, []*graph.Node{node("Dropout", []string{"x", "", "train"}, []string{"y"})}, settled},
		{"Dropout by a computed flag", 13, 0, []*graph.Node{node("Not", []string{"train"}, []string{"flag"}),
			node("Dropout", []string{"x", "", "flag"}, []string{"y"})}, rewritten},
		{"Dropout before set 12", 11, 0, []*graph.Node{node("Dropout", []string{"x"}, []string{"y", "mask"})}, settled},
		{"Dropout before set 7", 6, 0, []*graph.Node{node("Dropout", []string{"x"}, []string{"y"})}, rewritten},
		{"mask read", 13, 1, []*graph.Node{node("Dropout", []string{"x", "", "train"}, []string{"z", "mask"}),
			node("Where", []string{"mask", "z", "x"}, []string{"y"})}, []string{"Dropout"}},
		{"five outputs", 9, 0, []*graph.Node{node("BatchNormalization", norm, []string{"y", "a", "b", "c", "d"})},
			rewritten},
		{"one output", 9, 0, []*graph.Node{node("BatchNormalization", norm, []string{"y"})}, settled},
		{"is_test", 6, 0, []*graph.Node{node("BatchNormalization", norm, []string{"y"}, graph.Int("is_test", 1))},
			settled},
		{"training_mode", 15, 0, []*graph.Node{node("BatchNormalization", norm, []string{"y", "a", "b"},
			graph.Int("training_mode", 1))}, rewritten},
		{"statistics read", 15, 0, []*graph.Node{node("BatchNormalization", norm, []string{"z", "a", "b"},
			graph.Int("training_mode", 1)), node("Add", []string{"z", "a"}, []string{"y"})},
			[]string{"BatchNormalization"}},
		{"drawn", 13, 0, []*graph.Node{node("RandomNormalLike", []string{"x"}, []string{"z"}),
			node("Add", []string{"x", "z"}, []string{"y"})}, []string{"RandomNormalLike"}},
		{"only the shape is read", 13, 0, []*graph.Node{node("RandomNormalLike", []string{"x"}, []string{"z"}),
			node("Shape", []string{"z"}, []string{"s"}), node("Reshape", []string{"x", "s"}, []string{"y"})}, settled},
		{"in a branch", 13, 1, []*graph.Node{node("If", []string{"train"}, []string{"y"},
			&graph.Attribute{Name: "then_branch", Kind: graph.KindGraph, Graph: &graph.Graph{
				Nodes:   []*graph.Node{node("Dropout", []string{"x", "", "train"}, []string{"inner"})},
				Outputs: []*graph.ValueInfo{{Name: "inner"}}}},
			&graph.Attribute{Name: "else_branch", Kind: graph.KindGraph, Graph: &graph.Graph{
				Nodes:   []*graph.Node{node("Bernoulli", []string{"x"}, []string{"other"})},
				Outputs: []*graph.ValueInfo{{Name: "other"}}}})}, []string{"changed", "Bernoulli"}},
	} {
		b := graph.NewBuilder("net", c.opset)
		b.Input("x", graph.Float32, graph.ShapeOf(2, 3))
		b.Constant(truth(c.train))
		b.Constant(graph.NewTensor("v", []float32{1, 1, 1}, 3))
		for _, n := range c.nodes {
			b.Add(n)
		}
		b.Output("y")
		m, changed := graph.ForInference(b.Model())
		var found []string
		if len(changed) > 0 {
			found = append(found, "changed")
		}
		for _, n := range graph.Unsettled(m, "y") {
			found = append(found, n.Op)
		}
		if !slices.Equal(found, c.want) {
			t.Errorf("%s: found %q, expected %q", c.name, found, c.want)
		}
		if again, more := graph.ForInference(m); again != m || more != nil {
			t.Errorf("%s: changed when rewritten again", c.name)
		}
		if err := m.Check(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
