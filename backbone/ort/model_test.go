package ort_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	ortgo "github.com/yalue/onnxruntime_go"

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

// value is a declared input or output; a size of -1 is free; no shape at all leaves it to be inferred.
type value struct {
	name  string
	typ   ort.ElementType
	shape []int64
	bare  bool // declare the name alone
}

// build writes an ONNX model: small ones, made for one test each.
func build(nodes []node, in, out []value) []byte {
	graph := ort.Message{}
	for _, n := range nodes {
		m := ort.Message{}
		for _, name := range n.in {
			m = m.Text(1, name)
		}
		for _, name := range n.out {
			m = m.Text(2, name)
		}
		m = m.Text(4, n.op)
		for name, v := range n.ints {
			m = m.Bytes(5, ort.Message{}.Text(1, name).Number(3, uint64(v)).Number(20, 2))
		}
		graph = graph.Bytes(1, m)
	}
	graph = graph.Text(2, "test")
	for _, v := range in {
		graph = graph.Bytes(11, v.info())
	}
	for _, v := range out {
		graph = graph.Bytes(12, v.info())
	}
	return ort.Message{}.Number(1, 8).Bytes(7, graph).Bytes(8, ort.Message{}.Number(2, 17))
}

func (v value) info() []byte {
	m := ort.Message{}.Text(1, v.name)
	if v.bare {
		return m
	}
	shape := ort.Message{}
	for _, d := range v.shape {
		if d < 0 {
			shape = shape.Bytes(1, ort.Message{}.Text(2, "free"))
		} else {
			shape = shape.Bytes(1, ort.Message{}.Number(1, uint64(d)))
		}
	}
	return m.Bytes(2, ort.Message{}.Bytes(1, ort.Message{}.Number(1, uint64(v.typ)).Bytes(2, shape)))
}

// TestSignature compares the reader of inputs and outputs with ONNX Runtime's own answer.
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
		in, out, ok := ort.ReadSignature(model)
		if !ok {
			t.Errorf("%s: not read", name)
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
				want[i].Shape = append([]int64{}, w.Dimensions...) // of a scalar: the file states its rank
			}
			if diff := cmp.Diff(want, pair.got); diff != "" {
				t.Errorf("%s: -want +got\n%s", name, diff)
			}
		}
	}
}

func TestSignatureOfDamagedModel(t *testing.T) {
	model := ort.GemmModel(ort.Float, false, false)
	for n := range model {
		ort.ReadSignature(model[:n]) // must not panic
	}
	if _, _, ok := ort.ReadSignature(model[:len(model)/2]); ok {
		t.Error("half a model was read")
	}
	bare := build([]node{{op: "Identity", in: []string{"a"}, out: []string{"x"}}},
		[]value{{name: "a", typ: ort.Float, shape: []int64{1}}}, []value{{name: "x", bare: true}})
	if _, _, ok := ort.ReadSignature(bare); ok {
		t.Error("an output without a type was read")
	}
}

// FuzzReadSignature feeds the reader anything: it must end, and what it accepts must be named and typed.
func FuzzReadSignature(f *testing.F) {
	f.Add(ort.GemmModel(ort.Float, true, true))
	f.Add(build([]node{{op: "Identity", in: []string{"a"}, out: []string{"x"}}},
		[]value{{name: "a", typ: ort.Float}}, []value{{name: "x", bare: true}}))
	f.Add(bytes.Repeat([]byte{0x3a, 0xff}, 9))
	f.Fuzz(func(t *testing.T, model []byte) {
		in, out, ok := ort.ReadSignature(model)
		if !ok {
			return
		}
		for _, i := range append(in, out...) {
			if i.Type == 0 || len(i.Shape) > len(model) {
				t.Fatalf("found %v", i)
			}
		}
	})
}

// TestUnknownRank: an output whose rank nobody knows before the run is no scalar.
func TestUnknownRank(t *testing.T) {
	model := build([]node{{op: "Reshape", in: []string{"x", "s"}, out: []string{"y"}}},
		[]value{{name: "x", typ: ort.Float, shape: []int64{6}}, {name: "s", typ: ort.Int64, shape: []int64{-1}}},
		[]value{{name: "y", bare: true}})
	s, err := orttest.Runtime(t).NewSession(model, ort.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out := make([]ort.Tensor, 1)
	in := []ort.Tensor{ort.Float32s(make([]float32, 6), 6), ort.Int64s([]int64{2, 3}, 2)}
	if err := s.Run(in, out); err != nil || !slices.Equal(out[0].Shape, []int64{2, 3}) {
		t.Errorf("found %v, %v", out[0].Shape, err)
	}
}
