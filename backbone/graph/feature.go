package graph

import (
	"fmt"
	"strconv"
	"strings"
)

// Feature identifies the tensor that holds a model's feature vector.
type Feature struct {
	Tensor string // name of the tensor at which to cut the model
	Why    string // reason for users, such as: input of the last Gemm "fc"
}

// FeatureTensor finds the tensor that a classifier reads, or that otherwise holds the features.
//
//   - An output called "features" is that tensor. So is an output of rank 2 whose name begins with "image_embed", as
//     in exports of CLIP, where the last product is not a classifier but a projection for comparing images.
//   - Otherwise FeatureTensor goes back from each output in turn, through nodes that only rearrange or rescale values
//     (softmax, reshape, flatten, dropout, bias, …), to the classifier: the last Gemm, or the last MatMul by a
//     constant. The tensor is the classifier's input.
//   - SqueezeNet classifies with a 1×1 convolution followed by averaging its maps. A 1×1 Conv before a global average
//     is the classifier if a softmax follows, or if its number of maps is not a multiple of 16, because numbers of
//     classes usually are not (10, 100, 1000), but sizes of layers are. The tensor is the Conv's input, which still
//     has height and width; [Vector] averages over them.
//   - Without a classifier, a single output of rank 2 is the feature vector; of several outputs, one whose name begins
//     with "pool", as in vision transformers.
//
// In all other cases FeatureTensor returns an error that names the flag to use.
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
		switch shape := facts[out].shape; {
		case len(shape) == 2 && shape[1].Known() && shape[1].Size <= answers:
			return Feature{}, fmt.Errorf("graph: output %q has only %d numbers per image, expected "+
				"features: name an earlier tensor with --output: %s", out, shape[1].Size, g.suggestTensors(""))
		case len(shape) == 2 && w.makers[out] != nil:
			return Feature{out, fmt.Sprintf("output %q, a vector with no classifier before it", out)}, nil
		}
	}
	if out, ok := namedOutput(m, facts, "pool"); ok {
		return Feature{out, fmt.Sprintf("output %q", out)}, nil
	}
	return Feature{}, fmt.Errorf("graph: found no classifier (Gemm, MatMul, or 1×1 Conv under a global average) "+
		"before %s, expected one: name the feature tensor with --output (for tokens [N,T,C] the first is used): %s",
		joinNames(g.Outputs), g.suggestTensors(""))
}

// answers is the largest length of an output that is a result, such as a score or a position, instead of features.
const answers = 3

func joinNames(list []*ValueInfo) string {
	quoted := make([]string, len(list))
	for i, v := range list {
		quoted[i] = strconv.Quote(v.Name)
	}
	return strings.Join(quoted, ", ")
}

// walk goes back from an output to the nodes that compute it.
type walk struct {
	makers    map[string]*Node
	constants map[string]*Tensor
	facts     map[string]fact
}

// through lists the operators that may follow a classifier; Add and Mul may if they have a constant operand.
var through = []string{"Softmax", "LogSoftmax", "Sigmoid", "Reshape", "Flatten", "Dropout", "Identity", "Squeeze",
	"Unsqueeze", "Cast", "Transpose", "Gather", "Slice", "ArgMax", "TopK"}

// walkBack goes back from a tensor to the classifier that computes it.
func (w *walk) walkBack(tensor string) (Feature, bool) {
	softmax, averaged := false, false
	for range len(w.makers) + 1 { // ends even if names form a cycle
		n := w.makers[tensor]
		if n == nil {
			return Feature{}, false
		}
		switch {
		case n.hasOp("Gemm"), n.hasOp("MatMul") && w.isConstant(n.Input(1)):
			return Feature{
				w.inputBeforeDropout(n, 0),
				fmt.Sprintf("input of the last %s, %q", n.Op, n.Outputs[0]),
			}, true
		case n.hasOp("Conv"):
			if !w.isClassifier(n, softmax, averaged) {
				return Feature{}, false
			}
			return Feature{
				w.inputBeforeDropout(n, 0),
				fmt.Sprintf("input of the classifying 1×1 Conv, %q", n.Outputs[0]),
			}, true
		case !averaged && n.hasOp("GlobalAveragePool", "AveragePool", "ReduceMean"):
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
	filters := w.facts[n.Input(1)].shape
	if len(filters) != 4 || filters[2] != Fixed(1) || filters[3] != Fixed(1) || n.Int("group", 1) != 1 {
		return false
	}
	// A convolution of a 1×1 map is a matrix product, whether or not an average precedes it.
	x := w.facts[n.Input(0)].shape
	if len(x) == 4 && x[2] == Fixed(1) && x[3] == Fixed(1) {
		return softmax || filters[0].Size%16 != 0
	}
	return averaged && (softmax || filters[0].Size%16 != 0)
}

// isConstant reports whether a tensor's values are known before the model runs.
func (w *walk) isConstant(name string) bool {
	for range len(w.makers) + 1 {
		if w.constants[name] != nil {
			return true
		}
		n := w.makers[name]
		if n == nil || !n.hasOp("Constant", "Identity", "Transpose", "Reshape", "Cast") {
			return false
		}
		if n.hasOp("Constant") {
			return true
		}
		name = n.Input(0)
	}
	return false
}

// inputBeforeDropout returns a node's i-th input, or the input of the dropout before it: dropout only acts in training.
func (w *walk) inputBeforeDropout(n *Node, i int) string {
	name := n.Input(i)
	for range len(w.makers) {
		d := w.makers[name]
		if d == nil || !d.hasOp("Dropout", "Identity") {
			break
		}
		name = d.Input(0)
	}
	return name
}

// Vector cuts a model at a tensor and converts the tensor to one vector per image, depending on its shape:
//
//	[N,D]        unchanged
//	[N,C,1,1]    flattened
//	[N,C,H,W]    averaged over height and width, flattened
//	[N,T,C]      the first of T tokens, the class token of a vision transformer
//
// Elements of 16 or 64 bits become float32. Vector returns the cut model, the name of its only output, and the
// vector's length, or 0 if the length is known only at run time. A tensor of unknown shape is not converted.
func Vector(m *Model, tensor string) (cut *Model, output string, dim int, err error) {
	if cut, err = Cut(m, tensor); err != nil {
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
		return nil, "", 0, fmt.Errorf("graph: tensor %q: found shape %v, expected one vector per image: [N,D], "+
			"[N,C,H,W] or [N,T,C]", tensor, shape)
	}
	if was := cut.Graph.Outputs[0]; was.Name != output { // the declared type and shape may be the only known ones
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

// namedOutput returns the output of rank 2 whose name begins with prefix.
func namedOutput(m *Model, facts map[string]fact, prefix string) (string, bool) {
	for _, out := range m.Graph.Outputs {
		if strings.HasPrefix(strings.ToLower(out.Name), prefix) && len(facts[out.Name].shape) == 2 &&
			m.Graph.Producers()[out.Name] != nil {
			return out.Name, true
		}
	}
	return "", false
}
