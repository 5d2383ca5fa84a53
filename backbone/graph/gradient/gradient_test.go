package gradient_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
)

// network is a model with weights, which tests differentiate by name.
type network struct {
	b      *graph.Builder
	x      string
	values map[string]array
}

// newNetwork returns a network with one input x of this shape. Its first size is free unless fixed.
func newNetwork(opset int64, fixed bool, dims ...int64) *network {
	n := &network{b: graph.NewBuilder("net", opset), values: map[string]array{}}
	shape := graph.ShapeOf(dims...)
	if !fixed {
		shape[0] = graph.Free("") // unnamed, as many exporters write it
	}
	n.x = n.b.Input("x", graph.Float64, shape)
	n.values[n.x] = x(1, dims...)
	return n
}

func (n *network) weight(name string, seed uint64, dims ...int64) string {
	a := x(seed, dims...)
	name = n.b.Constant(graph.NewTensor(name, a.data, dims...))
	n.values[name] = a
	return name
}

// state declares a tensor's shape in the file, as exporters do for operators without an inference rule.
func (n *network) state(tensor string, dims ...int64) string {
	g := n.b.Model().Graph
	g.ValueInfo = append(g.ValueInfo,
		&graph.ValueInfo{Name: tensor, Type: graph.Float64, Shape: graph.ShapeOf(dims...)})
	return tensor
}

func (n *network) node(op string, inputs ...string) string { return n.b.Node(op, inputs) }

// check differentiates with respect to the weights and x, and compares with central differences.
func (n *network) check(t *testing.T, output string, weights ...string) *gradient.Derivative {
	t.Helper()
	n.b.Output(output)
	d, err := gradient.Differentiate(n.b.Model(), gradient.Options{Weights: weights, Inputs: []string{n.x}})
	if err != nil {
		t.Fatal(err)
	}
	if got := difference(t, d, n.values, graph.Float64); !(got < 1e-6) {
		t.Errorf("the gradient is off by %.3g of its size, expected less than 1e-6", got)
	}
	return d
}

func TestSharedWeight(t *testing.T) {
	n := newNetwork(17, false, 3, 4)
	w := n.weight("w", 2, 4, 4)
	y := n.node("Tanh", n.node("MatMul", n.x, w))
	n.check(t, n.node("Add", n.node("MatMul", y, w), y), w)
}

func TestFixedBatch(t *testing.T) {
	n := newNetwork(17, true, 1, 4)
	w, v := n.weight("w", 2, 4, 4), n.weight("v", 3, 4)
	n.check(t, n.node("Mul", n.node("Tanh", n.node("MatMul", n.x, w)), v), w, v)
}

