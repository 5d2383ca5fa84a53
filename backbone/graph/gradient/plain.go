package gradient

import (
	"math"
	"slices"
	"strings"

	"winnow/backbone/graph"
)

// Plain returns the model in the form that is trained: with ONNX's own operators instead of those that ONNX Runtime's
// optimiser fused, and with a constant of its own for each weight. Names of weights are kept.
func Plain(m *graph.Model) *graph.Model { return untieIdentities(unfuseModel(m)) }

// unfuseModel writes out the operators of com.microsoft that optimised exports consist of:
//
//	SkipLayerNormalization   LayerNormalization of a sum
//	BiasGelu                 Gelu of a sum
//	FastGelu                 Gelu by tanh, of a sum if it has a bias
//	QuickGelu                x·σ(αx)
//	FusedMatMul              α·A·B, either transposed first
//	Attention                softmax(s·Q·Kᵀ)·V of each head, with Q, K, V by one product
//	MultiHeadAttention       the same of Q, K, V that are given
//	FusedConv, FusedGemm     Conv, Gemm, a sum if FusedConv has a fourth input, and an activation
//
// A node with inputs that are not among these, such as a mask, is left as it is.
func unfuseModel(m *graph.Model) *graph.Model {
	if !slices.ContainsFunc(m.Graph.Nodes, func(n *graph.Node) bool { return n.Domain == microsoft }) {
		return m
	}
	u := unfusing{b: graph.Extend(m), facts: graph.Infer(m)}
	c := u.b.Model()
	nodes := c.Graph.Nodes
	c.Graph.Nodes = nil
	for _, n := range nodes {
		if n.Domain != microsoft || !u.writeUnfused(n) {
			u.b.Add(n)
		}
	}
	return c
}

const microsoft = "com.microsoft"

// unfusing is a model while its fused operators are written out.
type unfusing struct {
	b     *graph.Builder
	facts map[string]*graph.ValueInfo
	n     *graph.Node // the node that is written out
}

// writeUnfused adds the nodes of a fused one, and reports false if it cannot.
func (u *unfusing) writeUnfused(n *graph.Node) bool {
	u.n = n
	switch n.Op {
	case "SkipLayerNormalization":
		return u.skipNorm()
	case "BiasGelu":
		u.addLastPart(microsoft, "Gelu", []string{u.addPart("Add", u.n.Input(0), u.n.Input(1))})
	case "FastGelu":
		return u.fastGelu()
	case "QuickGelu":
		gate := u.addPart("Sigmoid", u.addPart("Mul", u.n.Input(0), u.constNumber(float64(n.Float("alpha", 1.702)))))
		u.addLastPart("", "Mul", []string{u.n.Input(0), gate})
	case "FusedMatMul":
		return u.matMul()
	case "Attention":
		return u.splitAttention()
	case "MultiHeadAttention":
		return u.multiHead()
	case "FusedConv", "FusedGemm":
		return u.splitActivated()
	default:
		return false
	}
	return true
}

// hasOnly reports whether the node has no inputs from the i-th on, and no outputs but the first.
func (u *unfusing) hasOnly(i int) bool {
	some := func(name string) bool { return name != "" }
	return !slices.ContainsFunc(u.n.Inputs[min(i, len(u.n.Inputs)):], some) &&
		!slices.ContainsFunc(u.n.Outputs[1:], some)
}

// addPart adds a node for a part of the fused one.
func (u *unfusing) addPart(op string, inputs ...string) string {
	return u.b.NodeTo(u.freshName(op), op, inputs)
}

// freshName returns a name below that of the fused node, to whose stage its weights belong.
func (u *unfusing) freshName(op string) string { return u.b.Fresh(u.n.Name + "/" + op) }

// addPartWith is add with attributes.
func (u *unfusing) addPartWith(op string, inputs []string, attributes ...*graph.Attribute) string {
	return u.b.NodeTo(u.freshName(op), op, inputs, attributes...)
}

// addLastPart adds the node that makes the fused node's output.
func (u *unfusing) addLastPart(domain, op string, inputs []string, attributes ...*graph.Attribute) {
	u.b.Add(&graph.Node{Name: u.n.Name, Domain: domain, Op: op, Inputs: inputs, Outputs: u.n.Outputs[:1],
		Attributes: attributes})
}

func (u *unfusing) constNumber(v float64) string {
	return u.b.Constant(graph.NewTensor(u.freshName("number"), []float32{float32(v)}))
}

func (u *unfusing) constIntList(v ...int64) string {
	return u.b.Constant(graph.NewTensor(u.freshName("ints"), v, int64(len(v))))
}

// lastSize returns the last size of a tensor, 0 if it is unknown or the rank differs.
func (u *unfusing) lastSize(tensor string, rank int) int64 {
	v := u.facts[tensor]
	if v == nil || len(v.Shape) != rank || !v.Shape[rank-1].Known() {
		return 0
	}
	return v.Shape[rank-1].Size
}

