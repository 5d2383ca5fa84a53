package graph

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A vision transformer makes tokens [N,T,C]: for each picture a class token (and registers, in DINOv2 with
// registers), then one token for each of its P patches. The features of such a network have their own names,
// which can be used instead of a tensor's name unless a tensor of the graph has that name:
//
//	cls      token 0 of the last tokens; there must be more tokens than patches
//	mean     the mean of the last P tokens, (1/P) Σ_{t ≥ T-P} x_t: the patches without class token and registers
//	pooled   the vector that the network itself makes of its tokens: its output whose name begins with "pool"
//	         or "image_embed", or what its classifier decides by
//
// Sources: Dosovitskiy et al., An image is worth 16×16 words, ICLR 2021, eq. 1 and 4 (class token); Darcet et
// al., Vision transformers need registers, ICLR 2024, section 2.2.
const (
	ClassToken   = "cls"
	MeanOfTokens = "mean"
	PooledTokens = "pooled"
)

// tokenNames lists the names in display order.
var tokenNames = []string{ClassToken, MeanOfTokens, PooledTokens}

// Choice is a feature with a name that is not a tensor's.
type Choice struct {
	Name   string // cls, mean or pooled
	Tensor string // the tensor that it is made of
	Dim    int    // 0: only known at run time
}

// Choices lists the named features of a vision transformer, and none for other networks.
func Choices(m *Model) []Choice {
	var list []Choice
	if _, ok := findTokens(m, inferModel(m)); !ok {
		return nil
	}
	for _, name := range tokenNames {
		if !IsChoice(m, name) {
			continue
		}
		at, err := findChosen(m, name)
		if err != nil {
			continue
		}
		if _, _, dim, err := Vector(m, name); err == nil {
			list = append(list, Choice{name, at, dim})
		}
	}
	return list
}

// IsChoice reports whether a name is in [Choices] and no tensor of the graph has it.
func IsChoice(m *Model, name string) bool {
	return slices.Contains(tokenNames, name) && m.Graph.Producers()[name] == nil
}

// findChosen returns the tensor from which a named feature is made.
func findChosen(m *Model, name string) (string, error) {
	facts := inferModel(m)
	if name == PooledTokens {
		return pooledTensor(m, facts)
	}
	at, ok := findTokens(m, facts)
	if !ok {
		return "", fmt.Errorf("graph: %q: found no tokens [N,T,C] behind %s, expected a vision transformer: %s",
			name, joinNames(m.Graph.Outputs), m.Graph.suggestTensors(""))
	}
	return at, nil
}

// pooledTensor returns the vector that the network itself makes of its tokens.
func pooledTensor(m *Model, facts map[string]fact) (string, error) {
	for _, prefix := range []string{"pool", "image_embed"} {
		if out, ok := namedOutput(m, facts, prefix); ok {
			return out, nil
		}
	}
	f, err := FeatureTensor(m)
	if err == nil && len(facts[f.Tensor].shape) == 2 {
		return f.Tensor, nil
	}
	return "", fmt.Errorf("graph: %q: found no output [N,C] that begins with \"pool\" and no classifier behind a "+
		"vector among %s, expected one: %s",
		PooledTokens, joinNames(m.Graph.Outputs), m.Graph.suggestTensors(""))
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

// findTokens finds the last tokens of a vision transformer: an output [N,T,C], or the nearest such tensor before
// the network's vector, skipping normalisations of the vector. T > 1 if it is known.
func findTokens(m *Model, facts map[string]fact) (string, bool) {
	g := m.Graph
	makers := g.Producers()
	is := func(name string, width Dim) bool {
		f := facts[name]
		return makers[name] != nil && f.typ.Floating() && len(f.shape) == 3 && f.shape[2] != Fixed(1) &&
			f.shape[1] != Fixed(1) && !otherCount(m, f.shape[0]) && (f.shape[2] == width || !width.Known())
	}
	for _, out := range g.Outputs {
		if is(out.Name, Free("")) {
			return out.Name, true
		}
	}
	vector, err := pooledTensor(m, facts)
	if err != nil {
		return "", false
	}
	if n := makers[vector]; n != nil && n.hasOp("MatMul", "Gemm") && len(facts[n.Input(0)].shape) == 2 {
		vector = n.Input(0) // before a projection to another width
	}
	width := facts[vector].shape[1]
	queue, seen := []string{vector}, map[string]bool{}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		if n := makers[name]; n != nil && !seen[name] {
			seen[name] = true
			if is(name, width) && !n.hasOp("Slice") { // a slice of the tokens drops the class token
				return name, true
			}
			if len(facts[name].shape) <= 3 { // the maps of a convolution end the path
				queue = append(queue, n.Inputs...)
			}
		}
	}
	return "", false
}

// countPatches returns how many patches the first convolution cuts a picture into, with adjacent windows, or 0 if
// unknown.
func countPatches(m *Model, facts map[string]fact) int64 {
	at := slices.IndexFunc(m.Graph.Nodes, func(n *Node) bool { return n.hasOp("Conv") })
	if at < 0 {
		return 0
	}
	n := m.Graph.Nodes[at]
	filters, maps, strides := facts[n.Input(1)].shape, facts[n.Outputs[0]].shape, n.Ints("strides")
	if len(filters) != 4 || len(maps) != 4 || len(strides) != 2 || strides[0] < 2 ||
		filters[2] != Fixed(strides[0]) || filters[3] != Fixed(strides[1]) || !maps[2].Known() || !maps[3].Known() {
		return 0
	}
	return maps[2].Size * maps[3].Size
}

// tokenVector cuts a model at its tokens and makes the class token, or the mean of the patches, its only
// output.
func tokenVector(m *Model, name string) (*Model, string, error) {
	at, err := findChosen(m, name)
	if err != nil {
		return nil, "", err
	}
	cut, err := Cut(m, at)
	if err != nil || name == PooledTokens {
		return cut, at, err
	}
	facts := inferModel(m)
	n, all := countPatches(m, facts), facts[at].shape[1]
	b := Extend(cut)
	output := b.Fresh("features")
	switch {
	case name == ClassToken && n > 0 && all.Known() && all.Size <= n:
		return nil, "", fmt.Errorf("graph: %q: found %d tokens in %q for %d patches, expected a class token before "+
			"them: ask for %s or %s",
			name, all.Size, at, n, MeanOfTokens, PooledTokens)
	case name == ClassToken:
		b.NodeTo(output, "Gather", []string{at, b.Constant(NewTensor("first_token", []int64{0}))}, Int("axis", 1))
	case n == 0:
		return nil, "", fmt.Errorf("graph: %q: found no convolution that cuts the picture into a known number of "+
			"patches, which is needed to tell patches from other tokens: ask for %s or %s", name, ClassToken,
			PooledTokens)
	case all.Known() && all.Size < n:
		return nil, "", fmt.Errorf("graph: %q: found %d tokens in %q for %d patches, expected one for each: ask for %s",
			name, all.Size, at, n, PooledTokens)
	default:
		b.meanOfLast(output, at, n)
	}
	b.SetOutputs(output)
	return b.Model(), output, nil
}

// meanOfLast averages the last n entries of a tensor's axis 1, in the form that the model's operator set
// requires.
func (b *Builder) meanOfLast(output, tensor string, n int64) {
	axis := func(name string, v int64) string { return b.Constant(NewTensor(name, []int64{v}, 1)) }
	var last string
	if b.Opset() < 10 {
		last = b.Node("Slice", []string{tensor}, Ints("axes", 1), Ints("starts", -n), Ints("ends", math.MaxInt64))
	} else {
		last = b.Node("Slice", []string{tensor, axis("first_patch", -n), axis("end", math.MaxInt64),
			axis("tokens_axis", 1)})
	}
	if b.Opset() < 18 {
		b.NodeTo(output, "ReduceMean", []string{last}, Ints("axes", 1), Int("keepdims", 0))
		return
	}
	b.NodeTo(output, "ReduceMean", []string{last, axis("mean_axis", 1)}, Int("keepdims", 0))
}
