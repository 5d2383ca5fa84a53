package gradient_test

import (
	"maps"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"winnow/backbone/graph"
	"winnow/internal/testing/orttest"
)

// bends lists the values where an activation after a convolution has no derivative. A value within a rounding error of
// a bend may be on either side.
var bends = []float64{-0.5, 0, 0.1, 0.7}

// behind lists the operators that may follow a convolution so that the kernels include their derivatives.
var behind = map[string]func(b *graph.Builder, x string) string{
	"nothing": func(b *graph.Builder, x string) string { return x },
	"Relu":    func(b *graph.Builder, x string) string { return b.Node("Relu", []string{x}) },
	"Clip": func(b *graph.Builder, x string) string {
		low, high := b.Constant(graph.NewTensor("low", []float32{-0.5})),
			b.Constant(graph.NewTensor("high", []float32{0.7}))
		return b.Node("Clip", []string{x, low, high})
	},
	"Clip from below": func(b *graph.Builder, x string) string {
		return b.Node("Clip", []string{x, b.Constant(graph.NewTensor("low", []float32{0.1}))})
	},
	// The value in between is read twice, so it must be an output.
	"Relu and a sum": func(b *graph.Builder, x string) string {
		return b.Node("Add", []string{x, b.Node("Relu", []string{x})})
	},
}

// drawDepthwise draws a depthwise convolution along two axes, with sizes around the vector widths 4, 8 and 16.
func drawDepthwise(t *rapid.T) geometry {
	size, pad := rapid.Int64Range(1, 35), rapid.Int64Range(0, 3)
	channels := rapid.Int64Range(1, 67).Draw(t, "channels")
	g := geometry{batch: rapid.Int64Range(1, 3).Draw(t, "batch"), from: channels, to: channels, groups: channels,
		pads: make([]int64, 4), bias: rapid.Bool().Draw(t, "bias")}
	for i := range 2 {
		k, s, d := rapid.Int64Range(1, 5).Draw(t, "kernel"), rapid.Int64Range(1, 4).Draw(t, "stride"),
			rapid.Int64Range(1, 3).Draw(t, "dilation")
		g.pads[i], g.pads[2+i] = pad.Draw(t, "before"), pad.Draw(t, "after")
		in := max(size.Draw(t, "size"), d*(k-1)+1-g.pads[i]-g.pads[2+i])
		g.in, g.kernel, g.stride, g.dilation = append(g.in, in), append(g.kernel, k), append(g.stride, s),
			append(g.dilation, d)
	}
	g.fill()
	return g
}

// followed builds the convolution and the operator after it.
func (g geometry) followed(next func(b *graph.Builder, x string) string, kernels bool) ruleCase {
	in := []array{g.x, g.w}
	if g.bias {
		in = append(in, drawn(3, -1, 1, g.to))
	}
	conv := op("Conv", graph.Ints("strides", g.stride...), graph.Ints("dilations", g.dilation...),
		graph.Ints("pads", g.pads...), graph.Int("group", g.groups))
	return ruleCase{typ: graph.Float32, in: in, kernels: kernels, build: func(b *graph.Builder, in []string) string {
		return next(b, conv(b, in))
	}}
}

// run returns the output and all gradients of a case, and the names of winnow's operators in both models. The output
// places listed in silent get no gradient.
func (c ruleCase) run(t testing.TB, silent ...int) (results []array, ours []string) {
	t.Helper()
	d, values, err := c.derivative()
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(t, d, graph.Float32)
	defer m.close()
	tensors := m.forward(values)
	y := arrayOf(tensors[d.Output])
	for _, model := range []*graph.Model{d.Forward, d.Backward} {
		for _, n := range model.Graph.Nodes {
			if n.Domain == "winnow" {
				ours = append(ours, n.Op)
			}
		}
	}
	dy := drawn(7, -1, 1, y.dims...)
	for _, i := range silent {
		dy.data[i] = 0
	}
	return append([]array{y}, m.backward(tensors, dy)...), ours
}