func (u *unfusing) skipNorm() bool {
	n := u.n
	if len(n.Outputs) > 1 && (n.Outputs[1] != "" || len(n.Outputs) > 2 && n.Outputs[2] != "") || u.n.Input(2) == "" {
		return false // statistics
	}
	sum := u.addPart("Add", u.n.Input(0), u.n.Input(1))
	if bias := u.n.Input(4); bias != "" {
		sum = u.addPart("Add", sum, bias)
	}
	if len(n.Outputs) > 3 && n.Outputs[3] != "" {
		u.b.NodeTo(n.Outputs[3], "Identity", []string{sum})
	}
	inputs := []string{sum, u.n.Input(2)}
	if u.n.Input(3) != "" {
		inputs = append(inputs, u.n.Input(3))
	}
	u.addLastPart(
		"",
		"LayerNormalization",
		inputs,
		graph.Int("axis", -1),
		graph.Float("epsilon", n.Float("epsilon", 1e-12)),
	)
	return true
}

// splitActivated writes out a convolution or product with an activation.
func (u *unfusing) splitActivated() bool {
	n := u.n
	of := []string{"activation_params"}
	op, inputs := strings.TrimPrefix(n.Op, "Fused"), n.Inputs
	if n.Op == "FusedGemm" {
		of = []string{"activation_alpha", "activation_beta"}
	} else if u.n.Input(3) != "" {
		inputs = inputs[:3]
	}
	var own []*graph.Attribute
	var params []float32
	for _, a := range n.Attributes {
		switch {
		case slices.Contains(of, a.Name) && a.Kind == graph.KindFloat:
			params = append(params, a.Float)
		case slices.Contains(of, a.Name):
			params = append(params, a.Floats...)
		case !strings.HasPrefix(a.Name, "activation"):
			own = append(own, a)
		}
	}
	var attributes []*graph.Attribute
	activation := n.Text("activation", "")
	names := map[string][]string{"": {}, "Relu": {}, "Tanh": {}, "Sigmoid": {}, "LeakyRelu": {"alpha"},
		"HardSigmoid": {"alpha", "beta"}, "Clip": {"min", "max"}}
	known, ok := names[activation]
	if !ok || len(params) != len(known) && len(known) > 0 {
		return false
	}
	for i, name := range known {
		attributes = append(attributes, graph.Float(name, params[i]))
	}
	y := u.addPartWith(op, inputs, own...)
	if n.Op == "FusedConv" && u.n.Input(3) != "" {
		y = u.addPart("Add", y, u.n.Input(3))
	}
	switch activation {
	case "":
		u.addLastPart("", "Identity", []string{y})
	case "Clip":
		u.addLastPart("", "Clip", []string{y, u.constNumber(float64(params[0])), u.constNumber(float64(params[1]))})
	default:
		u.addLastPart("", activation, []string{y}, attributes...)
	}
	return true
}

func (u *unfusing) fastGelu() bool {
	x := u.n.Input(0)
	if u.n.Input(1) != "" {
		x = u.addPart("Add", x, u.n.Input(1))
	}
	const cubic = 0.044715
	k := math.Sqrt(2 / math.Pi)
	cube := u.addPart("Mul", u.addPart("Mul", x, x), x)
	inner := u.addPart("Mul", u.addPart("Add", x, u.addPart("Mul", cube, u.constNumber(cubic))), u.constNumber(k))
	gate := u.addPart("Add", u.addPart("Tanh", inner), u.constNumber(1))
	u.addLastPart("", "Mul", []string{u.addPart("Mul", x, u.constNumber(0.5)), gate})
	return true
}

func (u *unfusing) matMul() bool {
	n := u.n
	if n.Int("transBatchA", 0) != 0 || n.Int("transBatchB", 0) != 0 {
		return false
	}
	var factors []string
	for i, name := range []string{"transA", "transB"} {
		factor := u.n.Input(i)
		if n.Int(name, 0) != 0 {
			v := u.facts[factor]
			if v == nil || len(v.Shape) < 2 {
				return false
			}
			perm := allAxes(len(v.Shape))
			perm[len(perm)-1], perm[len(perm)-2] = perm[len(perm)-2], perm[len(perm)-1]
			factor = u.addPartWith("Transpose", []string{factor}, graph.Ints("perm", perm...))
		}
		factors = append(factors, factor)
	}
	if alpha := n.Float("alpha", 1); alpha != 1 {
		u.addLastPart("", "Mul", []string{u.addPart("MatMul", factors...), u.constNumber(float64(alpha))})
		return true
	}
	u.addLastPart("", "MatMul", factors)
	return true
}

