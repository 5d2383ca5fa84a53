package gradient_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
)

// geometry is a convolution with random shape.
type geometry struct {
	batch, from, to, groups            int64
	in, kernel, stride, dilation, pads []int64
	out                                []int64
	bias, kernels                      bool
	x, w                               array
}

// drawGeometry draws a convolution along 1, 2 or 3 axes, with sizes on both sides of every choice that the rule makes.
func drawGeometry(t *rapid.T) geometry {
	axes := rapid.SampledFrom([]int{2, 2, 2, 1, 3}).Draw(t, "axes")
	many := axes == 2 && rapid.Bool().Draw(t, "many places")
	g := geometry{batch: rapid.Int64Range(1, 2).Draw(t, "batch"), groups: 1, pads: make([]int64, 2*axes),
		bias: rapid.Bool().Draw(t, "bias")}
	channels := rapid.SampledFrom([]int64{1, 2, 3, 9, 17})
	g.from, g.to = channels.Draw(t, "from"), channels.Draw(t, "to")
	switch rapid.SampledFrom([]string{"one", "one", "groups", "depthwise"}).Draw(t, "groups") {
	case "groups":
		g.groups, g.from, g.to = 2, 2*rapid.Int64Range(1, 3).Draw(t, "half from"),
			2*rapid.Int64Range(1, 3).Draw(t, "half to")
	case "depthwise":
		g.groups, g.to = g.from, g.from*rapid.Int64Range(1, 2).Draw(t, "filters a channel")
	}
	for i := range axes {
		size := rapid.Int64Range(1, 6).Draw(t, "size")
		if many {
			size = rapid.Int64Range(14, 19).Draw(t, "large size")
		}
		k, s, d := rapid.Int64Range(1, 3).Draw(t, "kernel"), rapid.SampledFrom([]int64{1, 1, 2, 3}).Draw(t, "stride"),
			rapid.Int64Range(1, 2).Draw(t, "dilation")
		g.pads[i], g.pads[axes+i] = rapid.Int64Range(0, 2).Draw(t, "before"), rapid.Int64Range(0, 2).Draw(t, "after")
		size = max(size, d*(k-1)+1-g.pads[i]-g.pads[axes+i])
		g.in, g.kernel, g.stride, g.dilation = append(g.in, size), append(g.kernel, k), append(g.stride, s),
			append(g.dilation, d)
		g.out = append(g.out, (size+g.pads[i]+g.pads[axes+i]-d*(k-1)-1)/s+1)
	}
	if rapid.Bool().Draw(t, "same stride") {
		for i := range g.stride {
			g.stride[i] = g.stride[0]
			g.out[i] = (g.in[i]+g.pads[i]+g.pads[axes+i]-g.dilation[i]*(g.kernel[i]-1)-1)/g.stride[i] + 1
		}
	}
	g.fill()
	return g
}

func (g *geometry) fill() {
	g.x = drawn(1, -1, 1, slices.Concat([]int64{g.batch, g.from}, g.in)...)
	g.w = drawn(2, -1, 1, slices.Concat([]int64{g.to, g.from / g.groups}, g.kernel)...)
}

func (g geometry) derivative(t interface{ Fatal(...any) }) (*gradient.Derivative, map[string]array) {
	in := []array{g.x, g.w}
	if g.bias {
		in = append(in, drawn(3, -1, 1, g.to))
	}
	d, values, err := ruleCase{typ: graph.Float32, in: in,
		build: op("Conv", graph.Ints("strides", g.stride...), graph.Ints("dilations", g.dilation...),
			graph.Ints("pads", g.pads...), graph.Int("group", g.groups)), kernels: g.kernels}.derivative()
	if err != nil {
		t.Fatal(err)
	}
	return d, values
}

