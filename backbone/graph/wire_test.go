package graph_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"winnow/backbone/graph"
	"winnow/internal/testing/memory"
)

// msg writes protobuf by hand, independently of the writer, as input for the reader.
type msg []byte

func (m msg) num(field protowire.Number, v uint64) msg {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), v)
}

func (m msg) bytes(field protowire.Number, b []byte) msg {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), b)
}

func (m msg) text(field protowire.Number, s string) msg { return m.bytes(field, []byte(s)) }

// file returns a model that contains the fields of a graph.
func file(graph msg) []byte {
	return msg{}.num(1, 8).bytes(7, graph).bytes(8, msg{}.num(2, 17))
}

// TestUnknownFields checks that reading and writing preserve unknown fields.
func TestUnknownFields(t *testing.T) {
	mark := func(m msg, text string) msg { return m.text(900, text) }
	dim := mark(msg{}.text(2, "N"), "in dim")
	shape := mark(msg{}.bytes(1, dim), "in shape")
	tensor := mark(msg{}.num(1, 1).bytes(2, shape), "in tensor type")
	info := mark(msg{}.text(1, "x").bytes(2, mark(msg{}.bytes(1, tensor), "in type")), "in value info")
	attribute := mark(msg{}.text(1, "alpha").num(20, 2).num(3, 7), "in attribute")
	node := mark(msg{}.text(1, "x").text(2, "y").text(4, "Relu").bytes(5, attribute), "in node")
	weight := mark(msg{}.bytes(1, []byte{1}).num(2, 1).text(8, "w").bytes(9, make([]byte, 4)), "in tensor")
	g := mark(msg{}.bytes(1, node).bytes(5, weight).bytes(11, info), "in graph")
	data := mark(msg(file(g)), "in model")
	data = data.bytes(8, mark(msg{}.text(1, "other").num(2, 3), "in opset"))
	m, err := graph.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	out := m.Marshal()
	for _, place := range []string{"type", "value info", "attribute", "node", "tensor", "graph", "model"} {
		if field := (msg{}).text(900, "in "+place); !bytes.Contains(out, field) {
			t.Errorf("the field in %s is missing", place)
		}
	}
}

// TestTensorForms reads one tensor in each form that the format allows.
func TestTensorForms(t *testing.T) {
	packed := func(list ...uint64) (b []byte) {
		for _, v := range list {
			b = protowire.AppendVarint(b, v)
		}
		return b
	}
	floats := func(list ...float32) (b []byte) {
		for _, v := range list {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		return b
	}
	minus := func(v int64) uint64 { return uint64(-v) }
	tensor := func(typ graph.DataType) msg { return msg{}.num(1, 2).num(2, uint64(typ)).text(8, "w") }
	unpacked := protowire.AppendFixed32(protowire.AppendTag(tensor(graph.Float32), 4, protowire.Fixed32Type),
		math.Float32bits(1.5))
	unpacked = protowire.AppendFixed32(protowire.AppendTag(unpacked, 4, protowire.Fixed32Type), math.Float32bits(-2))
	doubles := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, math.Float64bits(1.5)),
		math.Float64bits(-2))
	for name, c := range map[string]struct {
		m    msg
		want []float64
	}{
		"float raw":        {tensor(graph.Float32).bytes(9, floats(1.5, -2)), []float64{1.5, -2}},
		"float packed":     {tensor(graph.Float32).bytes(4, floats(1.5, -2)), []float64{1.5, -2}},
		"float in parts":   {tensor(graph.Float32).bytes(4, floats(1.5)).bytes(4, floats(-2)), []float64{1.5, -2}},
		"float one by one": {unpacked, []float64{1.5, -2}},
		"double":           {tensor(graph.Float64).bytes(10, doubles), []float64{1.5, -2}},
		"int64":            {tensor(graph.Int64).bytes(7, packed(7, minus(3))), []float64{7, -3}},
		"int64 one by one": {tensor(graph.Int64).num(7, 7).num(7, minus(3)), []float64{7, -3}},
		"int64 raw": {tensor(graph.Int64).bytes(9, append(make([]byte, 8), bytes.Repeat([]byte{0xff}, 8)...)),
			[]float64{0, -1}},
		"int32":         {tensor(graph.Int32).bytes(5, packed(7, minus(3))), []float64{7, -3}},
		"int16":         {tensor(graph.Int16).bytes(5, packed(7, minus(3))), []float64{7, -3}},
		"int8":          {tensor(graph.Int8).bytes(5, packed(7, minus(3))), []float64{7, -3}},
		"uint8":         {tensor(graph.Uint8).bytes(5, packed(7, 200)), []float64{7, 200}},
		"bool":          {tensor(graph.Bool).bytes(5, packed(1, 0)), []float64{1, 0}},
		"uint32":        {tensor(graph.Uint32).bytes(11, packed(7, 1<<31)), []float64{7, 1 << 31}},
		"uint64":        {tensor(graph.Uint64).bytes(11, packed(7, 1<<40)), []float64{7, 1 << 40}},
		"float16":       {tensor(graph.Float16).bytes(5, packed(0x3e00, 0xc000)), []float64{1.5, -2}},
		"float16 small": {tensor(graph.Float16).bytes(5, packed(0x0001, 0x7bff)), []float64{0x1p-24, 65504}},
		"bfloat16":      {tensor(graph.BFloat16).bytes(5, packed(0x3fc0, 0xc000)), []float64{1.5, -2}},
	} {
		m, err := graph.Read(file(msg{}.bytes(5, c.m)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := graph.Read(m.Marshal())
		if err != nil {
			t.Errorf("%s: written and read again: %v", name, err)
			continue
		}
		for _, m := range []*graph.Model{m, again} {
			if got, err := m.Graph.Initializers[0].Float64s(); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s: found %v, %v, expected %v", name, got, err, c.want)
			}
		}
	}
}

