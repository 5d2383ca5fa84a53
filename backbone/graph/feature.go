package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Feature is the location of a model's feature vector.
type Feature struct {
	Tensor string // where to cut
	Why    string // for people: "input of the last Gemm \"fc\""
}

// FeatureTensor finds the tensor from which a classifier decides.
//
//   - An output called "features" is that tensor, or one of rank 2 whose name begins with "image_embed", as in
//     exports of CLIP: there the last product is no classifier but the projection that images are compared by.
//   - Otherwise it follows the path back from each output in turn, through nodes that only rearrange or scale
//     (softmax, reshape, flatten, dropout, bias, …), to the classifier: the last Gemm, or the last MatMul by a
//     constant. The input of the classifier is the tensor.
//   - SqueezeNet classifies with a 1×1 convolution whose maps are averaged afterwards. A 1×1 Conv under such a
//     global average is taken as the classifier if a softmax follows, or if its number of maps is not a
//     multiple of 16: numbers of classes usually are not (10, 100, 1000), those of layers are. Its input is
//     the tensor, still with height and width, which [Vector] averages.
//   - Without a classifier, a single output of rank 2 is itself the feature vector, or one of several outputs
//     whose name begins with "pool", as in vision transformers.
//
// Anything else is an error that names the flag to use.
func FeatureTensor(m *Model) (Feature, error) {
	g := m.Graph
	if findValueInfo(g.Outputs, "features") != nil && g.Producers()["features"] != nil {
		return Feature{"features", `output "features"`}, nil
	}
	facts := inferModel(m)
	if out, ok := namedOutput(m, facts, "image_embed"); ok {
		return Feature{out, fmt.Sprintf("output %q", out)}, nil
	}
	w := walk{makers: g.Producers(), constants: g.byName(), facts: facts}
	for _, out := range g.Outputs {
		if f, ok := w.walkBack(out.Name); ok {
			return f, nil
		}
	}
	if len(g.Outputs) == 1 {
		out := g.Outputs[0].Name
		shape := facts[out].shape
		if len(shape) == 2 && shape[1].Known() && shape[1].Size <= answers {
			if before := listCandidates(m, facts, "", 1); len(before) == 1 {
				return Feature{}, fmt.Errorf("graph: output %q has %d numbers for each image, an answer, expected "+
					"features: take the tensor before it as the output, %v", out, shape[1].Size, before[0])
			}
		}
		if len(shape) == 2 && w.makers[out] != nil {
			return Feature{out, fmt.Sprintf("output %q, a vector with no classifier before it", out)}, nil
		}
	}
	if out, ok := namedOutput(m, facts, "pool"); ok {
		return Feature{out, fmt.Sprintf("output %q", out)}, nil
	}
	choices := ""
	if slices.ContainsFunc(g.Outputs, func(v *ValueInfo) bool { return len(facts[v.Name].shape) == 3 }) {
		choices = fmt.Sprintf("%s, %s or a tensor, ", ClassToken, MeanOfTokens)
	}
	return Feature{}, fmt.Errorf("graph: found no classifier (Gemm, MatMul, or 1×1 Conv under a global average) on "+
		"the way to %s, "+
		"expected one: name the feature tensor with --output: %s%s", joinNames(g.Outputs), choices,
		g.suggestTensors(""))
}

// answers is the most numbers of an output that says something about an image, as a score or a place, instead of
// describing it.
const answers = 3

func joinNames(list []*ValueInfo) string {
	quoted := make([]string, len(list))
	for i, v := range list {
		quoted[i] = strconv.Quote(v.Name)
	}
	return strings.Join(quoted, ", ")
}

// walk is the path back from an output.
type walk struct {
	makers    map[string]*Node
	constants map[string]*Tensor
	facts     map[string]fact
}

// through are the operators that may follow a classifier; Add and Mul only with a constant.
var through = []string{"Softmax", "LogSoftmax", "Sigmoid", "Reshape", "Flatten", "Dropout", "Identity", "Squeeze",
	"Unsqueeze", "Cast", "Transpose", "Gather", "Slice", "ArgMax", "TopK", "QuantizeLinear", "DequantizeLinear"}