// places calls visit for all tuples of indices below sizes.
func places(sizes []int64, visit func(at []int64)) {
	at := make([]int64, len(sizes))
	for {
		visit(at)
		i := len(sizes) - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < sizes[i] {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

func flat(at, sizes []int64) (i int64) {
	for axis, v := range at {
		i = i*sizes[axis] + v
	}
	return i
}

// slow returns the gradients of Σ dy·Conv(x, w, b) with respect to x, w and b by definition, in float64. sizes are the
// sums of the terms' magnitudes, to which rounding errors are relative.
func (g geometry) slow(dy array) (grads, sizes [3][]float64) {
	for i, n := range []int{len(g.x.data), len(g.w.data), int(g.to)} {
		grads[i], sizes[i] = make([]float64, n), make([]float64, n)
	}
	term := func(of int, at int64, v float64) {
		grads[of][at] += v
		sizes[of][at] += math.Abs(v)
	}
	perIn, perOut := g.from/g.groups, g.to/g.groups
	source := make([]int64, len(g.in))
	places(slices.Concat([]int64{g.batch, g.to}, g.out), func(y []int64) {
		slope := dy.data[flat(y, dy.dims)]
		term(2, y[1], slope)
		places(slices.Concat([]int64{perIn}, g.kernel), func(tap []int64) {
			for i := range source {
				source[i] = y[2+i]*g.stride[i] - g.pads[i] + tap[1+i]*g.dilation[i]
				if source[i] < 0 || source[i] >= g.in[i] {
					return
				}
			}
			xi := flat(slices.Concat([]int64{y[0], y[1]/perOut*perIn + tap[0]}, source), g.x.dims)
			wi := flat(slices.Concat(y[1:2], tap), g.w.dims)
			term(0, xi, slope*g.w.data[wi])
			term(1, wi, slope*g.x.data[xi])
		})
	})
	return grads, sizes
}

// tiled reports whether Winograd's algorithm may be used. It adds and subtracts whole tiles of a plane, so that a
// small number next to large ones has the rounding error of the large ones.
func (g geometry) tiled() bool {
	ones := []int64{1, 1}
	return g.groups == 1 && slices.Equal(g.kernel, []int64{3, 3}) && slices.Equal(g.stride, ones) &&
		slices.Equal(g.dilation, ones)
}

// spread replaces each number in a plane of n numbers by the largest number in the plane.
func spread(sizes []float64, n int) {
	for plane := range slices.Chunk(sizes, n) {
		largest := slices.Max(plane)
		for i := range plane {
			plane[i] = largest
		}
	}
}

// compare runs a derivative and returns the largest difference to the slow gradients, relative to the magnitude of
// their terms.
func (g geometry) compare(t testing.TB, d *gradient.Derivative, values map[string]array) float64 {
	m := newMachine(t, d, graph.Float32)
	defer m.close()
	tensors := m.forward(values)
	y := arrayOf(tensors[d.Output])
	dy := drawn(7, -1, 1, y.dims...)
	got := m.backward(tensors, dy)
	want, sizes := g.slow(dy)
	if g.kernels && g.tiled() {
		spread(sizes[0], int(g.in[0]*g.in[1]))
		spread(sizes[1], int(g.kernel[0]*g.kernel[1]))
	}
	var worst float64
	for i := range got {
		if len(got[i].data) != len(want[i]) {
			t.Fatalf("gradient %d has %d numbers, expected %d", i, len(got[i].data), len(want[i]))
		}
		for j, v := range want[i] {
			worst = max(worst, math.Abs(v-got[i].data[j])/max(sizes[i][j], 1e-6))
		}
	}
	return worst
}

const exactly = 2e-6 // limit relative to the magnitude of a gradient's terms, in float32

func TestConvAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		g := drawGeometry(r)
		for _, g.kernels = range []bool{false, true} {
			d, values := g.derivative(r)
			if off := g.compare(t, d, values); !(off < exactly) {
				g.x, g.w = array{}, array{}
				r.Fatalf("%+v: off by %.3g", g, off)
			}
		}
	})
}

