package graph_test

import (
	"strings"
	"testing"

	"winnow/backbone/graph"
)

// Requesting a name often costs no more than requesting it once.
func TestFreshCost(t *testing.T) {
	b := graph.NewBuilder("many", 17)
	for range 1000 {
		b.Fresh("Mul")
	}
	if allocated := testing.AllocsPerRun(10, func() { b.Fresh("Mul") }); allocated > 10 {
		t.Errorf("%v allocations, expected at most 10: old numbers are tried again", allocated)
	}
	if got := b.Fresh("Mul"); got != "Mul_1012" {
		t.Errorf("found %s", got)
	}
	if got := b.Fresh("Mul_1012"); got != "Mul_1012_2" {
		t.Errorf("found %s", got)
	}
}

func TestCheck(t *testing.T) {
	node := func(g *graph.Graph, i int) *graph.Node {
		n := *g.Nodes[i]
		g.Nodes[i] = &n
		return &n
	}
	for want, spoil := range map[string]func(*graph.Model){
		`node 1 "Conv" (Conv): input "nowhere"`: func(m *graph.Model) {
			node(m.Graph, 0).Inputs = []string{"nowhere", "w"}
		},
		`input "Conv": no earlier node`: func(m *graph.Model) {
			g := m.Graph.Nodes
			g[0], g[1] = g[1], g[0]
		},
		`output "Conv": the name is taken`: func(m *graph.Model) {
			node(m.Graph, 1).Outputs = []string{"Conv"}
		},
		`output "x": the name is taken`: func(m *graph.Model) { node(m.Graph, 1).Outputs = []string{"x"} },
		`output "answer": no node makes it`: func(m *graph.Model) {
			m.Graph.Outputs = []*graph.ValueInfo{{Name: "answer"}}
		},
		"found no output": func(m *graph.Model) { m.Graph.Outputs = nil },
		`operator set "com.example" is not imported`: func(m *graph.Model) { node(m.Graph, 1).Domain = "com.example" },
		"operator set: found version 999":            func(m *graph.Model) { m.Opsets[0].Version = 999 },
		`found versions 13 and 14`: func(m *graph.Model) {
			m.Opsets = append(m.Opsets, graph.Opset{Domain: "ai.onnx", Version: 14})
		},
		`initializer "w": the name is empty or taken`: func(m *graph.Model) {
			m.Graph.Initializers = append(m.Graph.Initializers, graph.NewTensor("w", []float32{1}))
		},
		`input "x": the name is empty or taken`: func(m *graph.Model) {
			m.Graph.Inputs = append(m.Graph.Inputs, m.Graph.Inputs[0])
		},
		"found no graph": func(m *graph.Model) { m.Graph = nil },
		`input "ghost"`: func(m *graph.Model) {
			inner := &graph.Graph{Nodes: []*graph.Node{{Op: "Relu", Inputs: []string{"ghost"},
				Outputs: []string{"in"}}}}
			node(m.Graph, 1).Attributes = []*graph.Attribute{{Name: "body", Kind: graph.KindGraph, Graph: inner}}
		},
	} {
		m := small(13)
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		spoil(m)
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}

// TestSubgraphs checks that a branch may read earlier tensors of the outer graph, and that a cut keeps these.
func TestSubgraphs(t *testing.T) {
	b := graph.NewBuilder("branches", 13)
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(2)})
	yes := b.Input("yes", graph.Bool, graph.Shape{})
	outer := b.NodeTo("outer", "Exp", []string{x})
	b.NodeTo("unused", "Neg", []string{x})
	branch := func(op string) *graph.Graph {
		return &graph.Graph{Nodes: []*graph.Node{{Op: op, Inputs: []string{outer}, Outputs: []string{"in" + op}}},
			Outputs: []*graph.ValueInfo{{Name: "in" + op}}}
	}
	b.Output(b.NodeTo("y", "If", []string{yes},
		&graph.Attribute{Name: "then_branch", Kind: graph.KindGraph, Graph: branch("Relu")},
		&graph.Attribute{Name: "else_branch", Kind: graph.KindGraph, Graph: branch("Neg")}))
	m := b.Model()
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	cut, err := graph.Cut(m, "y")
	if err != nil {
		t.Fatal(err)
	}
	if err := cut.Check(); err != nil {
		t.Error(err)
	}
	if made := cut.Graph.Producers(); made["outer"] == nil || made["unused"] != nil {
		t.Errorf("the cut keeps %d nodes", len(cut.Graph.Nodes))
	}
	if got := b.Fresh("inRelu"); got != "inRelu" { // added after the names were collected
		t.Errorf("fresh name %q", got)
	}
	if got := graph.Extend(m).Fresh("inRelu"); got == "inRelu" {
		t.Error("a name inside a branch was reused")
	}
}
