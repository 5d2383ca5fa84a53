package gradient

import (
	"fmt"
	"slices"
	"strings"

	"winnow/backbone/graph"
)

// einsum: the gradient of a factor is the sum of products of the output's gradient with the other factors, with the
// factor's letters. Letters that no other has were summed over alone: the gradient is the same at all their places.
func deriveEinsum(c *call) error {
	terms, right, err := c.readEquation()
	if err != nil {
		return err
	}
	for i, term := range terms {
		if !c.wantsGrad(i) {
			continue
		}
		inputs, from := []string{c.grad[0]}, []string{right}
		for j, other := range terms {
			if j != i {
				inputs, from = append(inputs, c.inputName(j)), append(from, other)
			}
		}
		all, kept := strings.Join(from, ","), ""
		var alone []int64
		for at, letter := range term {
			switch {
			case strings.Count(term, string(letter)) > 1:
				return fmt.Errorf("found %q twice in one factor, expected different letters", letter)
			case strings.ContainsRune(all, letter):
				kept += string(letter)
			default:
				alone = append(alone, int64(at))
			}
		}
		grad := c.addOp("Einsum", inputs, graph.String("equation", all+"->"+kept))
		if len(alone) > 0 {
			grad = c.addOp("Unsqueeze", []string{grad, c.constInts(alone...)})
			grad = c.addOp("Expand", []string{grad, c.addForward("Shape", []string{c.inputName(i)})})
		}
		if slices.ContainsFunc(c.forwardShape(c.inputName(i)), isOne) {
			return fmt.Errorf("found shape %v, expected no axis of one element, which may be repeated",
				c.forwardShape(c.inputName(i)))
		}
		c.giveGrad(i, grad)
	}
	return nil
}

