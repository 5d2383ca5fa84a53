package ort

import (
	"fmt"
	"slices"
	"strings"

	"winnow/backbone/graph"
)

// Info describes one input or output of a model.
type Info struct {
	Name  string
	Type  ElementType
	Shape []int64 // -1: a free size; nil: unknown rank; empty: a scalar
}

// parseSignature returns a model's inputs (without initializers) and outputs as the file declares them.
func parseSignature(model []byte) (in, out []Info, err error) {
	m, err := graph.Read(model)
	if err != nil {
		return nil, nil, err
	}
	read := func(list []*graph.ValueInfo) (infos []Info) {
		for _, v := range list {
			info := Info{Name: v.Name, Type: ElementType(v.Type)}
			if v.Shape != nil {
				info.Shape = make([]int64, len(v.Shape))
			}
			for i, d := range v.Shape {
				if info.Shape[i] = d.Size; d.Size == 0 {
					info.Shape[i] = -1
				}
			}
			infos = append(infos, info)
		}
		return infos
	}
	in, out = read(m.Graph.DataInputs()), read(m.Graph.Outputs)
	if len(in) == 0 || len(out) == 0 {
		return nil, nil, fmt.Errorf("found %d inputs and %d outputs, expected at least one of each", len(in), len(out))
	}
	if at := slices.IndexFunc(out, func(o Info) bool { return o.Type == 0 }); at >= 0 {
		return nil, nil, fmt.Errorf("output %q: found no type", out[at].Name)
	}
	return in, out, nil
}

// String formats the info for messages: "x" float32 [?,3,224,224].
func (i Info) String() string { return fmt.Sprintf("%q %v %s", i.Name, i.Type, shapeText(i.Shape)) }

// shapeText formats a shape, with ? for a free size.
func shapeText(shape []int64) string {
	sizes := make([]string, len(shape))
	for i, d := range shape {
		if sizes[i] = "?"; d >= 0 {
			sizes[i] = fmt.Sprint(d)
		}
	}
	return "[" + strings.Join(sizes, ",") + "]"
}

// gemmModel returns an ONNX model of one node, Y = op(A)·op(B); op is the identity or the transpose. All sizes are
// free, so that one session computes products of all sizes.
func gemmModel(t ElementType, transA, transB bool) []byte {
	b := graph.NewBuilder("gemm", 17)
	free := func(rows, cols string) graph.Shape { return graph.Shape{graph.Free(rows), graph.Free(cols)} }
	flag := map[bool]int64{true: 1}
	b.NodeTo("Y", "Gemm", []string{b.Input("A", graph.DataType(t), free("a0", "a1")),
		b.Input("B", graph.DataType(t), free("b0", "b1"))}, graph.Int("transA", flag[transA]),
		graph.Int("transB", flag[transB]))
	m := b.Model()
	m.Graph.Outputs = []*graph.ValueInfo{{Name: "Y", Type: graph.DataType(t), Shape: free("m", "n")}}
	return m.Marshal()
}