func TestHalfEnds(t *testing.T) {
	m, err := graph.Read(file(msg{}.bytes(5, msg{}.num(1, 3).num(2, 10).bytes(9, []byte{0, 0x7c, 0, 0xfc, 1, 0x7c}))))
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Graph.Initializers[0].Float32s()
	if err != nil || !math.IsInf(float64(got[0]), 1) || !math.IsInf(float64(got[1]), -1) || got[2] == got[2] {
		t.Errorf("found %v, %v, expected +Inf, -Inf, NaN", got, err)
	}
}

// TestReadRefuses checks that each bad file gives a one-line error with the reason.
func TestReadRefuses(t *testing.T) {
	whole := small(13).Marshal()
	weight := func(m msg) []byte { return file(msg{}.bytes(5, m.text(8, "w"))) }
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":           {nil, "found an empty file"},
		"text":            {[]byte("#!/bin/sh\necho this is no model\n"), "not an ONNX model"},
		"half":            {whole[:len(whole)/2], "cut short"},
		"no graph":        {msg{}.num(1, 8), "found no graph"},
		"no operator set": {msg{}.num(1, 8).bytes(7, nil), "found no operator set"},
		"two graphs":      {append(file(nil), file(nil)...), "found two"},
		"no operator":     {file(msg{}.bytes(1, msg{}.text(1, "x"))), "node 1 \"\": found no operator"},
		"too few values": {weight(msg{}.num(1, 3).num(2, 1).bytes(9, make([]byte, 8))),
			"float32 [3]: found 8 bytes of data, expected 12"},
		"huge":         {weight(msg{}.num(1, 1<<40).num(1, 1<<40).num(2, 1)), "expected sizes"},
		"negative":     {weight(msg{}.num(1, math.MaxUint64).num(2, 1)), "expected sizes"},
		"unknown type": {weight(msg{}.num(1, 1).num(2, 99)), "element type 99 is not known"},
		"two forms": {weight(msg{}.num(1, 1).num(2, 1).bytes(9, make([]byte, 4)).bytes(4, make([]byte, 4))),
			"two forms"},
		"wrong wire type":  {msg{}.text(1, "eight"), "found wire type 2, expected 0"},
		"number in middle": {append(whole, 0x08, 0xff), "cut short"},
	} {
		_, err := graph.Read(c.data)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "graph: ") ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: found %v, expected %q", name, err, c.want)
		}
	}
	if _, err := graph.ReadNamed("resnet.onnx", whole[:99]); err == nil ||
		!strings.HasPrefix(err.Error(), "graph: resnet.onnx: ") {
		t.Errorf("found %v, expected the file's name", err)
	}
}

