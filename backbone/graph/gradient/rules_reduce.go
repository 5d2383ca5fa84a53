package gradient

import (
	"errors"
	"fmt"
	"slices"

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

// over returns the rule of a y = f(x) that reduces axes. f computes from the standing ∂L/∂y the gradient of
// each element of x, either whole or still to be spread.
func over(f func(c *call, r reduction, y, dy string) (grad string, whole bool)) rule {
	return func(c *call) error {
		r, err := c.reduction()
		if err != nil {
			return err
		}
		grad, whole := f(c, r, c.Outputs[0], c.standing(c.grad[0], r))
		if !whole {
			grad = c.spread(grad, r)
		}
		c.give(0, grad)
		return nil
	}
}

// reduceSum gives every summand the gradient.
var reduceSum = over(func(_ *call, _ reduction, _, dy string) (string, bool) { return dy, false })

// reduceMean gives every summand its share.
var reduceMean = over(func(c *call, r reduction, _, dy string) (string, bool) { return c.div(dy, c.count(r)), false })

// reduceSumSquare has the slope 2x.
func reduceSumSquare(c *call) error { return c.overSome(sumSquare) }

var sumSquare = over(func(c *call, r reduction, _, dy string) (string, bool) {
	return c.mul(r.x, c.scaled(dy, 2)), true
})

// overSome rejects a reduction over no axes: runtimes disagree on whether the element is then squared.
func (c *call) overSome(then rule) error {
	if r, err := c.reduction(); err == nil && len(r.axes) == 0 && len(c.shape(r.x)) > 0 {
		return errors.New("found no axes and noop_with_empty_axes, expected axes")
	}
	return then(c)
}

// reduceL2: y = √Σx² has the slope x/y, and 0 where y is 0, as in torch.
func reduceL2(c *call) error { return c.overSome(l2) }

var l2 = over(func(c *call, r reduction, y, dy string) (string, bool) {
	y = c.standing(y, r)
	zero := c.scalar(r.x, 0)
	share := c.choose(c.op("Greater", []string{y, zero}), c.div(dy, y), zero)
	return c.mul(r.x, share), true
})

// reduceExtreme shares the gradient among all elements that are the largest, or smallest, as torch's amax does.
var reduceExtreme = over(func(c *call, r reduction, y, dy string) (string, bool) {
	taken := c.castLike(c.op("Equal", []string{r.x, c.standing(y, r)}), r.x)
	if len(r.axes) == 0 {
		return dy, true
	}
	return c.mul(taken, c.div(dy, c.total(taken, r.axes))), true
})

var errRank = errors.New("its rank is not known")
