package graph

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Marshal writes the model as an ONNX file. Equal models give equal bytes.
func (m *Model) Marshal() []byte {
	var w message
	w.writeNum(1, m.IRVersion)
	w.writeString(2, m.Producer)
	w.writeString(3, m.ProducerVersion)
	w.writeString(4, m.Domain)
	w.writeNum(5, m.Version)
	w.writeString(6, m.Doc)
	if m.Graph != nil {
		g := m.Graph.message()
		w.embedMessage(7, &g)
	}
	for _, o := range m.Opsets {
		var e message
		e.writeString(1, o.Domain)
		e.writeNum(2, o.Version)
		w.embedMessage(8, &e)
	}
	w.writeProperties(14, m.Metadata)
	w.small = append(w.small, m.rest...)
	return w.assembleMessage()
}

// message is a protobuf message being written. Large pieces are stored as references with their position, so
// that nested messages copy them only once, at the end.
type message struct {
	small []byte
	big   []piece
	extra int // bytes in big
}

type piece struct {
	at    int // position in small
	bytes []byte
}

// copyBelow is the size up to which bytes are copied immediately.
const copyBelow = 4096

func (w *message) messageSize() int { return len(w.small) + w.extra }

func (w *message) writeKey(n protowire.Number, t protowire.Type) {
	w.small = protowire.AppendTag(w.small, n, t)
}

// writeNum writes a number unless it is zero, the default.
func (w *message) writeNum(n protowire.Number, v int64) {
	if v != 0 {
		w.writeAlways(n, v)
	}
}

func (w *message) writeAlways(n protowire.Number, v int64) {
	w.writeKey(n, protowire.VarintType)
	w.small = protowire.AppendVarint(w.small, uint64(v))
}

// writeString writes a string unless it is empty, the default.
func (w *message) writeString(n protowire.Number, s string) {
	if s != "" {
		w.writeTexts(n, s)
	}
}

func (w *message) writeTexts(n protowire.Number, list ...string) {
	for _, s := range list {
		w.writeKey(n, protowire.BytesType)
		w.small = protowire.AppendString(w.small, s)
	}
}

func (w *message) writeBytes(n protowire.Number, b []byte) {
	w.writeKey(n, protowire.BytesType)
	w.small = protowire.AppendVarint(w.small, uint64(len(b)))
	if len(b) < copyBelow {
		w.small = append(w.small, b...)
		return
	}
	w.big = append(w.big, piece{len(w.small), b})
	w.extra += len(b)
}

// embedMessage embeds another message.
func (w *message) embedMessage(n protowire.Number, e *message) {
	w.writeKey(n, protowire.BytesType)
	w.small = protowire.AppendVarint(w.small, uint64(e.messageSize()))
	for _, p := range e.big {
		w.big = append(w.big, piece{p.at + len(w.small), p.bytes})
	}
	w.extra += e.extra
	w.small = append(w.small, e.small...)
}

// nestMessages writes one field for each element of a list.
func nestMessages[T interface{ message() message }](w *message, n protowire.Number, list []T) {
	for _, v := range list {
		e := v.message()
		w.embedMessage(n, &e)
	}
}

// writeInts writes packed integers.
func (w *message) writeInts(n protowire.Number, list []int64) {
	if len(list) == 0 {
		return
	}
	var packed []byte
	for _, v := range list {
		packed = protowire.AppendVarint(packed, uint64(v))
	}
	w.writeBytes(n, packed)
}

func (w *message) writeProperties(n protowire.Number, list []Property) {
	for _, p := range list {
		var e message
		e.writeString(1, p.Key)
		e.writeString(2, p.Value)
		w.embedMessage(n, &e)
	}
}

// assembleMessage inserts the large pieces at their positions.
func (w *message) assembleMessage() []byte {
	out := make([]byte, 0, w.messageSize())
	from := 0
	for _, p := range w.big {
		out = append(append(out, w.small[from:p.at]...), p.bytes...)
		from = p.at
	}
	return append(out, w.small[from:]...)
}

func (g *Graph) message() message {
	var w message
	nestMessages(&w, 1, g.Nodes)
	w.writeString(2, g.Name)
	nestMessages(&w, 5, g.Initializers)
	nestMessages(&w, 11, g.Inputs)
	nestMessages(&w, 12, g.Outputs)
	nestMessages(&w, 13, g.ValueInfo)
	w.small = append(w.small, g.rest...)
	return w
}

func (n *Node) message() message {
	var w message
	w.writeTexts(1, n.Inputs...)
	w.writeTexts(2, n.Outputs...)
	w.writeString(3, n.Name)
	w.writeString(4, n.Op)
	nestMessages(&w, 5, n.Attributes)
	w.writeString(7, n.Domain)
	w.small = append(w.small, n.rest...)
	return w
}

func (a *Attribute) message() message {
	var w message
	w.writeString(1, a.Name)
	if a.Kind == KindFloat || math.Float32bits(a.Float) != 0 {
		w.writeKey(2, protowire.Fixed32Type)
		w.small = protowire.AppendFixed32(w.small, math.Float32bits(a.Float))
	}
	if a.Kind == KindInt || a.Int != 0 {
		w.writeAlways(3, a.Int)
	}
	if a.Kind == KindString || a.String != "" {
		w.writeTexts(4, a.String)
	}
	if a.Tensor != nil {
		nestMessages(&w, 5, []*Tensor{a.Tensor})
	}
	if a.Graph != nil {
		nestMessages(&w, 6, []*Graph{a.Graph})
	}
	if len(a.Floats) > 0 {
		var packed []byte
		for _, v := range a.Floats {
			packed = protowire.AppendFixed32(packed, math.Float32bits(v))
		}
		w.writeBytes(7, packed)
	}
	w.writeInts(8, a.Ints)
	w.writeNum(20, int64(a.Kind))
	w.small = append(w.small, a.rest...)
	return w
}

func (t *Tensor) message() message {
	var w message
	w.writeInts(1, t.Dims)
	w.writeNum(2, int64(t.Type))
	if t.Type == Text {
		w.writeTexts(6, t.texts...)
	}
	w.writeString(8, t.Name)
	if len(t.raw) > 0 {
		w.writeBytes(9, t.raw)
	}
	if t.external != nil {
		w.writeProperties(13, t.external)
		w.writeNum(14, 1)
	}
	w.small = append(w.small, t.rest...)
	return w
}

func (v *ValueInfo) message() message {
	var w, typ, tensor, shape message
	w.writeString(1, v.Name)
	for _, d := range v.Shape {
		var e message
		if d.Known() {
			e.writeAlways(1, d.Size)
		} else {
			e.writeString(2, d.Name)
		}
		shape.embedMessage(1, &e)
	}
	tensor.writeNum(1, int64(v.Type))
	if v.Shape != nil {
		tensor.embedMessage(2, &shape)
	}
	if tensor.messageSize() > 0 {
		typ.embedMessage(1, &tensor)
	}
	typ.small = append(typ.small, v.typeRest...)
	if typ.messageSize() > 0 {
		w.embedMessage(2, &typ)
	}
	w.small = append(w.small, v.rest...)
	return w
}
