package gradient_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"winnow/backbone/graph"
)

// apart returns numbers that differ by at least 0.1, in random order, so that a step of a central difference does not
// change which number is the largest.
func apart(seed uint64, dims ...int64) array {
	a := drawn(seed, 0, 1, dims...)
	for i, p := range rand.New(rand.NewPCG(seed, 2)).Perm(len(a.data)) {
		a.data[i] = 0.1 * float64(p-len(a.data)/2)
	}
	return a
}

// shifted05 moves numbers away from Relu's bend.
func shifted05(a array) array {
	for i := range a.data {
		a.data[i] += 0.05
	}
	return a
}

func TestPools(t *testing.T) {
	kernel := func(k ...int64) *graph.Attribute { return graph.Ints("kernel_shape", k...) }
	strides, pads := func(k ...int64) *graph.Attribute { return graph.Ints("strides", k...) },
		func(k ...int64) *graph.Attribute {
			return graph.Ints("pads", k...)
		}
	x := func(dims ...int64) array { return apart(1, dims...) }
	for _, pool := range []string{"MaxPool", "AveragePool"} {
		t.Run(pool, func(t *testing.T) {
			cases := []ruleCase{
				f32("2x2/2", op(pool, kernel(2, 2), strides(2, 2)), x(2, 2, 4, 6)),
				f32("2x2/2, remainder", op(pool, kernel(2, 2), strides(2, 2)), x(2, 2, 5, 7)),
				f32("3x3/2, pads", op(pool, kernel(3, 3), strides(2, 2), pads(1, 1, 1, 1)), x(2, 2, 6, 7)),
				f32("3x3/2, ceil", op(pool, kernel(3, 3), strides(2, 2), graph.Int("ceil_mode", 1)), x(2, 2, 6, 8)),
				f32("3x3/2, ceil, pads", op(pool, kernel(3, 3), strides(2, 2), pads(1, 1, 1, 1),
					graph.Int("ceil_mode", 1)), x(2, 2, 6, 5)),
				f32("3x3/1, pads", op(pool, kernel(3, 3), pads(1, 1, 1, 1)), x(2, 2, 4, 5)),
				f32("3x2/1", op(pool, kernel(3, 2)), x(2, 2, 4, 5)),
				f32("asymmetric", op(pool, kernel(3, 2), strides(1, 2), pads(0, 1, 2, 0)), x(2, 2, 4, 5)),
				f32("stride beyond the kernel", op(pool, kernel(2, 1), strides(3, 2)), x(2, 2, 8, 5)),
				f32("SAME_UPPER", op(pool, kernel(3, 2), strides(2, 2), graph.String("auto_pad", "SAME_UPPER")),
					x(2, 2, 6, 5)),
				f32("SAME_LOWER", op(pool, kernel(3, 2), strides(2, 2), graph.String("auto_pad", "SAME_LOWER")),
					x(2, 2, 6, 5)),
				f32("1-D", op(pool, kernel(3), strides(2)), x(2, 2, 9)),
				f32("3-D", op(pool, kernel(2, 2, 3), strides(1, 2, 2)), x(2, 2, 3, 4, 5)),
			}
			if pool == "AveragePool" {
				for _, c := range cases {
					build := c.build
					c.name += ", counting pads"
					c.build = func(b *graph.Builder, in []string) string {
						out := build(b, in)
						n := b.Model().Graph.Nodes[len(b.Model().Graph.Nodes)-1]
						n.Attributes = append(n.Attributes, graph.Int("count_include_pad", 1))
						return out
					}
					cases = append(cases, c)
				}
			} else {
				cases = append(cases, f32("dilations",
					op(pool, kernel(2, 3), graph.Ints("dilations", 2, 2), pads(1, 1, 1, 1)), x(2, 2, 5, 6)))
			}
			runCases(t, cases)
		})
	}
	old := func(c ruleCase, opset int64) ruleCase { c.opset = opset; return c }
	runCases(t, []ruleCase{
		old(f32("MaxPool, set 7", op("MaxPool", kernel(3, 3), strides(2, 2), pads(1, 1, 1, 1)), x(2, 2, 6, 7)), 7),
		f32("MaxPool, columns first", op("MaxPool", kernel(2, 3), graph.Int("storage_order", 1)), x(2, 2, 5, 6)),
		old(f32("MaxPool behind Relu, set 7", func(b *graph.Builder, in []string) string {
			return b.Node("MaxPool", []string{b.Node("Relu", in)}, kernel(2, 2), strides(2, 2))
		}, shifted05(x(2, 2, 4, 6))), 7),
		f32("GlobalAveragePool", op("GlobalAveragePool"), x(2, 3, 4, 5)),
		f32("GlobalMaxPool", op("GlobalMaxPool"), x(2, 3, 4, 5)),
		f32("GlobalAveragePool 1-D", op("GlobalAveragePool"), x(2, 3, 4)),
		f32("GlobalMaxPool 3-D", op("GlobalMaxPool"), x(2, 3, 2, 3, 2)),
	})
}

