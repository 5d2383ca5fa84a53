package ort_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	ortgo "github.com/yalue/onnxruntime_go"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/internal/testing/orttest"
	"winnow/internal/testing/reference"
)

// node is one operation of a test model.
type node struct {
	op      string
	in, out []string
	ints    map[string]int64 // attributes
}

// value is a declared input or output. A size of -1 is free; without a shape, the shape is inferred.
type value struct {
	name  string
	typ   ort.ElementType
	shape []int64
}

// build returns a small ONNX model for a test.
func build(nodes []node, in, out []value) []byte {
	b := graph.NewBuilder("test", 17)
	for _, n := range nodes {
		made := &graph.Node{Op: n.op, Inputs: n.in, Outputs: n.out}
		for name, v := range n.ints {
			made.Attributes = append(made.Attributes, graph.Int(name, v))
		}
		b.Add(made)
	}
	m := b.Model()
	for _, v := range in {
		m.Graph.Inputs = append(m.Graph.Inputs, v.info())
	}
	for _, v := range out {
		m.Graph.Outputs = append(m.Graph.Outputs, v.info())
	}
	return m.Marshal()
}

func (v value) info() *graph.ValueInfo {
	shape := graph.ShapeOf(v.shape...)
	for i := range shape {
		if !shape[i].Known() {
			shape[i].Name = "free"
		}
	}
	return &graph.ValueInfo{Name: v.name, Type: graph.DataType(v.typ), Shape: shape}
}

// TestSignature compares the inputs and outputs from parseSignature with those that ONNX Runtime reports.
func TestSignature(t *testing.T) {
	orttest.Runtime(t)
	models := map[string][]byte{
		"gemm": ort.GemmModel(ort.Double, true, false),
		"mixed": build(
			[]node{{op: "Identity", in: []string{"a"}, out: []string{"x"}},
				{op: "Identity", in: []string{"b"}, out: []string{"y"}}},
			[]value{{name: "a", typ: ort.Int64, shape: []int64{3, -1}}, {name: "b", typ: ort.Float}},
			[]value{{name: "x", typ: ort.Int64, shape: []int64{3, -1}}, {name: "y", typ: ort.Float}}),
	}
	for _, name := range []string{"mobilenetv2-features", "googlenet-bvlc"} {
		path := filepath.Join(reference.Root(t), "..", "shared", "assets", "models", name+".onnx")
		if data, err := os.ReadFile(path); err == nil {
			models[name] = data
		}
	}
	for name, model := range models {
		in, out, err := ort.ParseSignature(model)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wantIn, wantOut, err := ortgo.GetInputOutputInfoWithONNXData(model)
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range []struct {
			got  []ort.Info
			want []ortgo.InputOutputInfo
		}{{in, wantIn}, {out, wantOut}} {
			want := make([]ort.Info, len(pair.want))
			for i, w := range pair.want {
				want[i] = ort.Info{Name: w.Name, Type: ort.ElementType(w.DataType)}
				want[i].Shape = append([]int64{}, w.Dimensions...) // of a scalar: the file declares its rank
			}
			if diff := cmp.Diff(want, pair.got); diff != "" {
				t.Errorf("%s: -want +got\n%s", name, diff)
			}
		}
	}
}