// TestDepth checks that deeply nested graphs are an error, not a stack overflow.
func TestDepth(t *testing.T) {
	g := msg{}
	for range 1000 {
		g = msg{}.bytes(1, msg{}.text(4, "If").bytes(5, msg{}.text(1, "then_branch").bytes(6, g)))
	}
	if _, err := graph.Read(file(g)); err == nil || !strings.Contains(err.Error(), "nested") {
		t.Errorf("found %v, expected an error about nesting", err)
	}
}

// TestExternal checks that a tensor whose values are in another file can be read, and that using it gives an error
// with advice.
func TestExternal(t *testing.T) {
	place := msg{}.text(1, "location").text(2, "weights.bin")
	w := msg{}.num(1, 1000).num(2, 1).text(8, "w").bytes(13, place).num(14, 1)
	node := msg{}.text(1, "w").text(2, "y").text(4, "Relu")
	data := file(msg{}.bytes(1, node).bytes(5, w).bytes(12, msg{}.text(1, "y")))
	m, err := graph.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Graph.Initializers[0].External(); got != "weights.bin" {
		t.Errorf("found %q", got)
	}
	_, valuesErr := m.Graph.Initializers[0].Float32s()
	for _, err := range []error{m.Check(), valuesErr} {
		if err == nil || !strings.Contains(err.Error(), `"weights.bin"`) ||
			!strings.Contains(err.Error(), "save_as_external_data=False") {
			t.Errorf("found %v", err)
		}
	}
	if !bytes.Contains(m.Marshal(), place) {
		t.Error("the location is missing after writing")
	}
}

// TestDamaged truncates a file at every byte and flips every bit. The result must be an error or another model, never
// a panic.
func TestDamaged(t *testing.T) {
	whole := small(13).Marshal()
	for n := range whole {
		if m, err := graph.Read(whole[:n]); err == nil && m.Check() == nil &&
			n < bytes.LastIndex(whole, []byte("prob")) {
			t.Errorf("cut at %d of %d bytes: no error", n, len(whole))
		}
	}
	for i := range 8 * len(whole) {
		flipped := slices.Clone(whole)
		flipped[i/8] ^= 1 << (i % 8)
		walkAll(t, flipped, i%31 == 0)
	}
}

// walkAll does with arbitrary bytes what winnow does with a file. With deep it also compares models field by field.
func walkAll(t *testing.T, data []byte, deep bool) {
	t.Helper()
	m, err := graph.Read(data)
	if err != nil {
		return
	}
	first := m.Marshal()
	again, err := graph.Read(first)
	if err != nil {
		t.Fatalf("the written model cannot be read: %v", err)
	}
	if second := again.Marshal(); !bytes.Equal(first, second) {
		t.Fatal("written twice, the bytes differ")
	}
	if deep {
		if diff := cmp.Diff(m, again, everything); diff != "" {
			t.Fatal(diff)
		}
	}
	if m.Check() != nil {
		return
	}
	graph.Infer(m)
	for _, n := range m.Graph.Nodes {
		for _, out := range n.Outputs {
			if out != "" {
				if cut, err := graph.Cut(m, out); err == nil && cut.Check() != nil {
					t.Fatalf("cut at %q: %v", out, cut.Check())
				}
			}
		}
	}
	if f, err := graph.FeatureTensor(m); err == nil {
		if cut, _, _, err := graph.Vector(m, f.Tensor); err == nil && cut.Check() != nil {
			t.Fatalf("vector at %q: %v", f.Tensor, cut.Check())
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(small(13).Marshal())
	f.Add(small(8).Marshal())
	f.Add(file(msg{}.bytes(5, msg{}.num(1, 2).num(2, 7).bytes(7, []byte{1, 2}))))
	f.Add(transformer(17).Marshal())
	f.Fuzz(func(t *testing.T, data []byte) {
		memory.Check(t, 64<<20+1000*uint64(len(data)), func() {
			if m, err := graph.ReadNamed("fuzz.onnx", data); err == nil {
				graph.Infer(m)
			}
		})
		if len(data) < 1<<16 { // the nesting of fields matters; large inputs only slow down the search
			walkAll(t, data, true)
		}
	})
}