// A free size of one input may be 1 when another input's size is not. The axes to sum are then known only at run time.
func TestSizesFoundLate(t *testing.T) {
	for _, sizes := range [][2]int64{{1, 3}, {3, 3}, {3, 1}} {
		n := newNetwork(17, false, sizes[0], 4)
		z := n.b.Input("z", graph.Float64, graph.Shape{graph.Fixed(2), graph.Free(""), graph.Fixed(4)})
		n.values[z] = x(2, 2, sizes[1], 4)
		n.b.Output(n.node("Mul", n.x, z))
		d, err := gradient.Differentiate(n.b.Model(), gradient.Options{Inputs: []string{"x", "z"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := difference(t, d, n.values, graph.Float64); !(got < 1e-6) {
			t.Errorf("%v: the gradient is off by %.3g of its size", sizes, got)
		}
	}
}

// One derivative works for every batch size.
func TestBatches(t *testing.T) {
	n := newNetwork(17, false, 2, 3, 4)
	w := n.weight("w", 2, 4, 5)
	y := n.node("Tanh", n.node("MatMul", n.x, w))
	centred := n.node("Sub", y, n.b.Node("ReduceMean", []string{y}, graph.Ints("axes", 0)))
	d := n.check(t, n.node("Mul", n.b.Node("Softmax", []string{centred}, graph.Int("axis", 0)), centred), w)
	for _, batch := range []int64{1, 5} {
		n.values["x"] = x(3, batch, 3, 4)
		if got := difference(t, d, n.values, graph.Float64); !(got < 1e-6) {
			t.Errorf("batch of %d: the gradient is off by %.3g of its size", batch, got)
		}
	}
}

// If the batch size of a file is freed in its input only, the file still declares 1 for other tensors. This 1 must not
// be treated as a broadcast size; otherwise each image would get the sum of all images' gradients.
func TestFreedBatch(t *testing.T) {
	n := newNetwork(17, false, 3, 4)
	w := n.weight("w", 2, 4, 4)
	gate := n.state(n.node("Sigmoid", n.node("MatMul", n.x, w)), 1, 4)
	n.check(t, n.node("Mul", n.node("Add", n.x, n.node("Tanh", n.x)), gate), w)
}

// Exporters compute the shape of a Reshape from another tensor's shape.
func TestIntegerPath(t *testing.T) {
	n := newNetwork(17, false, 2, 3, 4)
	w := n.weight("w", 2, 12, 2)
	shape := n.node("Shape", n.x)
	first := n.b.Node("Gather", []string{shape, n.b.Constant(graph.NewTensor("at", []int64{0}))}, graph.Int("axis", 0))
	to := n.b.Node("Concat", []string{n.node("Unsqueeze", first, ints(n.b, 0)), ints(n.b, -1)}, graph.Int("axis", 0))
	d := n.check(t, n.node("MatMul", n.node("Reshape", n.node("Exp", n.x), to), w), w)
	if slices.ContainsFunc(d.Backward.Graph.Nodes, func(n *graph.Node) bool { return n.Op == "Shape" }) {
		t.Error("the backward model computes shapes that are known")
	}
}

// Constants may be nodes as well as initializers.
func TestConstantNodes(t *testing.T) {
	n := newNetwork(17, false, 3, 4)
	w := n.weight("w", 2, 4)
	half := n.b.Node("Constant", nil, graph.TensorValue("value", graph.NewTensor("half", []float64{0.5})))
	scaled := n.node("Mul", w, half)
	n.check(t, n.node("Mul", n.node("Pow", n.node("Add", n.x, scaled),
		n.b.Node("Constant", nil, graph.TensorValue("value", graph.NewTensor("two", []float64{2})))), half), w)
}

// Up to IR version 3 initializers are also listed as inputs.
func TestOldFormat(t *testing.T) {
	n := newNetwork(8, false, 3, 4)
	w, v := n.weight("w", 2, 4, 5), n.weight("v", 3, 5)
	half := n.b.Node("Constant", nil, graph.TensorValue("value", graph.NewTensor("half", []float64{0.5})))
	y := n.node("Mul", n.node("Add", n.node("MatMul", n.x, w), v), half)
	if m := n.b.Model(); m.IRVersion != 3 || len(m.Graph.Inputs) != 3 {
		t.Fatalf("found version %d with %d inputs, expected 3 and 3", m.IRVersion, len(m.Graph.Inputs))
	}
	n.check(t, n.b.Node("Softmax", []string{y}, graph.Int("axis", 1)), w)
}

// The caller's names do not change.
func TestNames(t *testing.T) {
	n := newNetwork(17, false, 3, 4)
	w := n.weight("grad_y", 2, 4, 4)
	v := n.weight("const", 3, 4)
	tensors := []string{"Shape", "grad_x", "Mul", "y_2"}
	in := n.x
	for i, name := range tensors {
		op := []string{"Tanh", "Sigmoid", "Exp", "Neg"}[i]
		n.b.NodeTo(name, op, []string{in})
		in = name
	}
	n.b.NodeTo("y", "LayerNormalization", []string{n.node("MatMul", in, w), v})
	mean := n.b.Node("ReduceMean", []string{"y"}, graph.Ints("axes", 0))
	n.check(t, n.node("Mul", "y", mean), w, v)
}

// Only the nodes that depend on the weights are differentiated.
func TestOnlyWhatIsNeeded(t *testing.T) {
	n := newNetwork(17, false, 3, 4)
	w := n.weight("w", 2, 4, 4)
	frozen := n.node("Round", n.b.Node("Mod", []string{n.x, number(n.b, 0.3)}, graph.Int("fmod", 1))) // no rule for Mod
	n.b.Output(n.node("MatMul", frozen, w))
	d, err := gradient.Differentiate(n.b.Model(), gradient.Options{Weights: []string{w}})
	if err != nil {
		t.Fatal(err)
	}
	if got := difference(t, d, n.values, graph.Float64); !(got < 1e-6) {
		t.Errorf("the gradient is off by %.3g of its size", got)
	}
	if len(d.Saved) != 1 || d.Saved[0] != frozen {
		t.Errorf("saved %q, expected only %q", d.Saved, frozen)
	}
}

func TestRefused(t *testing.T) {
	at := func(name string, lists [][]int64, attributes ...*graph.Attribute) func(n *network, w string) string {
		return func(n *network, w string) string {
			return with(name, lists, attributes...)(n.b, []string{n.node("Mul", n.x, w)})
		}
	}
	for _, c := range []struct {
		name, want string
		build      func(n *network, w string) string
	}{
		{"no rule", `operator Hardmax of node "Hardmax"`, at("Hardmax", nil)},
		{"another domain's", "operator acme.Relu of node", func(n *network, w string) string {
			n.b.Import("acme", 1)
			n.b.Add(&graph.Node{Op: "Relu", Domain: "acme", Inputs: []string{w}, Outputs: []string{"y"}})
			return "y"
		}},
		{"weight cut off", `weight "w": the nodes before the output read no initializer`,
			func(n *network, _ string) string {
				return n.node("Neg", n.x)
			}},
		{"pad by a weight", "the fill value", func(n *network, w string) string {
			return n.node("Pad", n.x, ints(n.b, 0, 1, 0, 0), n.node("ReduceSum", w))
		}},
		{"limits move", "limits depend on a weight", func(n *network, w string) string {
			return n.node("Clip", n.x, n.node("ReduceSum", w))
		}},
		{"three maxima", "found 3 inputs, expected at most 2", func(n *network, w string) string {
			return n.node("Max", n.x, w, w)
		}},
		{"slice of the batch", "expected a known size", at("Slice", [][]int64{{1}, {2}, {0}, nil})},
		{"slice found late", "known only when the network runs", func(n *network, w string) string {
			size := n.b.Node("Gather", []string{n.node("Shape", n.x), ints(n.b, 0)})
			return n.node("Slice", n.node("Mul", n.x, w), ints(n.b, 0), size, ints(n.b, 0))
		}},
		{"float16", "found float16, expected float32 or float64", func(n *network, w string) string {
			half := n.b.Node("Cast", []string{w}, graph.Int("to", int64(graph.Float16)))
			return n.node("Tanh", n.node("Neg", half))
		}},
		{"read inside a branch", `a subgraph reads`, func(n *network, w string) string {
			inner := func(op string) *graph.Graph {
				return &graph.Graph{Name: op,
					Nodes:   []*graph.Node{{Op: op, Inputs: []string{w}, Outputs: []string{op + "_y"}}},
					Outputs: []*graph.ValueInfo{{Name: op + "_y", Type: graph.Float64}}}
			}
			yes := n.b.Constant(graph.NewTensor("yes", []int64{1}))
			n.b.Add(&graph.Node{Op: "If", Name: "either",
				Inputs:  []string{n.b.Node("Cast", []string{yes}, graph.Int("to", int64(graph.Bool)))},
				Outputs: []string{"branch"},
				Attributes: []*graph.Attribute{
					{Name: "then_branch", Kind: graph.KindGraph, Graph: inner("Exp")},
					{Name: "else_branch", Kind: graph.KindGraph, Graph: inner("Neg")},
				}})
			// the gradient of the sum would look complete without the branch
			return n.node("Mul", n.node("Add", n.x, w), n.state("branch", 4))
		}},
		{"quantized on the way", "operator DequantizeLinear", func(n *network, w string) string {
			step := n.b.Constant(graph.NewTensor("step", []float32{0.1}))
			single := n.b.Node("Cast", []string{n.node("Mul", n.x, w)}, graph.Int("to", int64(graph.Float32)))
			whole := n.state(n.node("QuantizeLinear", single, step), 3, 4)
			g := n.b.Model().Graph
			g.ValueInfo[len(g.ValueInfo)-1].Type = graph.Uint8
			back := n.node("DequantizeLinear", whole, step)
			return n.node("Add", n.node("Mul", n.x, w),
				n.b.Node("Cast", []string{n.state(back, 3, 4)}, graph.Int("to", int64(graph.Float64))))
		}},
		{"values of one-hot", "operator OneHot", func(n *network, w string) string {
			values := n.b.Node("Slice", []string{w, ints(n.b, 0), ints(n.b, 2)})
			return n.node("Add", n.state(n.node("OneHot", n.node("ArgMax", n.x), ints(n.b, 4), values), 3, 4),
				n.node("Mul", n.x, w))
		}},
		{"pool of unknown rank", "expected known sizes", func(n *network, w string) string {
			n.b.Add(&graph.Node{Op: "Compress", Inputs: []string{n.x, n.node("Not", n.node("Equal", n.x, n.x))},
				Outputs: []string{"any"}})
			return n.node("GlobalMaxPool", n.node("Mul", "any", w))
		}},
		{"statistics of places", "spatial 0", func(n *network, w string) string {
			return n.b.Node("BatchNormalization", []string{n.x, w, w, n.weight("mean", 3, 4), n.weight("var", 4, 4)},
				graph.Int("spatial", 0))
		}},
		{"no axis to square over", "no axes and noop_with_empty_axes", func(n *network, w string) string {
			none := n.b.Constant(graph.NewTensor("none", []int64{}, 0))
			return n.b.Node("ReduceSumSquare", []string{n.node("Mul", n.x, w), none},
				graph.Int("noop_with_empty_axes", 1))
		}},
		{"shape found late", "expected", func(n *network, w string) string {
			n.b.Add(&graph.Node{Op: "Compress", Inputs: []string{n.x, n.node("Not", n.node("Equal", n.x, n.x))},
				Outputs: []string{"some"}})
			return n.node("Mul", n.node("ReduceSum", "some"),
				n.b.Node("ReduceMean", []string{n.node("Mul", "some", w)}))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNetwork(17, false, 3, 4)
			w := n.weight("w", 2, 4)
			n.b.Output(c.build(n, w))
			_, err := gradient.Differentiate(n.b.Model(), gradient.Options{Weights: []string{w}})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "gradient: ") {
				t.Errorf("found %v, expected an error with %q", err, c.want)
			}
		})
	}
}

func TestRefusedOptions(t *testing.T) {
	n := newNetwork(17, false, 3, 4)
	size := n.b.Node("Cast", []string{n.node("Shape", n.weight("w", 2, 4))}, graph.Int("to", int64(graph.Float64)))
	n.b.Output(n.node("Mul", n.x, size))
	m := n.b.Model()
	for want, o := range map[string]gradient.Options{
		"nothing to differentiate with respect to": {},
		`input "z": the model has no such input`:   {Inputs: []string{"z"}},
		`weight "v": the nodes before the output`:  {Weights: []string{"v"}},
		`output "Mul" depends on none`:             {Weights: []string{"w"}},
		`"w": the output does not depend on it`:    {Weights: []string{"w"}, Inputs: []string{"x"}},
		`graph: tensor "q": no node makes it`:      {Output: "q", Inputs: []string{"x"}},
	} {
		if _, err := gradient.Differentiate(m, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: found %v, expected an error with %q", o, err, want)
		}
	}
}

// The models use only operators of a standard runtime.
func TestModelsStandAlone(t *testing.T) {
	n := newNetwork(17, false, 2, 3, 4)
	w := n.weight("w", 2, 2, 4, 4)
	d := n.check(t, n.node("MatMul", n.x, w), w)
	for _, m := range []*graph.Model{d.Forward, d.Backward} {
		again, err := graph.Read(m.Marshal())
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Check(); err != nil {
			t.Error(err)
		}
	}
	if got := fmt.Sprint(d.Grads); len(d.Grads) != 2 {
		t.Errorf("found gradients %s, expected one for each weight and input", got)
	}
}
