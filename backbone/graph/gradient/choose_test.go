package gradient

import (
	"slices"
	"strings"
	"testing"

	"winnow/backbone/graph"
)

// ladder is a small network whose names show its stages: image → stem → layer1 (two convolutions, added to their
// input) → layer2 → features.
func ladder() *graph.Model {
	m := &graph.Model{IRVersion: 8, Opsets: []graph.Opset{{Version: 17}}, Graph: &graph.Graph{Name: "ladder"}}
	m.Graph.Inputs = []*graph.ValueInfo{{Name: "image", Type: graph.Float32,
		Shape: graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Fixed(8), graph.Fixed(8)}}}
	b := graph.Extend(m)
	conv := func(name, x string, in int64) string {
		g := b.Model().Graph
		w := graph.NewTensor(name+".weight", make([]float32, 4*in*9), 4, in, 3, 3)
		bias := graph.NewTensor(name+".bias", make([]float32, 4), 4)
		g.Initializers = append(g.Initializers, w, bias)
		b.Add(&graph.Node{Name: "/" + name + "/Conv", Op: "Conv", Inputs: []string{x, w.Name, bias.Name},
			Outputs: []string{name + ".out"}, Attributes: []*graph.Attribute{graph.Ints("pads", 1, 1, 1, 1)}})
		return name + ".out"
	}
	x := conv("stem.conv", "image", 3)
	y := conv("layer1.1.conv", conv("layer1.0.conv", x, 4), 4)
	b.NodeTo("sum", "Add", []string{x, y})
	y = conv("layer2.1.conv", conv("layer2.0.conv", "sum", 4), 4)
	b.NodeTo("features", "Flatten", []string{b.Node("GlobalAveragePool", []string{y})})
	b.SetOutputs("features")
	return b.Model()
}

func TestChoose(t *testing.T) {
	m := ladder()
	both := func(names ...string) (list []string) {
		for _, n := range names {
			list = append(list, n+".conv.weight", n+".conv.bias")
		}
		return list
	}
	for what, want := range map[string][]string{
		"all":      both("stem", "layer1.0", "layer1.1", "layer2.0", "layer2.1"),
		"stem":     both("stem", "layer1.0", "layer1.1", "layer2.0", "layer2.1"),
		"layer1":   both("layer1.0", "layer1.1", "layer2.0", "layer2.1"),
		"layer2":   both("layer2.0", "layer2.1"),
		"layer1.1": both("layer1.1", "layer2.0", "layer2.1"),
	} {
		got, err := Choose(m, "features", what)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, expected %v", what, got, err, want)
		}
	}
	for _, what := range []string{"layer3", "layer", "layer1*", "", "features"} {
		_, err := Choose(m, "features", what)
		if err == nil || !strings.Contains(err.Error(),
			`expected all or one of stem, layer1, layer2`) {
			t.Errorf("%q: %v", what, err)
		}
	}
}
