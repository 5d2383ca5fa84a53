package gradient

import (
	"slices"

	"winnow/backbone/graph"
)

// weightGrad returns ∂L/∂W: the values of X that the windows read, times ∂L/∂Y, summed over windows and batch. In
// order of preference:
//   - 1×1: ∂L/∂Y·Xᵀ, image by image or, if the sum over images would be large, over the whole batch at once
//   - two axes and few channels (a network's first layer): columns with the places last
//   - otherwise columns with the channels last, in one product over the whole batch
func (v *convolution) weightGrad() string {
	x := v.call.inputName(0)
	switch {
	case v.countTaps() == 1 && v.groups == 1 && v.isUnpadded():
		return v.reshapeLike(v.pointwiseGrad(v.takeTap(x, v.window, make([]int64, len(v.kernel)))), v.call.inputName(1))
	case len(v.kernel) == 2 && v.groups == 1 && v.from <= 8 && v.countTaps() > 1:
		return v.weightsByRows()
	}
	return v.weightsByColumns()
}

// pointwiseGrad returns ∂L/∂Y·Xᵀ [O, C] of a pointwise convolution. A product over the whole batch copies both
// factors; products per image [N, O, C] must be summed. pointwiseGrad chooses the smaller amount of data, and avoids
// products with short rows, which are slow.
func (v *convolution) pointwiseGrad(x string) string {
	places := v.countPlaces()
	dy := v.addOp("Reshape", []string{v.dy, v.constInts(0, v.to, places)})
	x = v.addOp("Reshape", []string{x, v.constInts(0, v.from, places)})
	if places > few && v.to*v.from < (v.to+v.from)*places {
		return v.addOp("ReduceSum", []string{v.call.emitProduct(dy, 3, false, x, 3, true), v.constInts(0)},
			graph.Int("keepdims", 0))
	}
	return v.call.emitProduct(v.batchInside(dy, v.to), 2, false, v.batchInside(x, v.from), 2, true)
}

// batchInside converts [N, channels, places] to [channels, N·places].
func (v *convolution) batchInside(t string, channels int64) string {
	t = v.addOp("Transpose", []string{t}, graph.Ints("perm", 1, 0, 2))
	return v.addOp("Reshape", []string{t, v.constInts(channels, -1)})
}

// weightsByColumns computes the product [g, O/g, N·out]·[g, N·out, taps·C/g].
func (v *convolution) weightsByColumns() string {
	g, taps, places := v.groups, v.countTaps(), v.countPlaces()
	columns := v.gatherColumns(v.call.inputName(0), v.from, multiplyAll(v.window.in), v.tapPlaces(), taps)
	dy := v.batchInside(v.addOp("Reshape", []string{v.dy, v.constInts(0, v.to, places)}), v.to)
	sum := ""
	if g == 1 {
		sum = v.addOp("MatMul", []string{dy, v.addOp("Reshape", []string{columns, v.constInts(-1, taps*v.from)})})
	} else {
		columns = v.addOp("Reshape", []string{columns, v.constInts(-1, taps, g, v.from/g)})
		columns = v.addOp("Transpose", []string{columns}, graph.Ints("perm", 2, 0, 1, 3))
		columns = v.addOp("Reshape", []string{columns, v.constInts(g, -1, taps*v.from/g)})
		sum = v.addOp("MatMul", []string{v.addOp("Reshape", []string{dy, v.constInts(g, v.to/g, -1)}), columns})
	}
	if taps == 1 {
		return v.reshapeLike(sum, v.call.inputName(1))
	}
	return v.channelsFirst(sum)
}

// channelsFirst converts the gradient [O, taps·C/g] to [O, C/g, kernel…]. The last node must be a Transpose: a Reshape
// at the end would need another copy into the output memory.
func (v *convolution) channelsFirst(sum string) string {
	sum = v.addOp("Reshape", []string{sum, v.constInts(slices.Concat([]int64{v.to}, v.kernel,
		[]int64{v.from / v.groups})...)})
	perm := []int64{0, int64(len(v.kernel)) + 1}
	for i := range v.kernel {
		perm = append(perm, int64(i)+1)
	}
	return v.addOp("Transpose", []string{sum}, graph.Ints("perm", perm...))
}

// weightsByRows returns Σ_N [N, kw·C·kh, out]·[N, O, out]ᵀ. It takes one slice per tap along the width, then gathers
// whole rows.
func (v *convolution) weightsByRows() string {
	kh, kw := v.kernel[0], v.kernel[1]
	padded := v.addPadding(v.call.inputName(0), v.window, "")
	var parts []string
	for t := range kw {
		start := t * v.dilation[1]
		parts = append(parts, v.addOp("Slice", []string{padded, v.constInts(start),
			v.constInts(start + (v.out[1]-1)*v.stride[1] + 1), v.constInts(3), v.constInts(v.stride[1])}))
	}
	columns := parts[0]
	if len(parts) > 1 {
		columns = v.addOp("Concat", parts, graph.Int("axis", 1))
	}
	var rows []int32
	for t := range kh {
		for o := range v.out[0] {
			rows = append(rows, int32(o*v.stride[0]+t*v.dilation[0]))
		}
	}
	columns = v.addOp("Gather", []string{columns, v.constIndices(rows, v.out[0])}, graph.Int("axis", 2))
	columns = v.addOp("Reshape", []string{columns, v.constInts(0, kw*v.from*kh, v.countPlaces())})
	dy := v.addOp("Reshape", []string{v.dy, v.constInts(0, v.to, v.countPlaces())})
	sum := v.addOp("ReduceSum", []string{v.call.emitProduct(columns, 3, false, dy, 3, true), v.constInts(0)},
		graph.Int("keepdims", 0))
	sum = v.addOp("Transpose", []string{v.addOp("Reshape", []string{sum, v.constInts(kw, v.from, kh, v.to)})},
		graph.Ints("perm", 3, 1, 2, 0))
	return sum
}