// bent lists the output places of a convolution whose values are within a rounding error of a bend.
func (g geometry) bent(t testing.TB) (at []int) {
	results, _ := g.followed(behind["nothing"], false).run(t)
	for i, v := range results[0].data {
		if slices.ContainsFunc(bends, func(b float64) bool { return math.Abs(v-b) < 1e-4 }) {
			at = append(at, i)
		}
	}
	return at
}

// farthest returns the largest difference between two arrays relative to the norm of the first, or relative to least
// if that is larger, because sums may cancel.
func farthest(a, b array, least float64) float64 {
	if !slices.Equal(a.dims, b.dims) {
		return math.Inf(1)
	}
	norm, worst := least*least, 0.0
	for i, v := range a.data {
		norm += v * v
		worst = max(worst, math.Abs(v-b.data[i]))
	}
	return worst / math.Sqrt(norm)
}

// drawConv3x3 draws a convolution for Winograd's algorithm: also maps of one place or one column, odd sizes, channels
// around the vector widths, and more than one group of tiles.
func drawConv3x3(t *rapid.T) geometry {
	size, pad, channels := rapid.Int64Range(1, 19), rapid.Int64Range(0, 2), rapid.Int64Range(16, 70)
	g := geometry{batch: rapid.Int64Range(1, 3).Draw(t, "batch"), from: channels.Draw(t, "from"),
		to: channels.Draw(t, "to"), groups: 1,
		kernel: []int64{3, 3}, stride: []int64{1, 1}, dilation: []int64{1, 1}, pads: make([]int64, 4),
		bias: rapid.Bool().Draw(t, "bias")}
	for i := range 2 {
		g.pads[i], g.pads[2+i] = pad.Draw(t, "before"), pad.Draw(t, "after")
		g.in = append(g.in, max(size.Draw(t, "size"), 3-g.pads[i]-g.pads[2+i]))
	}
	g.fill()
	return g
}

// TestKernels checks that the outputs and gradients of the kernels equal those of ONNX's operators.
func TestKernels(t *testing.T) {
	t.Run("Depthwise", func(t *testing.T) { testKernel(t, "Depthwise", drawDepthwise, 2e-6) })
	t.Run("Conv3x3", func(t *testing.T) { testKernel(t, "Conv3x3", drawConv3x3, 2e-6) })
}

func testKernel(t *testing.T, op string, draw func(*rapid.T) geometry, limit float64) {
	rapid.Check(t, func(r *rapid.T) {
		g, next := draw(r), behind[rapid.SampledFrom(slices.Sorted(maps.Keys(behind))).Draw(r, "behind")]
		silent := g.bent(t)
		want, _ := g.followed(next, false).run(t, silent...)
		got, ours := g.followed(next, true).run(t, silent...)
		if !slices.Contains(ours, op) || !slices.Contains(ours, op+"Grad") {
			r.Fatalf("found winnow's operators %q, expected %s and %[2]sGrad", ours, op)
		}
		terms := float64(len(want[0].data)) / float64(g.to)
		for i := range want {
			if off := farthest(want[i], got[i], math.Sqrt(terms)); !(off < limit) {
				r.Fatalf("%v kernel %v strides %v dilations %v pads %v: result %d is off by %.3g", g.x.dims, g.kernel,
					g.stride, g.dilation, g.pads, i, off)
			}
		}
	})
}

// TestConv3x3NotFinite checks that a value that is not finite with ONNX's operators is not finite with the kernels
// either, and that it spreads only over the tiles that read it.
func TestConv3x3NotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		g := square(16, 17, 1, 11, 3, 1)
		g.x.data[5*11+6] = bad // in the first image and channel
		want, _ := g.followed(behind["Relu"], false).run(t)
		got, _ := g.followed(behind["Relu"], true).run(t)
		finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
		for i, v := range want[0].data {
			row, col := i/11%11, i%11
			near := i < 17*11*11 && row >= 4 && row <= 7 && col >= 4 && col <= 7
			if !finite(v) && finite(got[0].data[i]) || !near && !(math.Abs(v-got[0].data[i]) < 1e-4) {
				t.Fatalf("%v at row 5, column 6: at row %d, column %d of %d found %g, expected %g", bad, row, col,
					i/121, got[0].data[i], v)
			}
		}
		for i, v := range want[2].data {
			if i/9%16 == 0 && !finite(v) && finite(got[2].data[i]) { // the other weights read only finite numbers
				t.Fatalf("%v: the gradient of weight %d is %g, with ONNX's operators %g", bad, i, got[2].data[i], v)
			}
		}
	}
}