// walkBack follows a tensor back to the classifier it comes from.
func (w *walk) walkBack(tensor string) (Feature, bool) {
	softmax, averaged := false, false
	for range len(w.makers) + 1 { // ends even if names form a cycle
		n := w.makers[tensor]
		if n == nil {
			return Feature{}, false
		}
		switch {
		case n.hasOp("Gemm") || n.ruleKey() == microsoft+"QGemm":
			return Feature{
				w.inputBeforeDropout(n, 0),
				fmt.Sprintf("input of the last %s, %q", n.Op, n.Outputs[0]),
			}, true
		case n.hasOp("MatMul", "QLinearMatMul", "MatMulInteger") && w.isConstant(n.Input(weightsAt(n))):
			return Feature{
				w.inputBeforeDropout(n, 0),
				fmt.Sprintf("input of the last %s, %q", n.Op, n.Outputs[0]),
			}, true
		case n.hasOp("Mul") && w.isScale(n): // of a dynamically quantised product
		case n.hasOp("Conv", "QLinearConv"):
			if !w.isClassifier(n, softmax, averaged) {
				return Feature{}, false
			}
			return Feature{
				w.inputBeforeDropout(n, 0),
				fmt.Sprintf("input of the 1×1 Conv that classifies, %q", n.Outputs[0]),
			}, true
		case !averaged && (n.hasOp("GlobalAveragePool", "AveragePool", "ReduceMean") ||
			n.ruleKey() == microsoft+"QLinearGlobalAveragePool"):
			averaged = true
		case n.hasOp("Relu") && averaged:
		case n.hasOp("Add", "Mul", "Sub", "Div") && w.isConstant(n.Input(1)):
		case n.hasOp("Add", "Mul") && w.isConstant(n.Input(0)):
			tensor = n.Input(1)
			continue
		case n.hasOp(through...):
			softmax = softmax || n.hasOp("Softmax", "LogSoftmax")
		default:
			return Feature{}, false
		}
		tensor = n.Input(0)
	}
	return Feature{}, false
}

// isClassifier reports whether a convolution is a classifier (see [FeatureTensor]).
func (w *walk) isClassifier(n *Node, softmax, averaged bool) bool {
	filters := w.facts[n.Input(weightsAt(n))].shape
	if len(filters) != 4 || filters[2] != Fixed(1) || filters[3] != Fixed(1) || n.Int("group", 1) != 1 {
		return false
	}
	// A convolution of a 1×1 map is a matrix product, after an average or without one.
	x := w.facts[n.Input(0)].shape
	if len(x) == 4 && x[2] == Fixed(1) && x[3] == Fixed(1) {
		return softmax || filters[0].Size%16 != 0
	}
	return averaged && (softmax || filters[0].Size%16 != 0)
}

// isConstant reports whether a tensor is known before the model runs.
func (w *walk) isConstant(name string) bool {
	for range len(w.makers) + 1 {
		if w.constants[name] != nil {
			return true
		}
		n := w.makers[name]
		if n == nil || !n.hasOp("Constant", "Identity", "Transpose", "Reshape", "Cast", "DequantizeLinear",
			"QuantizeLinear") {
			return false
		}
		if n.hasOp("Constant") {
			return true
		}
		name = n.Input(0)
	}
	return false
}

// weightsAt returns which of a node's inputs is its weights.
func weightsAt(n *Node) int {
	if at := quantisedInputs[n.ruleKey()].weights; at > 0 {
		return at
	}
	return 1
}

// isScale reports whether a Mul gives the integers of a MatMulInteger their scale.
func (w *walk) isScale(n *Node) bool {
	c := w.makers[n.Input(0)]
	if c == nil || !c.hasOp("Cast") {
		return false
	}
	product := w.makers[c.Input(0)]
	return product != nil && product.hasOp("MatMulInteger")
}

// inputBeforeDropout returns a node's input before any dropout, which does nothing in a trained model, and before it
// was quantised.
func (w *walk) inputBeforeDropout(n *Node, i int) string {
	name := n.Input(i)
	for range len(w.makers) {
		d := w.makers[name]
		if d == nil || !d.hasOp("Dropout", "Identity", "DynamicQuantizeLinear") {
			break
		}
		name = d.Input(0)
	}
	return name
}

