package graph_test

import (
	"strings"
	"testing"

	"winnow/backbone/graph"
)

// TestFootprint compares with sizes counted by hand. The input (3·8·8 numbers) and the first map (6·8·8) exist
// together. The shortcut keeps the first map while the second (10·8·8) and the third (6·8·8) are computed; the sum
// needs two maps and makes one.
func TestFootprint(t *testing.T) {
	net := func(shortcut bool) *graph.Model {
		b := graph.NewBuilder("net", 13)
		x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Free("h"), graph.Free("w")})
		first := b.Node("Conv", []string{x, weight(b, 6, 3, 1, 1)})
		third := b.Node("Conv", []string{b.Node("Conv", []string{first, weight(b, 10, 6, 1, 1)}),
			weight(b, 6, 10, 1, 1)})
		if shortcut {
			third = b.Node("Add", []string{third, first})
		}
		b.Output(b.Node("GlobalAveragePool", []string{third}))
		return b.Model()
	}
	for shortcut, want := range map[bool]int64{false: 4 * 64 * (6 + 10), true: 4 * 64 * (6 + 10 + 6)} {
		if got, err := graph.Footprint(net(shortcut), "x", 3, 8, 8); err != nil || got != want {
			t.Errorf("shortcut %v: %d bytes, %v; expected %d", shortcut, got, err, want)
		}
	}
	if got, err := graph.Footprint(net(false), "x", 3, 16, 16); err != nil || got != 4*4*64*16 {
		t.Errorf("at twice the side: %d bytes, %v", got, err)
	}
	b := graph.NewBuilder("unknown", 13)
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Fixed(8), graph.Fixed(8)})
	b.Output(b.NodeTo("y", "NobodyKnowsThis", []string{x}))
	if _, err := graph.Footprint(b.Model(), "x", 3, 8, 8); err == nil || !strings.Contains(err.Error(), `tensor "y"`) {
		t.Errorf("an unknown operator: %v", err)
	}
}

// TestRealFootprint: the peak of MobileNetV2 is at its widest layer. There 96 channels at 112×112 become 96 at 56×56,
// or before that 32 and 16 channels exist together at 112×112. In any case the peak includes the map of 96×112×112 and
// its activated copy.
func TestRealFootprint(t *testing.T) {
	_, m := realModel(t, "mobilenetv2-features")
	if got, err := graph.Footprint(m, "input", 3, 224, 224); err != nil || got != 4*112*112*(96+96) {
		t.Errorf("%d bytes, %v; expected %d", got, err, 4*112*112*(96+96))
	}
	for _, name := range realModels[:3] {
		_, m := realModel(t, name)
		if got, err := graph.Footprint(m, m.Graph.DataInputs()[0].Name, 3, 224, 224); err != nil || got < 1<<20 ||
			got > 64<<20 {
			t.Errorf("%s: %d bytes, %v", name, got, err)
		}
	}
}
