package graph

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Marshal writes the model as an ONNX file. Equal models give equal bytes.
func (m *Model) Marshal() []byte {
	var w message
	w.num(1, m.IRVersion)
	w.text(2, m.Producer)
	w.text(3, m.ProducerVersion)
	w.text(4, m.Domain)
	w.num(5, m.Version)
	w.text(6, m.Doc)
	if m.Graph != nil {
		g := m.Graph.message()
		w.message(7, &g)
	}
	for _, o := range m.Opsets {
		var e message
		e.text(1, o.Domain)
		e.num(2, o.Version)
		e.small = append(e.small, o.rest...)
		w.message(8, &e)
	}
	w.properties(14, m.Metadata)
	w.small = append(w.small, m.rest...)
	return w.assemble()
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

func (w *message) size() int { return len(w.small) + w.extra }

func (w *message) key(n protowire.Number, t protowire.Type) {
	w.small = protowire.AppendTag(w.small, n, t)
}

// num writes a number unless it is zero, the default.
func (w *message) num(n protowire.Number, v int64) {
	if v != 0 {
		w.always(n, v)
	}
}

func (w *message) always(n protowire.Number, v int64) {
	w.key(n, protowire.VarintType)
	w.small = protowire.AppendVarint(w.small, uint64(v))
}

// text writes a string unless it is empty, the default.
func (w *message) text(n protowire.Number, s string) {
	if s != "" {
		w.texts(n, s)
	}
}

func (w *message) texts(n protowire.Number, list ...string) {
	for _, s := range list {
		w.key(n, protowire.BytesType)
		w.small = protowire.AppendString(w.small, s)
	}
}

func (w *message) bytes(n protowire.Number, b []byte) {
	w.key(n, protowire.BytesType)
	w.small = protowire.AppendVarint(w.small, uint64(len(b)))
	if len(b) < copyBelow {
		w.small = append(w.small, b...)
		return
	}
	w.big = append(w.big, piece{len(w.small), b})
	w.extra += len(b)
}

// message embeds another message.
func (w *message) message(n protowire.Number, e *message) {
	w.key(n, protowire.BytesType)
	w.small = protowire.AppendVarint(w.small, uint64(e.size()))
	for _, p := range e.big {
		w.big = append(w.big, piece{p.at + len(w.small), p.bytes})
	}
	w.extra += e.extra
	w.small = append(w.small, e.small...)
}

// nest writes one field for each element of a list.
func nest[T interface{ message() message }](w *message, n protowire.Number, list []T) {
	for _, v := range list {
		e := v.message()
		w.message(n, &e)
	}
}

// ints writes packed integers.
func (w *message) ints(n protowire.Number, list []int64) {
	if len(list) == 0 {
		return
	}
	var packed []byte
	for _, v := range list {
		packed = protowire.AppendVarint(packed, uint64(v))
	}
	w.bytes(n, packed)
}

func (w *message) properties(n protowire.Number, list []Property) {
	for _, p := range list {
		var e message
		e.text(1, p.Key)
		e.text(2, p.Value)
		w.message(n, &e)
	}
}

// assemble inserts the large pieces at their positions.
func (w *message) assemble() []byte {
	out := make([]byte, 0, w.size())
	from := 0
	for _, p := range w.big {
		out = append(append(out, w.small[from:p.at]...), p.bytes...)
		from = p.at
	}
	return append(out, w.small[from:]...)
}

func (g *Graph) message() message {
	var w message
	nest(&w, 1, g.Nodes)
	w.text(2, g.Name)
	nest(&w, 5, g.Initializers)
	w.text(10, g.Doc)
	nest(&w, 11, g.Inputs)
	nest(&w, 12, g.Outputs)
	nest(&w, 13, g.ValueInfo)
	w.small = append(w.small, g.rest...)
	return w
}

func (n *Node) message() message {
	var w message
	w.texts(1, n.Inputs...)
	w.texts(2, n.Outputs...)
	w.text(3, n.Name)
	w.text(4, n.Op)
	nest(&w, 5, n.Attributes)
	w.text(6, n.Doc)
	w.text(7, n.Domain)
	w.small = append(w.small, n.rest...)
	return w
}

func (a *Attribute) message() message {
	var w message
	w.text(1, a.Name)
	if a.Kind == KindFloat || math.Float32bits(a.Float) != 0 {
		w.key(2, protowire.Fixed32Type)
		w.small = protowire.AppendFixed32(w.small, math.Float32bits(a.Float))
	}
	if a.Kind == KindInt || a.Int != 0 {
		w.always(3, a.Int)
	}
	if a.Kind == KindString || a.String != "" {
		w.texts(4, a.String)
	}
	if a.Tensor != nil {
		nest(&w, 5, []*Tensor{a.Tensor})
	}
	if a.Graph != nil {
		nest(&w, 6, []*Graph{a.Graph})
	}
	if len(a.Floats) > 0 {
		var packed []byte
		for _, v := range a.Floats {
			packed = protowire.AppendFixed32(packed, math.Float32bits(v))
		}
		w.bytes(7, packed)
	}
	w.ints(8, a.Ints)
	w.texts(9, a.Strings...)
	nest(&w, 10, a.Tensors)
	nest(&w, 11, a.Graphs)
	w.text(13, a.Doc)
	w.num(20, int64(a.Kind))
	w.small = append(w.small, a.rest...)
	return w
}

func (t *Tensor) message() message {
	var w message
	w.ints(1, t.Dims)
	w.num(2, int64(t.Type))
	if t.Type == Text {
		w.texts(6, t.texts...)
	}
	w.text(8, t.Name)
	if len(t.raw) > 0 {
		w.bytes(9, t.raw)
	}
	w.text(12, t.Doc)
	if t.external != nil {
		w.properties(13, t.external)
		w.num(14, 1)
	}
	w.small = append(w.small, t.rest...)
	return w
}

func (v *ValueInfo) message() message {
	var w, typ, tensor, shape message
	w.text(1, v.Name)
	for _, d := range v.Shape {
		var e message
		if d.Known() {
			e.always(1, d.Size)
		} else {
			e.text(2, d.Name)
		}
		e.small = append(e.small, d.rest...)
		shape.message(1, &e)
	}
	shape.small = append(shape.small, v.shapeRest...)
	tensor.num(1, int64(v.Type))
	if v.Shape != nil {
		tensor.message(2, &shape)
	}
	tensor.small = append(tensor.small, v.tensorRest...)
	if tensor.size() > 0 {
		typ.message(1, &tensor)
	}
	typ.small = append(typ.small, v.typeRest...)
	if typ.size() > 0 {
		w.message(2, &typ)
	}
	w.text(3, v.Doc)
	w.small = append(w.small, v.rest...)
	return w
}