// Vector cuts a model at a tensor and turns the tensor into one vector per image, depending on its shape:
//
//	[N,D]        unchanged
//	[N,C,1,1]    flattened
//	[N,C,H,W]    averaged over height and width, flattened
//	[N,T,C]      the first of T tokens, the class token of a vision transformer
//
// Elements of 16 bits and quantised ones become float32. A name in [Choices] selects both the tensor and what is made
// of it. Vector returns the cut model, the name of
// its only output, and the vector's length, or 0 if that is only known at run time. A tensor of unknown shape
// is left unchanged.
func Vector(m *Model, tensor string) (cut *Model, output string, dim int, err error) {
	if IsChoice(m, tensor) {
		cut, tensor, err = tokenVector(m, tensor)
	} else {
		cut, err = Cut(m, tensor)
	}
	if err != nil {
		return nil, "", 0, err
	}
	shape, kind := cut.Graph.Outputs[0].Shape, cut.Graph.Outputs[0].Type
	b := Extend(cut)
	tensor = b.asFloat32(tensor, kind)
	output = tensor
	switch len(shape) {
	case 2:
	case 3:
		first := b.Constant(NewTensor("first_token", []int64{0}))
		output = b.NodeTo(b.Fresh("features"), "Gather", []string{tensor, first}, Int("axis", 1))
	case 4:
		if shape[2] != Fixed(1) || shape[3] != Fixed(1) {
			tensor = b.Node("GlobalAveragePool", []string{tensor})
		}
		output = b.NodeTo(b.Fresh("features"), "Flatten", []string{tensor}, Int("axis", 1))
	default:
		if shape == nil {
			b.SetOutputs(tensor)
			return b.Model(), tensor, 0, nil
		}
		return nil, "", 0, fmt.Errorf("graph: tensor %q: found shape %v, expected one vector an image: [N,D], "+
			"[N,C,H,W] or [N,T,C]", tensor, shape)
	}
	if was := cut.Graph.Outputs[0]; was.Name != output { // what is stated about it may be all that is known
		b.m.Graph.ValueInfo = append(b.m.Graph.ValueInfo, was)
	}
	b.SetOutputs(output)
	cut = b.Model()
	shape = cut.Graph.Outputs[0].Shape
	if len(shape) == 2 && shape[1].Known() {
		dim = int(shape[1].Size)
	}
	return cut, output, dim, nil
}

// Candidates lists tensors that could serve as features, with their shapes, from the output backwards: those of
// rank 2 to 4 in floating point that come from a pooling, flattening, product or the end of a block; at most
// limit.
func Candidates(m *Model, limit int) []*ValueInfo {
	facts := inferModel(m)
	last, _ := findTokens(m, facts)
	return listCandidates(m, facts, last, limit)
}

// listCandidates is Candidates if the last tokens of a vision transformer are known; "": there are none.
func listCandidates(m *Model, facts map[string]fact, last string, limit int) []*ValueInfo {
	var list []*ValueInfo
	for _, n := range slices.Backward(m.Graph.Nodes) {
		if len(list) >= limit || len(n.Outputs) == 0 || n.Outputs[0] == "" {
			continue
		}
		f := facts[n.Outputs[0]]
		single := n.hasOp("Flatten", "GlobalAveragePool", "GlobalMaxPool", "Gemm", "MatMul", "ReduceMean", "Gather",
			"Reshape", "Squeeze")
		joined := n.hasOp("Concat", "Add") && len(f.shape) == 4
		if len(f.shape) == 4 && n.hasOp("MatMul", "Reshape", "Gather") { // inside an attention block
			single = false
		}
		if len(f.shape) == 3 { // tokens: only at the ends of blocks, and those that features are made of
			single = n.Outputs[0] == last || n.hasOp("Add") && len(facts[n.Input(0)].shape) == 3 &&
				len(facts[n.Input(1)].shape) == 3
		}
		if len(f.shape) > 0 && otherCount(m, f.shape[0]) {
			continue
		}
		if (single && len(f.shape) >= 2 && len(f.shape) <= 4 || joined) && f.typ.Floating() &&
			m.canServe(n.Outputs[0]) {
			list = append(list, &ValueInfo{Name: n.Outputs[0], Type: f.typ, Shape: f.shape})
		}
	}
	return list
}

// canServe reports whether a tensor can be made into one vector an image, longer than an answer.
func (m *Model) canServe(tensor string) bool {
	_, _, dim, err := Vector(m, tensor)
	return err == nil && (dim == 0 || dim > answers)
}

// otherCount reports whether a size is certainly not the number of images in a batch.
func otherCount(m *Model, d Dim) bool {
	inputs := m.Graph.DataInputs()
	if len(inputs) != 1 || len(inputs[0].Shape) == 0 {
		return false
	}
	n := inputs[0].Shape[0]
	told := func(d Dim) bool { return d.Known() || d.Name != "" }
	return told(d) && told(n) && !d.isSameSize(n)
}
