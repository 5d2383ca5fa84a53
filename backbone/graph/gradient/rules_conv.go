package gradient

import (
	"encoding/binary"
	"slices"

	"winnow/backbone/graph"
)

// deriveConv differentiates Y = Conv(X, W, b), X [N, C, in…], W [O, C/g, kernel…], Y [N, O, out…]:
//
//	∂L/∂W[o,c,t] = Σ_{n,p} ∂L/∂Y[n,o,p] · X[n, c, p·stride - before + t·dilation]
//	∂L/∂X[n,c,q] = Σ_{o,t} ∂L/∂Y[n,o,p] · W[o,c,t]   over the p with p·stride - before + t·dilation = q
//	∂L/∂b[o]     = Σ_{n,p} ∂L/∂Y[n,o,p]
//
// Each of these can be written with ONNX's operators in several ways; see inputGrad and weightGrad. Their costs were
// measured on two cores with ONNX Runtime 1.29 (BenchmarkTraining).
func deriveConv(c *call) error {
	sizes, err := c.fixedSizes(c.inputName(1))
	if err != nil {
		return err
	}
	w, err := c.readWindow(sizes[2:])
	if err != nil {
		return err
	}
	groups := c.Int("group", 1)
	v := &convolution{call: c, window: w, dy: c.grad[0], groups: groups, to: sizes[0], from: sizes[1] * groups}
	if op, windows := v.ours(); op != "" {
		v.kernelGrad(op, windows)
		return nil
	}
	if v.cudaGrad() {
		return nil
	}
	if c.wantsGrad(0) {
		c.giveGrad(0, v.inputGrad())
	}
	if c.wantsGrad(1) {
		c.giveGrad(1, v.weightGrad())
	}
	if c.wantsGrad(2) {
		c.giveGrad(2, c.overPlaces(v.dy, 2+len(w.in)))
	}
	return nil
}

// convolution is one Conv during the backward walk over the nodes.
type convolution struct {
	*call
	*window
	dy       string
	groups   int64
	from, to int64 // channels of X and of Y
}

// isPointwise reports whether each window is a single place: kernel 1×1, stride 1, no padding.
func (w *window) isPointwise() bool {
	return w.countTaps() == 1 && slices.Equal(w.in, w.out) && w.isUnpadded()
}

func (w *window) isUnpadded() bool {
	return !slices.ContainsFunc(slices.Concat(w.before, w.after), func(p int64) bool { return p > 0 })
}

// isDense reports whether a window starts at every place, that is, all strides are 1.
func (w *window) isDense() bool {
	return !slices.ContainsFunc(w.stride, func(s int64) bool { return s != 1 })
}

// gatherColumns gathers the values that the windows read of t [N, channels, places] into [N, windows, taps, channels].
// index holds the place for each window and tap, or -1 for a place outside, which reads as zero. With the channels
// last a place is contiguous in memory, and Gather copies on all cores, while Slice, Pad and Concat use one core.
func (c *call) gatherColumns(t string, channels, places int64, index []int32, taps int64) string {
	last := c.addOp("Transpose", []string{c.addOp("Reshape", []string{t, c.constInts(0, channels, places)})},
		graph.Ints("perm", 0, 2, 1))
	if slices.Contains(index, -1) {
		last = c.addOp("Pad", []string{last, c.constInts(0, 0, 0, 0, 1, 0)})
		index = indexBehind(index, places)
	}
	return c.addOp("Gather", []string{last, c.constIndices(index, taps)}, graph.Int("axis", 1))
}

// indexBehind replaces -1 by the index after the last place, where a zero is stored.
func indexBehind(index []int32, places int64) []int32 {
	index = slices.Clone(index)
	for i, at := range index {
		if at < 0 {
			index[i] = int32(places)
		}
	}
	return index
}

// constIndices returns a constant [rows, cols] of indices of places.
func (c *call) constIndices(index []int32, cols int64) string {
	key, _ := binary.Append([]byte("places"), binary.LittleEndian, index)
	return c.addConstant(string(key), func(name string) *graph.Tensor {
		return graph.NewTensor(name, index, int64(len(index))/cols, cols)
	})
}

// tapPlaces lists for each window and tap the input place that the tap reads, or -1 for a place outside.
func (w *window) tapPlaces() []int32 {
	return w.indexTable(w.out, func(axis int, window, tap int64) int64 {
		return placeWithin(window*w.stride[axis]-w.before[axis]+tap*w.dilation[axis], w.in[axis])
	}, w.in)
}

// readBy lists for each input place and tap the window whose tap reads the place, or -1.
func (w *window) readBy() []int32 {
	return w.indexTable(w.in, func(axis int, place, tap int64) int64 {
		at := place + w.before[axis] - tap*w.dilation[axis]
		if at < 0 || at%w.stride[axis] != 0 {
			return -1
		}
		return placeWithin(at/w.stride[axis], w.out[axis])
	}, w.out)
}

func placeWithin(at, size int64) int64 {
	if at < 0 || at >= size {
		return -1
	}
	return at
}

// indexTable returns the row-major index into target of at(axis, place, tap) for all places and taps, or -1 if at
// returns -1 for any axis.
func (w *window) indexTable(places []int64, at func(axis int, place, tap int64) int64, target []int64) []int32 {
	index := []int32{0}
	rows, cols := int64(1), int64(1)
	for axis := range places {
		next := make([]int32, 0, int64(len(index))*places[axis]*w.kernel[axis])
		for r := range rows {
			for p := range places[axis] {
				for c := range cols {
					for t := range w.kernel[axis] {
						here, so := at(axis, p, t), index[r*cols+c]
						if here < 0 || so < 0 {
							next = append(next, -1)
						} else {
							next = append(next, so*int32(target[axis])+int32(here))
						}
					}
				}
			}
		}
		index, rows, cols = next, rows*places[axis], cols*w.kernel[axis]
	}
	return index
}
