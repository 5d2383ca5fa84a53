package gradient

import (
	"slices"

	"winnow/backbone/graph"
)

// few is the largest number of places in a map for which one product over the whole batch is faster than the runtime's
// convolution, which multiplies image by image. This covers maps of 14×14 and smaller.
const few = 256

// inputGrad returns ∂L/∂X. In order of preference:
//   - 1×1: Wᵀ·∂L/∂Y or, with few places, (∂L/∂Y)ᵀ·W over the whole batch
//   - stride 1, few places: the columns of ∂L/∂Y times W, one product over the whole batch
//   - stride 1: Conv of ∂L/∂Y with the filters reversed and their channels swapped
//   - otherwise ConvTranspose, whose products are as fast, but whose sums into the image run on one core
func (v *convolution) inputGrad() string {
	dense := v.isDense() && v.groups == 1
	switch {
	case dense && v.countPlaces() <= few && v.from > 16 && v.to > 16:
		return v.inputByColumns()
	case dense && v.isPointwise():
		filters := v.addOp("Reshape", []string{v.call.inputName(1), v.constInts(v.to, v.from)})
		return v.reshapeLike(v.call.emitProduct(filters, 2, true, v.addOp("Reshape", []string{v.dy, v.constInts(0,
			v.to, v.countPlaces())}), 2, false), v.call.inputName(0))
	case v.isDense() && v.isTurnable():
		return v.inputByConv()
	}
	return v.transposedConv(v.window, v.dy, v.call.inputName(1), v.groups)
}

// inputByColumns computes the product [N·in, taps·O]·[taps·O, C], channels last.
func (v *convolution) inputByColumns() string {
	taps, places := v.countTaps(), multiplyAll(v.window.in)
	filters, columns := v.call.inputName(1), ""
	if v.isPointwise() {
		columns = v.addOp("Transpose", []string{v.addOp("Reshape", []string{v.dy, v.constInts(0, v.to, places)})},
			graph.Ints("perm", 0, 2, 1))
		filters = v.addOp("Reshape", []string{filters, v.constInts(v.to, v.from)})
	} else {
		columns = v.gatherColumns(v.dy, v.to, v.countPlaces(), v.readBy(), taps)
		filters = v.addOp("Transpose", []string{v.addOp("Reshape", []string{filters, v.constInts(v.to, v.from, taps)})},
			graph.Ints("perm", 2, 0, 1))
		filters = v.addOp("Reshape", []string{filters, v.constInts(taps*v.to, v.from)})
	}
	dx := v.addOp("MatMul", []string{v.addOp("Reshape", []string{columns, v.constInts(-1, taps*v.to)}), filters})
	dx = v.addOp("Transpose", []string{v.addOp("Reshape", []string{dx, v.constInts(-1, places, v.from)})},
		graph.Ints("perm", 0, 2, 1))
	return v.reshapeLike(dx, v.call.inputName(0))
}

// isTurnable reports whether the padding for the reversed filters is not negative.
func (w *window) isTurnable() bool {
	before, after := w.turnedPads()
	return !slices.ContainsFunc(slices.Concat(before, after), func(p int64) bool { return p < 0 })
}

func (w *window) turnedPads() (before, after []int64) {
	for i := range w.in {
		reach := w.dilation[i] * (w.kernel[i] - 1)
		before, after = append(before, reach-w.before[i]), append(after, reach-w.after[i])
	}
	return before, after
}

// inputByConv convolves ∂L/∂Y with W reversed: [O, C/g, taps] becomes [C, O/g, taps], last tap first.
func (v *convolution) inputByConv() string {
	taps, g := v.countTaps(), v.groups
	filters := v.call.inputName(1)
	if v.to/g > 1 && v.from/g > 1 {
		filters = v.addOp("Transpose", []string{v.addOp("Reshape", []string{filters, v.constInts(g, v.to/g, v.from/g,
			taps)})}, graph.Ints("perm", 0, 2, 1, 3))
	}
	filters = v.addOp("Reshape", []string{filters, v.constInts(v.from*v.to/g, taps)})
	if taps > 1 {
		filters = v.addOp("Slice", []string{filters, v.constInts(-1), v.constInts(-taps - 1), v.constInts(1),
			v.constInts(-1)})
	}
	filters = v.addOp("Reshape", []string{filters, v.constInts(slices.Concat([]int64{v.from, v.to / g}, v.kernel)...)})
	before, after := v.turnedPads()
	return v.addOp("Conv", []string{v.dy, filters}, graph.Ints("kernel_shape", v.kernel...),
		graph.Ints("dilations", v.dilation...),
		graph.Ints("pads", slices.Concat(before, after)...), graph.Int("group", g))
}

// transposedConv spreads dy [N, O, out…] with filters [O, C/g, kernel…] over [N, C, in…]. It uses the padding of the
// convolution, which is usually equal on both sides, as the CUDA kernel requires; output_padding adds the places that
// the stride left out.
func (c *call) transposedConv(w *window, dy, filters string, groups int64) string {
	n := len(w.in)
	beyond, after := make([]int64, n), make([]int64, n)
	for i := range n {
		after[i] = max(w.after[i], w.declaredAfter[i])
		beyond[i] = after[i] - w.after[i]
	}
	return c.addOp("ConvTranspose", []string{dy, filters}, graph.Ints("kernel_shape", w.kernel...),
		graph.Ints("strides", w.stride...),
		graph.Ints("dilations", w.dilation...), graph.Ints("pads", slices.Concat(w.before, after)...),
		graph.Ints("output_padding", beyond...), graph.Int("group", groups))
}
