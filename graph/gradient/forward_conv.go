package gradient

import (
	"slices"

	"winnow/graph"
)

// light is how many numbers filters may have for hasten to turn them round for every product.
const light = 1 << 18

// hasten rewrites convolutions of the forward model whose filters are trained. With constant filters the runtime
// packs them once and is fast everywhere; with filters that change it multiplies image by image, and where an
// image has few places the products are narrow. So these become columns, gathered, times filters, one product over the
// whole batch: glyphnet, whose maps have 16×16 places and fewer, takes 9 ms instead of 15 for 64 images on two
// cores. The heavy filters of a ResNet's last stages cost more to turn round than that wins (ResNet-18: 218 ms
// instead of 197) and are left alone. Nothing is renamed, and the backward model does not know.
func (r *reverse) hasten() {
	m := r.f.b.Model()
	if m.Opset() < 11 { // Pad by a list
		return
	}
	nodes := m.Graph.Nodes
	m.Graph.Nodes = nil
	for _, n := range nodes {
		v := r.slowConv(n)
		if v == nil {
			r.f.b.Add(n)
			continue
		}
		v.asProduct(r.f.b)
	}
}

// slowConv returns a convolution that is faster as one product over the batch; nil where it is not, or no convolution.
func (r *reverse) slowConv(n *graph.Node) *convolution {
	v := r.liveConv(n)
	if v == nil || v.groups != 1 || !v.isFloat32(v.call.in(0)) || v.places() > few || v.taps()*v.from*v.to >= light ||
		v.to <= 16 || v.from <= 16 {
		return nil
	}
	if op, _ := v.ours(); op != "" {
		return nil
	}
	return v
}

// asProduct writes [N·out, taps·C]·[taps·C, O] + b and brings it into the convolution's form.
func (v *convolution) asProduct(b *graph.Builder) {
	list := func(numbers ...int64) string {
		return b.Constant(graph.NewTensor("sizes", numbers, int64(len(numbers))))
	}
	taps, places := v.taps(), product(v.window.in)
	columns := b.Node("Reshape", []string{v.call.in(0), list(0, v.from, places)})
	columns = b.Node("Transpose", []string{columns}, graph.Ints("perm", 0, 2, 1))
	filters := ""
	if v.pointwise() {
		filters = b.Node("Reshape", []string{v.call.in(1), list(v.to, v.from)})
		filters = b.Node("Transpose", []string{filters}, graph.Ints("perm", 1, 0))
	} else {
		index := v.reads()
		if slices.Contains(index, -1) {
			columns = b.Node("Pad", []string{columns, list(0, 0, 0, 0, 1, 0)})
			index = behind(index, places)
		}
		rows := b.Constant(graph.NewTensor("places", index, int64(len(index))/taps, taps))
		columns = b.Node("Gather", []string{columns, rows}, graph.Int("axis", 1))
		filters = b.Node("Reshape", []string{v.call.in(1), list(v.to, v.from, taps)})
		filters = b.Node("Transpose", []string{filters}, graph.Ints("perm", 2, 1, 0))
		filters = b.Node("Reshape", []string{filters, list(taps*v.from, v.to)})
	}
	y := b.Node("MatMul", []string{b.Node("Reshape", []string{columns, list(-1, taps*v.from)}), filters})
	if bias := v.call.in(2); bias != "" {
		y = b.Node("Add", []string{y, bias})
	}
	y = b.Node("Reshape", []string{y, list(-1, v.window.places(), v.to)})
	y = b.Node("Transpose", []string{y}, graph.Ints("perm", 0, 2, 1))
	b.NodeTo(v.Outputs[0], "Reshape", []string{y, list(slices.Concat([]int64{-1, v.to}, v.window.out)...)})
}