func (u *unfusing) splitAttention() bool {
	n := u.n
	sizes := n.Ints("qkv_hidden_sizes")
	if width := u.lastSize(u.n.Input(1), 2); sizes == nil && width%3 == 0 {
		sizes = []int64{width / 3, width / 3, width / 3}
	}
	if !u.dividesHeads(sizes) || !u.hasOnly(3) || n.Int("do_rotary", 0) != 0 {
		return false
	}
	all := u.addPart("MatMul", u.n.Input(0), u.n.Input(1))
	if u.n.Input(2) != "" {
		all = u.addPart("Add", all, u.n.Input(2))
	}
	u.attendHeads(u.splitLastAxis(all, sizes), sizes)
	return true
}

// dividesHeads reports whether queries, keys and values of these widths can be divided among the node's heads, each of
// which sees all tokens.
func (u *unfusing) dividesHeads(sizes []int64) bool {
	count := u.n.Int("num_heads", 0)
	return len(sizes) == 3 && count > 0 && sizes[0] == sizes[1] && u.n.Int("unidirectional", 0) == 0 &&
		!slices.ContainsFunc(sizes, func(s int64) bool { return s == 0 || s%count != 0 })
}

// splitLastAxis parts a tensor along its last axis.
func (u *unfusing) splitLastAxis(tensor string, sizes []int64) []string {
	node := &graph.Node{Name: u.freshName("Split"), Op: "Split", Inputs: []string{tensor},
		Attributes: []*graph.Attribute{graph.Int("axis", -1)}}
	if u.b.Opset() < 13 {
		node.Attributes = append(node.Attributes, graph.Ints("split", sizes...))
	} else {
		node.Inputs = append(node.Inputs, u.constIntList(sizes...))
	}
	for range sizes {
		node.Outputs = append(node.Outputs, u.freshName("Split"))
	}
	u.b.Add(node)
	return slices.Clone(node.Outputs)
}

func (u *unfusing) multiHead() bool {
	parts := []string{u.n.Input(0), u.n.Input(1), u.n.Input(2)}
	var sizes []int64
	for _, part := range parts {
		sizes = append(sizes, u.lastSize(part, 3))
	}
	if !u.dividesHeads(sizes) || !u.hasOnly(4) {
		return false
	}
	if bias := u.n.Input(3); bias != "" {
		for i, b := range u.splitLastAxis(bias, sizes) {
			parts[i] = u.addPart("Add", parts[i], b)
		}
	}
	u.attendHeads(parts, sizes)
	return true
}

// attendHeads attends with queries, keys and values [N,T,·] of these widths.
func (u *unfusing) attendHeads(parts []string, sizes []int64) {
	count := u.n.Int("num_heads", 0)
	perms := [][]int64{{0, 2, 1, 3}, {0, 2, 3, 1}, {0, 2, 1, 3}} // keys are transposed as well
	for i, part := range parts {
		apart := u.addPart("Reshape", part, u.constIntList(0, 0, count, sizes[i]/count))
		parts[i] = u.addPartWith("Transpose", []string{apart}, graph.Ints("perm", perms[i]...))
	}
	scale := float64(u.n.Float("scale", 0))
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(sizes[0]/count))
	}
	scores := u.addPart("Mul", u.addPart("MatMul", parts[0], parts[1]), u.constNumber(scale))
	mixed := u.addPart("MatMul", u.addPartWith("Softmax", []string{scores}, graph.Int("axis", -1)), parts[2])
	back := u.addPartWith("Transpose", []string{mixed}, graph.Ints("perm", 0, 2, 1, 3))
	u.addLastPart("", "Reshape", []string{back, u.constIntList(0, 0, sizes[2])})
}

// untieIdentities gives every Identity of an initializer its own initializer. Exporters merge equal constants, as in a
// freshly initialised network, and add Identity nodes to the remaining one. Trained like that, all biases would
// be one, and the statistics would change with them. A weight that is shared on purpose is read by several
// nodes without Identity, and stays shared.
func untieIdentities(m *graph.Model) *graph.Model {
	made := map[string]*graph.Tensor{}
	for _, t := range m.Graph.Initializers {
		made[t.Name] = t
	}
	results := map[string]bool{}
	for _, v := range m.Graph.Outputs {
		results[v.Name] = true
	}
	c, g := *m, *m.Graph
	c.Graph = &g
	g.Nodes, g.Initializers = nil, slices.Clone(g.Initializers)
	for _, n := range m.Graph.Nodes {
		if n.Op != "Identity" || !graph.IsONNX(n.Domain) || len(n.Inputs) != 1 || len(n.Outputs) != 1 ||
			made[n.Inputs[0]] == nil || results[n.Outputs[0]] {
			g.Nodes = append(g.Nodes, n)
			continue
		}
		t := *made[n.Inputs[0]]
		t.Name = n.Outputs[0]
		made[t.Name] = &t
		g.Initializers = append(g.Initializers, &t)
		if m.IRVersion < 4 {
			g.Inputs = append(slices.Clip(g.Inputs),
				&graph.ValueInfo{Name: t.Name, Type: t.Type, Shape: graph.ShapeOf(t.Dims...)})
		}
	}
	return &c
}
