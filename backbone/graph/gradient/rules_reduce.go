package gradient

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"winnow/backbone/graph"
)

// reduction describes the axes of x that a Reduce node reduces, none negative.
type reduction struct {
	x    string
	axes []int64
	kept bool // the output keeps the axes, with size 1
}

// readReduction reads a Reduce node. Its axes are an attribute or, in newer operator sets, an input. If they are
// omitted, all axes are reduced, or none if noop_with_empty_axes is set.
func (c *call) readReduction() (reduction, error) {
	x := c.inputName(0)
	shape := c.forwardShape(x)
	if shape == nil {
		return reduction{}, fmt.Errorf("%q: %w", x, errRank)
	}
	axes, err := c.readAxes(1, "axes", len(shape))
	if err == nil && len(axes) == 0 && c.Int("noop_with_empty_axes", 0) == 0 {
		axes = allAxes(len(shape))
	}
	return reduction{x: x, axes: axes, kept: c.Int("keepdims", 1) != 0}, err
}

// readAxes returns a list of axes, none negative, or nil if the list is omitted.
func (c *call) readAxes(i int, attribute string, rank int) ([]int64, error) {
	axes, err := c.readIntList(i, attribute)
	list := slices.Clone(axes)
	for j, a := range axes {
		if a < 0 {
			list[j] = a + int64(rank)
		}
		if list[j] < 0 || list[j] >= int64(rank) {
			return nil, fmt.Errorf("axes %v: out of range for rank %d", axes, rank)
		}
	}
	return list, err
}

// allAxes returns the list of axes of a tensor of this rank.
func allAxes(rank int) []int64 {
	axes := make([]int64, rank)
	for a := range axes {
		axes[a] = int64(a)
	}
	return axes
}

// readIntList returns a list of integers, which newer operator sets give as the i-th input and older ones as an
// attribute. It returns nil if the list is omitted.
func (c *call) readIntList(i int, attribute string) ([]int64, error) {
	if c.inputName(i) == "" {
		return c.Ints(attribute), nil
	}
	v, ok := c.knownInts(c.inputName(i))
	if !ok {
		return nil, fmt.Errorf("%s: %q is known only when the network runs, expected a constant", attribute,
			c.inputName(i))
	}
	return v, nil
}

// standReduced reshapes a tensor of the output's shape to have the reduced axes with size 1.
func (c *call) standReduced(t string, r reduction) string {
	if r.kept || len(r.axes) == 0 {
		return t
	}
	return c.addOp("Unsqueeze", []string{t, c.constInts(r.axes...)})
}

// spreadReduced repeats the result of standReduced along the reduced axes.
func (c *call) spreadReduced(t string, r reduction) string {
	if len(r.axes) == 0 {
		return t
	}
	shape := c.forwardShape(r.x)
	to := slices.Repeat([]int64{1}, len(shape))
	for _, a := range r.axes {
		if !shape[a].Known() {
			return c.addOp("Expand", []string{t, c.addForward("Shape", []string{r.x})})
		}
		to[a] = shape[a].Size
	}
	return c.addOp("Expand", []string{t, c.constInts(to...)})
}

// countSummed returns the number of elements in each sum, as a constant if the sizes are known.
func (c *call) countSummed(r reduction) string {
	shape, n := c.forwardShape(r.x), 1.0
	for _, a := range r.axes {
		if !shape[a].Known() {
			sizes := c.addOp("Gather", []string{c.addForward("Shape", []string{r.x}), c.constInts(r.axes...)})
			return c.castLike(c.addOp("ReduceProd", []string{sizes}, graph.Int("keepdims", 0)), r.x)
		}
		n *= float64(shape[a].Size)
	}
	return c.constScalar(r.x, n)
}

// reduceRule returns the rule of a reduction y = f(x). In its formula y and dy have the reduced axes with size 1;
// spread repeats a tensor along these axes, total sums over them, count is the number of elements, and cast casts
// booleans to numbers.
func reduceRule(formula string) rule {
	return func(c *call) error {
		r, err := c.readReduction()
		if err != nil {
			return err
		}
		names := map[string]any{"y": c.standReduced(c.Outputs[0], r), "dy": c.standReduced(c.grad[0], r),
			"spread": func(t string) string { return c.spreadReduced(t, r) },
			"cast":   func(t string) string { return c.castLike(t, r.x) },
			"total": func(t string) string {
				if len(r.axes) == 0 {
					return t
				}
				return c.emitTotal(t, r.axes)
			}}
		if strings.Contains(formula, "count") {
			names["count"] = c.countSummed(r)
		}
		c.giveGrad(0, c.addFormula(formula, names))
		return nil
	}
}

// overSome is like reduceRule, but rejects a reduction over no axes, because runtimes differ on whether f is then
// applied to the elements.
func overSome(formula string) rule {
	return func(c *call) error {
		if r, err := c.readReduction(); err == nil && len(r.axes) == 0 && len(c.forwardShape(r.x)) > 0 {
			return errors.New("found no axes and noop_with_empty_axes, expected axes")
		}
		return reduceRule(formula)(c)
	}
}

var errRank = errors.New("the rank is not known")
