package gradient

import (
	"fmt"
	"slices"

	"winnow/backbone/graph"
)

// batchNorm differentiates BatchNormalization with fixed statistics, an affine map per channel:
//
//	y = scale·(x-mean)·r + bias,  r = 1/√(var+ε)
//	∂L/∂x = ∂L/∂y·scale·r   ∂L/∂scale = r·Σ ∂L/∂y·(x-mean)   ∂L/∂bias = Σ ∂L/∂y
//	∂L/∂mean = -scale·r·Σ ∂L/∂y   ∂L/∂var = -½·scale·r³·Σ ∂L/∂y·(x-mean)
//
// The sums are over batch and places.
func batchNorm(c *call) error {
	x := c.inputName(0)
	if c.Int("spatial", 1) == 0 {
		return fmt.Errorf("found spatial 0, expected 1 (statistics per channel, not per place)")
	}
	channels, err := c.channelCount(x)
	if err != nil {
		return err
	}
	rank := len(c.forwardShape(x))
	column := c.constInts(append([]int64{channels}, slices.Repeat([]int64{1}, rank-2)...)...)
	names := map[string]any{"scale": c.inputName(1), "mean": c.inputName(3), "variance": c.inputName(4),
		"epsilon": float64(c.Float("epsilon", 1e-5)),
		"sum":     func(t string) string { return c.overPlaces(t, rank) },
		"wide":    func(t string) string { return c.addOp("Reshape", []string{t, column}) }}
	names["root"] = c.addFormula("Sqrt(variance + epsilon)", names)
	names["slope"] = c.addFormula("scale/root", names)
	for i, text := range []string{"dy*wide(slope)", "sum(dy*(x - wide(mean)))/root", "sum(dy)", "-(slope*sum(dy))",
		"slope/(root*root)*-0.5*sum(dy*(x - wide(mean)))"} {
		if c.wantsGrad(i) {
			c.giveGrad(i, c.addFormula(text, names))
		}
	}
	return nil
}

// deriveLRN differentiates y = x·d^-β, d_c = bias + α/size·Σ_{c'∈w(c)} x_c'², w(c) = c-⌊(size-1)/2⌋ … c+⌈(size-1)/2⌉:
//
//	∂L/∂x_c = ∂L/∂y_c·d_c^-β - 2αβ/size · x_c · Σ_{c'': c∈w(c'')} ∂L/∂y_c''·x_c''·d_c''^(-β-1)
func deriveLRN(c *call) error {
	x := c.inputName(0)
	channels, err := c.channelCount(x)
	if err != nil {
		return err
	}
	size := c.Int("size", 1)
	alpha, beta, bias := float64(c.Float("alpha", 0.0001)), float64(c.Float("beta", 0.75)), float64(c.Float("bias", 1))
	below, above := (size-1)/2, size/2
	squares := c.acrossChannels(c.addOp("Mul", []string{x, x}), channels, below, above)
	names := map[string]any{"beta": beta, "share": alpha / float64(size)}
	names["squares"], names["bias"] = squares, bias
	names["d"] = c.addFormula("squares*share + bias", names)
	names["scaled"] = c.addFormula("dy*Pow(d, -beta)", names)
	names["spread"] = c.acrossChannels(c.addFormula("scaled*x/d", names), channels, above, below)
	c.giveGrad(0, c.addFormula("scaled - x*(spread*(2*share*beta))", names))
	return nil
}

// acrossChannels sums t [N, C, …] over the channels c-below … c+above. On CUDA a product with a band matrix of ones
// takes a tenth of the time of Pad and Slice.
func (c *call) acrossChannels(t string, channels, below, above int64) string {
	if below+above == 0 {
		return t
	}
	if c.r.o.Kernels == ForCUDA && c.isFloat32(c.inputName(0)) {
		band := make([]float32, channels*channels)
		for i := range channels {
			for j := max(i-below, 0); j <= min(i+above, channels-1); j++ {
				band[i*channels+j] = 1
			}
		}
		ones := c.addConstant(fmt.Sprint("band", channels, below, above), func(name string) *graph.Tensor {
			return graph.NewTensor(name, band, channels, channels)
		})
		sum := c.emitProduct(ones, 2, false, c.addOp("Reshape", []string{t, c.constInts(0, channels, -1)}), 3, false)
		return c.reshapeLike(sum, c.inputName(0))
	}
	pads := make([]int64, 2*len(c.forwardShape(c.inputName(0))))
	pads[1], pads[len(pads)/2+1] = below, above
	padded := c.addOp("Pad", []string{t, c.constInts(pads...)})
	var parts []string
	for i := range below + above + 1 {
		parts = append(parts, c.addOp("Slice", []string{padded, c.constInts(i), c.constInts(i + channels),
			c.constInts(1)}))
	}
	return c.addOp("Sum", parts)
}