// readEquation returns the letters of the factors and of the result, with letters in place of dots.
func (c *call) readEquation() (terms []string, right string, err error) {
	text := strings.ReplaceAll(c.Text("equation", ""), " ", "")
	left, right, explicit := strings.Cut(text, "->")
	terms = strings.Split(left, ",")
	if !explicit || len(terms) != len(c.Inputs) {
		return nil, "", fmt.Errorf("found equation %q, expected one with -> and %d factors", text, len(c.Inputs))
	}
	free := strings.Map(func(letter rune) rune {
		if strings.ContainsRune(text, letter) {
			return -1
		}
		return letter
	}, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	for i, term := range terms {
		more := len(c.forwardShape(c.inputName(i))) - len(strings.ReplaceAll(term, "...", ""))
		if c.forwardShape(c.inputName(i)) == nil || more < 0 || more > len(free) {
			return nil, "", fmt.Errorf("%q: %w", c.inputName(i), errRank)
		}
		terms[i] = strings.ReplaceAll(term, "...", free[len(free)-more:])
	}
	more := len(c.forwardShape(c.Outputs[0])) - len(strings.ReplaceAll(right, "...", ""))
	return terms, strings.ReplaceAll(right, "...", free[len(free)-max(more, 0):]), nil
}

// depthToSpace puts the blocks back: SpaceToDepth is the inverse of the mode DCR; of CRD the channels come first.
func depthToSpace(c *call) error {
	b := c.Int("blocksize", 1)
	if c.Text("mode", "DCR") == "DCR" {
		c.giveGrad(0, c.addOp("SpaceToDepth", []string{c.grad[0]}, graph.Int("blocksize", b)))
		return nil
	}
	s := c.forwardShape(c.inputName(0))
	if len(s) != 4 || !s[1].Known() || !s[2].Known() || !s[3].Known() {
		return errFree(c, c.inputName(0))
	}
	apart := c.addOp("Reshape", []string{c.grad[0], c.constInts(-1, s[1].Size/(b*b), s[2].Size, b, s[3].Size, b)})
	c.giveGrad(0, c.reshapeLike(c.addOp("Transpose", []string{apart}, graph.Ints("perm", 0, 1, 3, 5, 2, 4)),
		c.inputName(0)))
	return nil
}

func spaceToDepth(c *call) error {
	c.giveGrad(0, c.addOp("DepthToSpace", []string{c.grad[0]}, graph.Int("blocksize", c.Int("blocksize", 1))))
	return nil
}

// deriveTrilu keeps the gradient of the triangle that was kept.
func deriveTrilu(c *call) error {
	c.giveGrad(0, c.addOp("Trilu", append([]string{c.grad[0]}, c.Inputs[1:]...), graph.Int("upper", c.Int("upper", 1))))
	return nil
}

// convTranspose differentiates Y = ConvTranspose(X, W, b), the transpose of a convolution from Y to X:
//
//	∂L/∂X = Conv(∂L/∂Y, W)
//	∂L/∂W[c,o,t] = Σ_{n,p} X[n,c,p] · ∂L/∂Y[n, o, p·stride - before + t·dilation]
//
// the second a convolution of ∂L/∂Y by X with images as channels, where stride and dilation change places.
func convTranspose(c *call) error {
	x, dy := c.inputName(0), c.grad[0]
	sizes, err := c.fixedSizes(c.inputName(1))
	if err != nil {
		return err
	}
	xs, ys, n := c.forwardShape(x), c.forwardShape(c.Outputs[0]), len(sizes)-2
	groups, strides, dilations := c.Int("group", 1), c.spatialCopy("strides", n, 1), c.spatialCopy("dilations", n, 1)
	pads := c.spatialCopy("pads", 2*n, 0)
	if auto := c.Text("auto_pad", "NOTSET"); auto != "NOTSET" || c.Ints("output_shape") != nil {
		return fmt.Errorf("found auto_pad %s or output_shape, expected pads", auto)
	}
	for i := range n {
		if len(xs) != n+2 || len(ys) != n+2 || !xs[2+i].Known() || !ys[2+i].Known() {
			return errFree(c, x)
		}
		// what the last window reads, without what output_padding added
		pads[n+i] = (xs[2+i].Size-1)*strides[i] + dilations[i]*(sizes[2+i]-1) + 1 - ys[2+i].Size - pads[i]
	}
	if slices.Min(pads) < 0 {
		whole := make([]int64, 2*(n+2))
		for i := range n {
			whole[n+4+i] = min(pads[n+i], 0)
			pads[n+i] = max(pads[n+i], 0)
		}
		dy = c.addOp("Pad", []string{dy, c.constInts(whole...)})
	}
	windows := func(strides, dilations, kernel []int64) []*graph.Attribute {
		return []*graph.Attribute{graph.Ints("strides", strides...), graph.Ints("dilations", dilations...),
			graph.Ints("pads", pads...), graph.Ints("kernel_shape", kernel...)}
	}
	if c.wantsGrad(0) {
		c.giveGrad(0, c.addOp("Conv", []string{dy, c.inputName(1)}, append(windows(strides, dilations, sizes[2:]),
			graph.Int("group", groups))...))
	}
	c.giveGrad(2, c.overPlaces(c.grad[0], n+2))
	if !c.wantsGrad(1) {
		return nil
	}
	turn := allAxes(n + 2)
	turn[0], turn[1] = 1, 0
	cut := func(t string, group, channels int64) string { // [channels,N,…] of one group
		if groups > 1 {
			t = c.addOp("Slice", []string{t, c.constInts(group * channels), c.constInts((group + 1) * channels),
				c.constInts(1)})
		}
		return c.addOp("Transpose", []string{t}, graph.Ints("perm", turn...))
	}
	var kernel []int64
	for _, d := range xs[2:] {
		kernel = append(kernel, d.Size)
	}
	var parts []string
	for g := range groups {
		part := c.addOp("Conv", []string{cut(dy, g, sizes[1]), cut(x, g, sizes[0]/groups)}, windows(dilations, strides,
			kernel)...)
		parts = append(parts, c.addOp("Transpose", []string{part}, graph.Ints("perm", turn...)))
	}
	if groups > 1 {
		parts = []string{c.addOp("Concat", parts, graph.Int("axis", 0))}
	}
	c.giveGrad(1, parts[0])
	return nil
}
