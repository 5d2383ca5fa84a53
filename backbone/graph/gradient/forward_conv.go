package gradient

import (
	"slices"

	"winnow/backbone/graph"
)

// light is the largest number of values in filters that hastenConvs transposes for every product.
const light = 1 << 18

// hastenConvs rewrites convolutions of the forward model whose filters are trained. The runtime packs constant filters
// once and is then always fast. If filters change, it multiplies image by image, and for images of few places the
// products are narrow. hastenConvs computes these convolutions as one product over the whole batch, of gathered
// columns times filters: glyphnet, whose maps have at most 16×16 places, takes 9 ms instead of 15 for 64 images on two
// cores. Transposing the large filters of a ResNet's last stages costs more than that gains (ResNet-18: 218 ms instead
// of 197), so these are not rewritten. No tensor is renamed, and the backward model does not change.
func (r *reverse) hastenConvs() {
	m := r.f.b.Model()
	if m.Opset() < 11 || r.o.Kernels == ForCUDA { // Pad takes a list; cuDNN is fast without the rewriting
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

// slowConv returns a convolution that is faster as one product over the batch, or nil for other nodes.
func (r *reverse) slowConv(n *graph.Node) *convolution {
	v := r.liveConv(n)
	if v == nil || v.groups != 1 || !v.isFloat32(v.call.inputName(0)) || v.countPlaces() > few ||
		v.countTaps()*v.from*v.to >= light ||
		v.to <= 16 ||
		v.from <= 16 {
		return nil
	}
	if op, _ := v.ours(); op != "" {
		return nil
	}
	return v
}

// asProduct writes the product [N·out, taps·C]·[taps·C, O] + b and reshapes it to the convolution's output.
func (v *convolution) asProduct(b *graph.Builder) {
	list := func(numbers ...int64) string {
		return b.Constant(graph.NewTensor("sizes", numbers, int64(len(numbers))))
	}
	taps, places := v.countTaps(), multiplyAll(v.window.in)
	columns := b.Node("Reshape", []string{v.call.inputName(0), list(0, v.from, places)})
	columns = b.Node("Transpose", []string{columns}, graph.Ints("perm", 0, 2, 1))
	filters := ""
	if v.isPointwise() {
		filters = b.Node("Reshape", []string{v.call.inputName(1), list(v.to, v.from)})
		filters = b.Node("Transpose", []string{filters}, graph.Ints("perm", 1, 0))
	} else {
		index := v.tapPlaces()
		if slices.Contains(index, -1) {
			columns = b.Node("Pad", []string{columns, list(0, 0, 0, 0, 1, 0)})
			index = indexBehind(index, places)
		}
		rows := b.Constant(graph.NewTensor("places", index, int64(len(index))/taps, taps))
		columns = b.Node("Gather", []string{columns, rows}, graph.Int("axis", 1))
		filters = b.Node("Reshape", []string{v.call.inputName(1), list(v.to, v.from, taps)})
		filters = b.Node("Transpose", []string{filters}, graph.Ints("perm", 2, 1, 0))
		filters = b.Node("Reshape", []string{filters, list(taps*v.from, v.to)})
	}
	y := b.Node("MatMul", []string{b.Node("Reshape", []string{columns, list(-1, taps*v.from)}), filters})
	if bias := v.call.inputName(2); bias != "" {
		y = b.Node("Add", []string{y, bias})
	}
	y = b.Node("Reshape", []string{y, list(-1, v.window.countPlaces(), v.to)})
	y = b.Node("Transpose", []string{y}, graph.Ints("perm", 0, 2, 1))
	b.NodeTo(v.Outputs[0], "Reshape", []string{y, list(slices.Concat([]int64{-1, v.to}, v.window.out)...)})
}