// chosen lists convolutions that are differentiated in different ways, each with a change that spoils its way.
var chosen = []struct {
	name  string
	g     geometry
	spoil func(m *graph.Model) bool
}{
	{"columns", square(17, 18, 1, 5, 3, 1), spoilTable("Gather")},
	{"columns of groups", square(4, 6, 2, 5, 3, 1), spoilTable("Gather")},
	{"rows", square(3, 4, 1, 9, 3, 2), spoilTable("Gather")},
	{"turned filters", square(3, 4, 1, 9, 3, 1), without("Slice")},
	{"turned filters of groups", square(4, 6, 2, 9, 3, 1), without("Slice")},
	{"transposed", square(3, 4, 1, 9, 3, 2), spoilInts("ConvTranspose", "pads", 0, 0, 2, 2)},
	{"depthwise", square(4, 4, 4, 9, 3, 2), spoilTable("Gather")},
	{"depthwise kernel", withKernels(square(4, 4, 4, 9, 3, 2)), spoilInts("DepthwiseGrad", "pads", 0, 0, 2, 2)},
	{"3x3 kernel", withKernels(square(17, 18, 1, 9, 3, 1)), spoilInts("Conv3x3Grad", "pads", 0, 0, 2, 2)},
}

func square(from, to, groups, side, kernel, stride int64) geometry {
	g := geometry{batch: 2, from: from, to: to, groups: groups, in: []int64{side, side},
		kernel: []int64{kernel, kernel},
		stride: []int64{stride, stride}, dilation: []int64{1, 1}, pads: []int64{1, 1, 1, 1}, bias: true}
	g.out = []int64{(side+2-kernel)/stride + 1, (side+2-kernel)/stride + 1}
	g.fill()
	return g
}

func withKernels(g geometry) geometry {
	g.kernels = true
	return g
}

// spoilTable swaps the first two different numbers in a constant table that an operator reads.
func spoilTable(op string) func(*graph.Model) bool {
	return func(m *graph.Model) bool {
		for _, n := range m.Graph.Nodes {
			if n.Op != op {
				continue
			}
			for i, t := range m.Graph.Initializers {
				if t.Name != n.Inputs[1] {
					continue
				}
				list, _ := t.Int64s()
				for j := range list {
					if list[j] != list[0] {
						list[0], list[j] = list[j], list[0]
						if t.Type == graph.Int32 {
							small := make([]int32, len(list))
							for k, v := range list {
								small[k] = int32(v)
							}
							m.Graph.Initializers[i] = graph.NewTensor(t.Name, small, t.Dims...)
						} else {
							m.Graph.Initializers[i] = graph.NewTensor(t.Name, list, t.Dims...)
						}
						return true
					}
				}
			}
		}
		return false
	}
}

// without replaces an operator by its first input.
func without(op string) func(*graph.Model) bool {
	return func(m *graph.Model) bool {
		for _, n := range m.Graph.Nodes {
			if n.Op == op {
				n.Op, n.Inputs, n.Attributes = "Identity", n.Inputs[:1], nil
				return true
			}
		}
		return false
	}
}

// spoilInts changes a list attribute of an operator.
func spoilInts(op, name string, list ...int64) func(*graph.Model) bool {
	return func(m *graph.Model) bool {
		for _, n := range m.Graph.Nodes {
			if n.Op == op {
				n.Attribute(name).Ints = list
				return true
			}
		}
		return false
	}
}

// TestSpoiledConvIsSeen runs each way of differentiating, correct and spoiled. The comparison must detect the spoiled
// one.
func TestSpoiledConvIsSeen(t *testing.T) {
	for _, c := range chosen {
		t.Run(c.name, func(t *testing.T) {
			d, values := c.g.derivative(t)
			if off := c.g.compare(t, d, values); !(off < exactly) {
				t.Fatalf("unspoiled: off by %.3g", off)
			}
			if !c.spoil(d.Backward) {
				t.Fatalf("found no node to spoil among %s", ops(d.Backward))
			}
			if off := c.g.compare(t, d, values); !(off > 1e-3) {
				t.Errorf("spoiled: a wrong gradient passed, off by %.3g", off)
			}
		})
	}
}

func ops(m *graph.Model) string {
	var list []string
	for _, n := range m.Graph.Nodes {
		list = append(list, n.Op)
	}
	return fmt.Sprint(list)
}
