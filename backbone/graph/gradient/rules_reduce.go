package gradient

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"winnow/backbone/graph"
)

// reduction describes what a node sums over: axes of x, none negative.
type reduction struct {
	x    string
	axes []int64
	kept bool // the axes stay, with size 1
}

// reduction reads a Reduce node. Its axes are an attribute or, in newer operator sets, an input. If they are
// omitted it is over all axes, or over none with noop_with_empty_axes.
func (c *call) reduction() (reduction, error) {
	x := c.in(0)
	shape := c.shape(x)
	if shape == nil {
		return reduction{}, fmt.Errorf("%q: %w", x, errRank)
	}
	axes, err := c.axes(1, "axes", len(shape))
	if err == nil && len(axes) == 0 && c.Int("noop_with_empty_axes", 0) == 0 {
		axes = all(len(shape))
	}
	return reduction{x: x, axes: axes, kept: c.Int("keepdims", 1) != 0}, err
}

// axes returns a list of axes, none negative, or nil if it is omitted.
func (c *call) axes(i int, attribute string, rank int) ([]int64, error) {
	axes, err := c.list(i, attribute)
	list := slices.Clone(axes)
	for j, a := range axes {
		if a < 0 {
			list[j] = a + int64(rank)
		}
		if list[j] < 0 || list[j] >= int64(rank) {
			return nil, fmt.Errorf("axes %v: found rank %d", axes, rank)
		}
	}
	return list, err
}

// all returns the axes of a rank.
func all(rank int) []int64 {
	axes := make([]int64, rank)
	for a := range axes {
		axes[a] = int64(a)
	}
	return axes
}

// list returns a list of integers that newer operator sets give as the i-th input and older ones as an
// attribute, or nil if it is omitted.
func (c *call) list(i int, attribute string) ([]int64, error) {
	if c.in(i) == "" {
		return c.Ints(attribute), nil
	}
	v, ok := c.known(c.in(i))
	if !ok {
		return nil, fmt.Errorf("%s: %q is computed when the network runs, expected a constant", attribute, c.in(i))
	}
	return v, nil
}

// standing reshapes a tensor of the output's shape so that it has the reduced axes, with size 1.
func (c *call) standing(t string, r reduction) string {
	if r.kept || len(r.axes) == 0 {
		return t
	}
	return c.op("Unsqueeze", []string{t, c.ints(r.axes...)})
}

// spread repeats a standing tensor along the reduced axes.
func (c *call) spread(t string, r reduction) string {
	if len(r.axes) == 0 {
		return t
	}
	shape := c.shape(r.x)
	to := slices.Repeat([]int64{1}, len(shape))
	for _, a := range r.axes {
		if !shape[a].Known() {
			return c.op("Expand", []string{t, c.before("Shape", []string{r.x})})
		}
		to[a] = shape[a].Size
	}
	return c.op("Expand", []string{t, c.ints(to...)})
}

// count returns the number of elements in each sum: a constant if the sizes are known.
func (c *call) count(r reduction) string {
	shape, n := c.shape(r.x), 1.0
	for _, a := range r.axes {
		if !shape[a].Known() {
			sizes := c.op("Gather", []string{c.before("Shape", []string{r.x}), c.ints(r.axes...)})
			return c.castLike(c.op("ReduceProd", []string{sizes}, graph.Int("keepdims", 0)), r.x)
		}
		n *= float64(shape[a].Size)
	}
	return c.scalar(r.x, n)
}

// over returns the rule of a y = f(x) that reduces axes. In its formula y and dy have the reduced axes, with size 1;
// spread repeats a tensor along them, total sums over them, count is the number of elements and cast casts to numbers.
func over(formula string) rule {
	return func(c *call) error {
		r, err := c.reduction()
		if err != nil {
			return err
		}
		names := map[string]any{"y": c.standing(c.Outputs[0], r), "dy": c.standing(c.grad[0], r),
			"spread": func(t string) string { return c.spread(t, r) },
			"cast":   func(t string) string { return c.castLike(t, r.x) },
			"total": func(t string) string {
				if len(r.axes) == 0 {
					return t
				}
				return c.total(t, r.axes)
			}}
		if strings.Contains(formula, "count") {
			names["count"] = c.count(r)
		}
		c.give(0, c.formula(formula, names))
		return nil
	}
}

// overSome is over, and rejects a reduction over no axes: runtimes disagree on whether f is then applied to the
// elements.
func overSome(formula string) rule {
	return func(c *call) error {
		if r, err := c.reduction(); err == nil && len(r.axes) == 0 && len(c.shape(r.x)) > 0 {
			return errors.New("found no axes and noop_with_empty_axes, expected axes")
		}
		return over(formula)(c)
	}
}

// cumSum sums the gradient from the other end.
func cumSum(c *call) error {
	c.give(0, c.op("CumSum", []string{c.grad[0], c.in(1)}, graph.Int("exclusive", c.Int("exclusive", 0)),
		graph.Int("reverse", 1-c.Int("reverse", 0))))
	return nil
}

// topK puts the gradient back at the places that were taken.
func topK(c *call) error {
	if c.grad[0] != "" {
		c.give(0, c.op("ScatterElements", []string{c.zeros(c.in(0)), c.output(1), c.grad[0]},
			graph.Int("axis", c.Int("axis", -1))))
	}
	return nil
}

var errRank = errors.New("its rank is not known")
