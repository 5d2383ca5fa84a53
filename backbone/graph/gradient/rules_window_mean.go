package gradient

import (
	"fmt"
	"slices"

	"winnow/backbone/graph"
)

func errFree(c *call, tensor string) error {
	return fmt.Errorf("found input %q of shape %v, expected known sizes after [N, C]", tensor, c.forwardShape(tensor))
}

// averagePool divides each window's gradient equally among the places that it averaged.
func averagePool(c *call) error {
	w, err := c.readWindow(c.Ints("kernel_shape"))
	if err != nil {
		return err
	}
	channels, err := c.channelCount(c.inputName(0))
	if err != nil {
		return err
	}
	dy := c.addOp("Mul", []string{c.grad[0], c.windowShares(w)})
	one := append([]int64{-1, 1}, w.out...)
	ones := c.addConstant(fmt.Sprint("ones", c.dtypeOf(c.inputName(0)), w.kernel), func(name string) *graph.Tensor {
		return graph.NewTensor(
			name,
			slices.Repeat([]float32{1}, int(w.countTaps())),
			append([]int64{1, 1}, w.kernel...)...)
	})
	spread := c.transposedConv(w, c.addOp("Reshape", []string{dy, c.constInts(one...)}), ones, 1)
	c.giveGrad(0, c.addOp("Reshape", []string{spread, c.constInts(append([]int64{-1, channels}, w.in...)...)}))
	return nil
}

// windowShares returns a constant [out…] of 1/(number of places that each window averages). With count_include_pad all
// places within the declared padding count, otherwise only those inside the input.
func (c *call) windowShares(w *window) string {
	include := c.Int("count_include_pad", 0) != 0
	counts := []float64{1}
	for i := range w.in {
		var next []float64
		for _, so := range counts {
			for o := range w.out[i] {
				n := 0
				for t := range w.kernel[i] {
					at := o*w.stride[i] - w.before[i] + t*w.dilation[i]
					inside := at >= 0 && at < w.in[i]
					if include {
						inside = at < w.in[i]+w.declaredAfter[i]
					}
					if inside {
						n++
					}
				}
				next = append(next, so*float64(n))
			}
		}
		counts = next
	}
	return c.constNumbers(fmt.Sprint("shares", include, *w), c.inputName(0), counts, w.out, func(v float64) float64 {
		return 1 / max(v, 1)
	})
}

// constNumbers returns a constant of f(v) for each value v, with the element type of the forward tensor like.
func (c *call) constNumbers(key, like string, values []float64, dims []int64, f func(float64) float64) string {
	t := c.dtypeOf(like)
	return c.addConstant(fmt.Sprint(key, t), func(name string) *graph.Tensor {
		list := make([]float64, len(values))
		for i, v := range values {
			list[i] = f(v)
		}
		return newFloatTensor(t, name, list, dims...)
	})
}

// globalAveragePool divides a channel's gradient equally among its places.
func globalAveragePool(c *call) error {
	x := c.inputName(0)
	to, places := []int64{1, 1}, int64(1)
	shape := c.forwardShape(x)
	if len(shape) < 3 {
		return errFree(c, x)
	}
	for _, d := range shape[2:] {
		if !d.Known() {
			return errFree(c, x)
		}
		to, places = append(to, d.Size), places*d.Size
	}
	share := c.addOp("Mul", []string{c.grad[0], c.constScalar(x, 1/float64(places))})
	c.giveGrad(0, c.addOp("Expand", []string{share, c.constInts(to...)}))
	return nil
}
