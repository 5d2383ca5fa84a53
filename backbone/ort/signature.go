package ort

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	ortgo "github.com/yalue/onnxruntime_go"

	"winnow/backbone/graph"
)

// Info describes one input or output of a model.
type Info struct {
	Name  string
	Type  ElementType
	Shape []int64 // -1: the size is free; nil: the rank is not known; empty: a scalar
}

// parseSignature lists a model's inputs and outputs, from the file: asking the wrapper loads the whole model again
// (166 ms for GoogLeNet's 28 MB). The wrapper is asked only if types or ranks must be inferred.
func parseSignature(model []byte) (in, out []Info, err error) {
	statedIn, statedOut, ok := readSignature(model)
	if ok {
		return statedIn, statedOut, nil
	}
	if len(model) == 0 {
		return nil, nil, errors.New("found 0 bytes, expected an ONNX model")
	}
	wrapped, wrappedOut, err := ortgo.GetInputOutputInfoWithONNXData(model)
	switch {
	case err != nil:
		return nil, nil, err
	case len(wrapped) == 0 || len(wrappedOut) == 0:
		return nil, nil, fmt.Errorf("found %d inputs and %d outputs, expected at least one of each",
			len(wrapped), len(wrappedOut))
	}
	return convertInfos(wrapped, statedIn), convertInfos(wrappedOut, statedOut), nil
}

// convertInfos converts what the wrapper found. It reports no sizes for a scalar, and none for an unknown rank; the
// file tells them apart.
func convertInfos(list []ortgo.InputOutputInfo, stated []Info) []Info {
	infos := make([]Info, len(list))
	for i, v := range list {
		infos[i] = Info{Name: v.Name, Type: ElementType(v.DataType), Shape: []int64(v.Dimensions)}
		if len(v.Dimensions) == 0 {
			at := slices.IndexFunc(stated, func(s Info) bool { return s.Name == v.Name })
			infos[i].Shape = nil
			if at >= 0 && len(stated[at].Shape) == 0 {
				infos[i].Shape = stated[at].Shape
			}
		}
	}
	return infos
}

// readSignature reads inputs that are not initializers, and outputs, from the file. ok is false if anything is missing
// or odd; the library then decides, with its own message for a broken file. What was read is returned.
func readSignature(model []byte) (in, out []Info, ok bool) {
	m, err := graph.Read(model)
	if err != nil {
		return nil, nil, false
	}
	complete := true
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
			complete = complete && info.Shape != nil && info.Type != 0
			infos = append(infos, info)
		}
		return infos
	}
	in, out = read(m.Graph.DataInputs()), read(m.Graph.Outputs)
	return in, out, complete && len(in) > 0 && len(out) > 0
}

// String formats the info as in messages: "x" float32 [?,3,224,224].
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

// gemmModel returns an ONNX model of one node, Y = op(A)·op(B) with op the identity or the transpose. All sizes are
// free, so one session serves every product of its kind.
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