// TestMaxPoolBehindRelu checks that the gradient is cut before it is spread, unless another node also reads the Relu.
func TestMaxPoolBehindRelu(t *testing.T) {
	pool := func(b *graph.Builder, x string) string {
		return b.Node("MaxPool", []string{x}, graph.Ints("kernel_shape", 3, 3), graph.Ints("strides", 2, 2),
			graph.Ints("pads", 1, 1, 1, 1))
	}
	behind := func(b *graph.Builder, in []string) string { return b.Node("Relu", in) }
	x := apart(1, 2, 2, 6, 7)
	for i := range x.data {
		x.data[i] += 0.05 // away from Relu's bend
	}
	alone := f32("alone", func(b *graph.Builder, in []string) string { return pool(b, behind(b, in)) }, x)
	both := f32("with another reader", func(b *graph.Builder, in []string) string {
		y := behind(b, in)
		return b.Node("Add", []string{pool(b, y), b.Node("ReduceMean", []string{y}, graph.Ints("axes", 2, 3))})
	}, x)
	both.opset = 13
	nothing := alone
	nothing.name, nothing.in = "nothing positive",
		[]array{{dims: []int64{1, 1, 4, 4}, data: slices.Repeat([]float64{-1}, 16)}}
	runCases(t, []ruleCase{alone, both, nothing})

	d, _, err := alone.derivative()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range d.Saved {
		for _, n := range d.Forward.Graph.Nodes {
			if n.Op == "Relu" && n.Outputs[0] == name {
				t.Errorf("the output of Relu is stored")
			}
		}
	}
}

func TestBatchStatistics(t *testing.T) {
	x := drawn(1, -2, 2, 3, 4, 2, 3)
	channel := func(seed uint64, lo, hi float64) array { return drawn(seed, lo, hi, 4) }
	bn := ruleCase{name: "BatchNormalization", in: []array{x, channel(2, -1, 1), channel(3, -1, 1), channel(4, -1, 1),
		channel(5, 0.5, 2)},
		build: op("BatchNormalization", graph.Float("epsilon", 0.01))}
	flat := bn
	flat.name, flat.in = "BatchNormalization of rows", append([]array{drawn(6, -2, 2, 5, 4)}, bn.in[1:]...)
	runCases(t, []ruleCase{bn, flat,
		f32("LRN", op("LRN", graph.Int("size", 3), graph.Float("alpha", 0.5), graph.Float("beta", 0.75),
			graph.Float("bias", 1.5)), drawn(1, -1, 1, 2, 5, 2, 3)),
		f32("LRN of one", op("LRN", graph.Int("size", 1), graph.Float("alpha", 0.5)), drawn(1, -1, 1, 2, 3, 2, 2)),
	})
}

