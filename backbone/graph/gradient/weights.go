package gradient

import (
	"math"
	"slices"

	"winnow/backbone/graph"
)

// Weight is a constant of a model that training may change.
type Weight struct {
	Name  string // of the initializer (or of a Constant node's output)
	Node  string // name of the first node that uses the weight, or the name of that node's output
	Op    string // operator of that node
	Input int    // index among that node's inputs
	Dims  []int64
	Depth int // index of that node in the model
}

// Size returns the number of elements.
func (w Weight) Size() int64 {
	n := int64(1)
	for _, d := range w.Dims {
		n *= d
	}
	return n
}

// roles lists the inputs of each operator that are weights if they are constant. Means and variances of
// BatchNormalization are not weights but state.
var roles = map[string][]int{
	"Conv": {1, 2}, "Gemm": {0, 1, 2}, "MatMul": {0, 1}, "PRelu": {1},
	"BatchNormalization": {1, 2}, "LayerNormalization": {1, 2}, "InstanceNormalization": {1, 2},
	"GroupNormalization": {1, 2}, "RMSNormalization": {1},
}

// mixers lists the operators whose constants of more than one element are weights after the first layer: position
// embeddings, class tokens, scales of layers, expanded normalisations. Before the first layer such constants normalise
// the input.
var mixers = map[string]bool{"Add": true, "Sub": true, "Mul": true, "Div": true, "Concat": true}

// carriers lists the operators that rearrange or repeat a constant, their first input, which remains the same weight.
var carriers = map[string]bool{
	"Identity": true, "Transpose": true, "Reshape": true, "Flatten": true, "Squeeze": true, "Unsqueeze": true,
	"Cast": true, "Expand": true, "Tile": true, "Slice": true, "Gather": true, "Dropout": true, "Split": true,
}

// Weights lists the trainable weights that contribute to an output ("": any output), in the order of their first use:
//
//   - weights and biases of convolutions and products, scales and biases of normalisations, slopes of PRelu;
//   - floating-point constants of more than one element that are combined, by addition, multiplication or
//     concatenation, with a tensor that depends on one of these, except attention masks (constants with -∞, or of 0
//     and one number below -50).
//
// A weight may reach its node through operators that rearrange or repeat it. Weights excludes a constant that is also
// the mean or variance of a BatchNormalization, because exporters merge equal constants (see [Plain]), and a constant
// that the network resizes.
func Weights(m *graph.Model, output string) []Weight {
	w := &weighing{m: m, constant: m.Graph.Constants(), origin: map[string]string{}, behind: map[string]bool{},
		found: map[string]bool{}}
	w.reachBack(output)
	for i, n := range m.Graph.Nodes {
		w.visitNode(i, n)
	}
	return slices.DeleteFunc(w.list, func(found Weight) bool { return w.state[found.Name] })
}

// weighing is the state of one search for weights.
type weighing struct {
	m        *graph.Model
	constant map[string]*graph.Tensor
	origin   map[string]string // tensor → the constant that it is derived from
	behind   map[string]bool   // tensors that depend on an operator with weights
	reaches  map[string]bool   // tensors that receive a gradient
	state    map[string]bool   // constants that are running statistics, or that are resized
	found    map[string]bool
	list     []Weight
}

// reachBack marks the tensors that receive a gradient from the output.
func (w *weighing) reachBack(output string) {
	w.reaches, w.state = map[string]bool{output: true}, map[string]bool{}
	if output == "" {
		for _, v := range w.m.Graph.Outputs {
			w.reaches[v.Name] = true
		}
	}
	for _, n := range slices.Backward(w.m.Graph.Nodes) {
		if !isBlind(n) && slices.ContainsFunc(n.Outputs, func(out string) bool { return out != "" && w.reaches[out] }) {
			for _, in := range n.Inputs {
				w.reaches[in] = true
			}
		}
	}
	delete(w.reaches, "") // "" is an omitted optional input
}

// visitNode records the weights of one node.
func (w *weighing) visitNode(at int, n *graph.Node) {
	if !graph.IsONNX(n.Domain) || len(n.Outputs) == 0 || !slices.ContainsFunc(n.Outputs, func(out string) bool {
		return w.reaches[out]
	}) {
		w.followLayer(n, false)
		return
	}
	if name := w.carriedConstant(n.Inputs, 0); carriers[n.Op] && name != "" {
		for _, out := range n.Outputs {
			w.origin[out] = name
		}
		return
	}
	layer := false
	for _, i := range roles[n.Op] {
		if name := w.carriedConstant(n.Inputs, i); name != "" {
			layer = true
			w.takeWeight(name, at, n, i)
		}
	}
	if n.Op == "Resize" { // position embeddings that the network resizes are not trained
		w.state[w.carriedConstant(n.Inputs, 0)] = true
	}
	if n.Op == "BatchNormalization" {
		for i := 3; i < 5; i++ {
			w.state[w.carriedConstant(n.Inputs, i)] = true
		}
	}
	if mixers[n.Op] && slices.ContainsFunc(n.Inputs, func(in string) bool { return w.behind[in] }) {
		for i := range n.Inputs {
			if name := w.carriedConstant(n.Inputs, i); name != "" && !isSingle(w.constant[name]) &&
				!isMask(w.constant[name]) {
				w.takeWeight(name, at, n, i)
			}
		}
	}
	w.followLayer(n, layer)
}

// followLayer marks a node's outputs as depending on a layer, if the node is a layer or reads such a tensor.
func (w *weighing) followLayer(n *graph.Node, layer bool) {
	if layer || slices.ContainsFunc(n.Inputs, func(in string) bool { return w.behind[in] }) {
		for _, out := range n.Outputs {
			w.behind[out] = true
		}
	}
}

// carriedConstant returns the floating-point constant from which the i-th input is derived, or "".
func (w *weighing) carriedConstant(inputs []string, i int) string {
	if i >= len(inputs) || inputs[i] == "" {
		return ""
	}
	name := inputs[i]
	if carried := w.origin[name]; carried != "" {
		return carried
	}
	if t := w.constant[name]; t != nil && t.Type.Floating() {
		return name
	}
	return ""
}

// takeWeight adds a weight unless it has been added before.
func (w *weighing) takeWeight(name string, at int, n *graph.Node, input int) {
	if w.found[name] {
		return
	}
	w.found[name] = true
	node := n.Name
	if node == "" {
		node = n.Outputs[0]
	}
	w.list = append(w.list, Weight{Name: name, Node: node, Op: n.Op, Input: input,
		Dims: slices.Clone(w.constant[name].Dims), Depth: at})
}

func isSingle(t *graph.Tensor) bool {
	n, err := t.Size()
	return err != nil || n <= 1
}

// isMask reports whether a constant is a mask and not a weight: it contains -∞, or only 0 and one number below -50.
func isMask(t *graph.Tensor) bool {
	list, err := t.Float32s()
	if err != nil {
		return false
	}
	low := float32(0)
	for _, v := range list {
		if math.IsInf(float64(v), -1) {
			return true
		}
		low = min(low, v)
	}
	return low < -50 && !slices.ContainsFunc(list, func(v float32) bool { return v != 0 && v != low })
}
