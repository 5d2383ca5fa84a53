package gradient

import (
	"fmt"
	"slices"
	"strings"

	"winnow/backbone/graph"
)

// einsum: the gradient of a factor is the sum of products of the output's gradient with the other factors, with the
// factor's letters. Letters that no other has were summed over alone: the gradient is the same at all their places.
func einsum(c *call) error {
	terms, right, err := c.equation()
	if err != nil {
		return err
	}
	for i, term := range terms {
		if !c.wants(i) {
			continue
		}
		inputs, from := []string{c.grad[0]}, []string{right}
		for j, other := range terms {
			if j != i {
				inputs, from = append(inputs, c.in(j)), append(from, other)
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
		grad := c.op("Einsum", inputs, graph.String("equation", all+"->"+kept))
		if len(alone) > 0 {
			grad = c.op("Unsqueeze", []string{grad, c.ints(alone...)})
			grad = c.op("Expand", []string{grad, c.before("Shape", []string{c.in(i)})})
		}
		if slices.ContainsFunc(c.shape(c.in(i)), one) {
			return fmt.Errorf("found shape %v, expected no axis of one element, which may be repeated",
				c.shape(c.in(i)))
		}
		c.give(i, grad)
	}
	return nil
}

// equation returns the letters of the factors and of the result, with letters in place of dots.
func (c *call) equation() (terms []string, right string, err error) {
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
		more := len(c.shape(c.in(i))) - len(strings.ReplaceAll(term, "...", ""))
		if c.shape(c.in(i)) == nil || more < 0 || more > len(free) {
			return nil, "", fmt.Errorf("%q: %w", c.in(i), errRank)
		}
		terms[i] = strings.ReplaceAll(term, "...", free[len(free)-more:])
	}
	more := len(c.shape(c.Outputs[0])) - len(strings.ReplaceAll(right, "...", ""))
	return terms, strings.ReplaceAll(right, "...", free[len(free)-max(more, 0):]), nil
}

// depthToSpace puts the blocks back: SpaceToDepth is the inverse of the mode DCR; of CRD the channels come first.
func depthToSpace(c *call) error {
	b := c.Int("blocksize", 1)
	if c.Text("mode", "DCR") == "DCR" {
		c.give(0, c.op("SpaceToDepth", []string{c.grad[0]}, graph.Int("blocksize", b)))
		return nil
	}
	s := c.shape(c.in(0))
	if len(s) != 4 || !s[1].Known() || !s[2].Known() || !s[3].Known() {
		return errFree(c, c.in(0))
	}
	apart := c.op("Reshape", []string{c.grad[0], c.ints(-1, s[1].Size/(b*b), s[2].Size, b, s[3].Size, b)})
	c.give(0, c.like(c.op("Transpose", []string{apart}, graph.Ints("perm", 0, 1, 3, 5, 2, 4)), c.in(0)))
	return nil
}

func spaceToDepth(c *call) error {
	c.give(0, c.op("DepthToSpace", []string{c.grad[0]}, graph.Int("blocksize", c.Int("blocksize", 1))))
	return nil
}

// trilu keeps the gradient of the triangle that was kept.
func trilu(c *call) error {
	c.give(0, c.op("Trilu", append([]string{c.grad[0]}, c.Inputs[1:]...), graph.Int("upper", c.Int("upper", 1))))
	return nil
}

// convTranspose differentiates Y = ConvTranspose(X, W, b), the transpose of a convolution from Y to X:
//
//	∂L/∂X = Conv(∂L/∂Y, W)
//	∂L/∂W[c,o,t] = Σ_{n,p} X[n,c,p] · ∂L/∂Y[n, o, p·stride - before + t·dilation]
//
// the second a convolution of ∂L/∂Y by X with images as channels, where stride and dilation change places.
func convTranspose(c *call) error {
	x, dy := c.in(0), c.grad[0]
	sizes, err := c.fixedSizes(c.in(1))
	if err != nil {
		return err
	}
	xs, ys, n := c.shape(x), c.shape(c.Outputs[0]), len(sizes)-2
	groups, strides, dilations := c.Int("group", 1), c.spatial("strides", n, 1), c.spatial("dilations", n, 1)
	pads := c.spatial("pads", 2*n, 0)
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
		dy = c.op("Pad", []string{dy, c.ints(whole...)})
	}
	windows := func(strides, dilations, kernel []int64) []*graph.Attribute {
		return []*graph.Attribute{graph.Ints("strides", strides...), graph.Ints("dilations", dilations...),
			graph.Ints("pads", pads...), graph.Ints("kernel_shape", kernel...)}
	}
	if c.wants(0) {
		c.give(0, c.op("Conv", []string{dy, c.in(1)}, append(windows(strides, dilations, sizes[2:]),
			graph.Int("group", groups))...))
	}
	c.give(2, c.overPlaces(c.grad[0], n+2))
	if !c.wants(1) {
		return nil
	}
	turn := all(n + 2)
	turn[0], turn[1] = 1, 0
	cut := func(t string, group, channels int64) string { // [channels,N,…] of one group
		if groups > 1 {
			t = c.op("Slice", []string{t, c.ints(group * channels), c.ints((group + 1) * channels), c.ints(1)})
		}
		return c.op("Transpose", []string{t}, graph.Ints("perm", turn...))
	}
	var kernel []int64
	for _, d := range xs[2:] {
		kernel = append(kernel, d.Size)
	}
	var parts []string
	for g := range groups {
		part := c.op("Conv", []string{cut(dy, g, sizes[1]), cut(x, g, sizes[0]/groups)}, windows(dilations, strides,
			kernel)...)
		parts = append(parts, c.op("Transpose", []string{part}, graph.Ints("perm", turn...)))
	}
	if groups > 1 {
		parts = []string{c.op("Concat", parts, graph.Int("axis", 0))}
	}
	c.give(1, parts[0])
	return nil
}