// TestKernelInstructions repeats the kernels' tests with each instruction set of the processor, in separate processes,
// and without kernels.
func TestKernelInstructions(t *testing.T) {
	orttest.Runtime(t)
	if os.Getenv("WINNOW_TEST_KERNELS") != "" {
		t.Skip("inside a child process")
	}
	tested := 0
	for _, set := range []string{"plain", "avx2", "avx512"} {
		c := exec.Command(os.Args[0],
			"-test.run=^TestKernels$|^TestConv3x3NotFinite$|^TestPoolKernels$|^TestConvAgainstDefinition$|"+
				"^TestNetworkKernels$/^(mobilenet|resnet18)", "-rapid.checks=30")
		c.Env = append(os.Environ(), "WINNOW_TEST_KERNELS="+set)
		out, err := c.CombinedOutput()
		switch {
		case err == nil:
			tested++
		case set != "plain" && !supports(set):
			t.Logf("%s: not on this processor", set)
		default:
			t.Errorf("%s: %v\n%s", set, err, out)
		}
	}
	t.Logf("%d instruction sets tested", tested)
}

// supports reports whether the processor has an instruction set, according to the operating system.
func supports(set string) bool {
	text, err := os.ReadFile("/proc/cpuinfo")
	return err == nil && strings.Contains(string(text),
		map[string]string{"avx2": " avx2 ", "avx512": " avx512bw "}[set])
}

// TestPoolKernels tests the kernels of MaxPool, with and without a Relu before it, on values that are often equal.
func TestPoolKernels(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		g := drawDepthwise(r)
		behindRelu, ceil := rapid.Bool().Draw(r, "Relu"), rapid.Int64Range(0, 1).Draw(r, "ceil_mode")
		for i := range 2 { // padding must be less than the window
			g.pads[i], g.pads[2+i] = min(g.pads[i], g.kernel[i]-1), min(g.pads[2+i], g.kernel[i]-1)
			g.in[i] = max(g.in[i], g.dilation[i]*(g.kernel[i]-1)+1)
		}
		x := drawn(1, -1, 1, slices.Concat([]int64{g.batch, g.from}, g.in)...)
		for i, v := range x.data {
			x.data[i] = math.Round(4*v) / 4
		}
		c := ruleCase{typ: graph.Float32, in: []array{x}, build: func(b *graph.Builder, in []string) string {
			y := b.Node("Mul", []string{in[0], b.Constant(graph.NewTensor("twice", []float32{2}))})
			if behindRelu {
				y = b.Node("Relu", []string{y})
			}
			return b.Node("MaxPool", []string{y}, graph.Ints("kernel_shape", g.kernel...),
				graph.Ints("strides", g.stride...),
				graph.Ints("dilations", g.dilation...), graph.Ints("pads", g.pads...), graph.Int("ceil_mode", ceil))
		}}
		want, _ := c.run(t)
		c.kernels = true
		got, ours := c.run(t)
		if !slices.Equal(ours[:2], []string{"MaxPool", "MaxPoolGrad"}) {
			r.Fatalf("found winnow's operators %q, expected MaxPool and MaxPoolGrad", ours)
		}
		for i := range want {
			if off := farthest(want[i], got[i], 1); !(off < 1e-6) {
				r.Fatalf("%v kernel %v strides %v dilations %v pads %v: result %d is off by %.3g", x.dims, g.kernel,
					g.stride, g.dilation, g.pads, i, off)
			}
		}
	})
}