// TestMaxPoolTies checks that the first of several equal maxima in a window gets the whole gradient.
func TestMaxPoolTies(t *testing.T) {
	ones := array{dims: []int64{1, 1, 4, 4}, data: slices.Repeat([]float64{1}, 16)}
	for _, c := range []struct {
		name string
		op   func(*graph.Builder, []string) string
		want []float64
	}{
		{"2x2/2", op("MaxPool", graph.Ints("kernel_shape", 2, 2), graph.Ints("strides", 2, 2)),
			[]float64{1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 0, 0}},
		{"3x3/2, pads", op("MaxPool", graph.Ints("kernel_shape", 3, 3), graph.Ints("strides", 2, 2),
			graph.Ints("pads", 1, 1, 0, 0)), []float64{1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
		{"3x3/1, overlapping", op("MaxPool", graph.Ints("kernel_shape", 3, 3), graph.Ints("pads", 1, 1, 0, 0)),
			[]float64{1 + 2 + 4 + 5, 3 + 6, 0, 0, 7 + 8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
		{"GlobalMaxPool", op("GlobalMaxPool"), []float64{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
	} {
		d, values, err := f32(c.name, c.op, ones).derivative()
		if err != nil {
			t.Fatal(err)
		}
		m := newMachine(t, d, graph.Float32)
		tensors := m.forward(values)
		y := arrayOf(tensors[d.Output])
		for i := range y.data {
			y.data[i] = float64(i + 1)
		}
		if got := m.backward(tensors, y)[0].data; !slices.Equal(got, c.want) {
			t.Errorf("%s: found %v, expected %v", c.name, got, c.want)
		}
	}
}

// TestSpoiledPoolsAndNormsAreSeen changes one node of each derivative. Central differences must detect the change.
func TestSpoiledPoolsAndNormsAreSeen(t *testing.T) {
	kernel, overlap := graph.Ints("kernel_shape", 3, 3), graph.Ints("strides", 1, 1)
	for _, c := range []struct {
		ruleCase
		spoil func(m *graph.Model) bool
	}{
		{f32("MaxPool", op("MaxPool", kernel, overlap), apart(1, 2, 2, 5, 6)), func(m *graph.Model) bool {
			for _, n := range m.Graph.Nodes {
				if n.Op == "ScatterElements" {
					n.Attributes = nil // the last window overwrites instead of adding
					return true
				}
			}
			return false
		}},
		{f32("AveragePool", op("AveragePool", kernel, overlap, graph.Ints("pads", 1, 1, 1, 1)), apart(1, 2, 2, 5, 6)),
			without("Mul")},
		{f32("GlobalMaxPool", op("GlobalMaxPool"), apart(1, 2, 2, 5, 6)), func(m *graph.Model) bool {
			for _, n := range m.Graph.Nodes {
				if n.Op == "ArgMax" {
					n.Op = "ArgMin"
					return true
				}
			}
			return false
		}},
		{f32("GlobalAveragePool", op("GlobalAveragePool"), apart(1, 2, 2, 5, 6)), without("Mul")},
		{f32("LRN", op("LRN", graph.Int("size", 3), graph.Float("alpha", 0.5)), drawn(1, -1, 1, 2, 5, 2, 3)),
			without("Sub")},
		{f32("BatchNormalization", op("BatchNormalization"), drawn(1, -2, 2, 3, 4, 2, 3), drawn(2, 0.5, 1, 4),
			drawn(3, -1, 1, 4), drawn(4, -1, 1, 4), drawn(5, 0.5, 2, 4)), without("Neg")},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, values, err := c.derivative()
			if err != nil {
				t.Fatal(err)
			}
			if off := difference(t, d, values, c.typ); !(off < 1e-2) {
				t.Fatalf("unspoiled: off by %.3g", off)
			}
			if !c.spoil(d.Backward) {
				t.Fatalf("found no node to spoil among %s", ops(d.Backward))
			}
			if off := difference(t, d, values, c.typ); !(off > 0.05) {
				t.Errorf("spoiled: a wrong gradient passed, off by %.3g", off)
			}
		})
	}
}
