package gradient_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
)

// norm returns a builder of BatchNormalization over the inputs x, scale, bias with running statistics 0.5 and 2.
func norm(channels int64, attributes ...*graph.Attribute) func(b *graph.Builder, in []string) string {
	return func(b *graph.Builder, in []string) string {
		running := func(name string, v float64) string {
			list := make([]float64, channels)
			for i := range list {
				list[i] = v
			}
			return b.Constant(graph.NewTensor(name, list, channels))
		}
		return b.Node("BatchNormalization", append(in[:3:3], running("mean", 0.5), running("var", 2)), attributes...)
	}
}

func TestTrainedNorm(t *testing.T) {
	var cases []ruleCase
	for _, dims := range [][]int64{{4, 3, 2, 5}, {6, 3}, {3, 3, 4}, {1, 3, 2, 2}, {2, 3, 2, 2, 2}} {
		for _, opset := range []int64{9, 13, 17, 18} {
			cases = append(cases, ruleCase{
				name: fmt.Sprint(dims, opset), opset: opset, in: []array{drawn(1, -1, 3, dims...), x(2, 3), x(3, 3)},
				build: norm(3), norms: gradient.BatchNorm{Train: true},
			})
		}
	}
	a := func() []array { return []array{drawn(1, -1, 3, 4, 3, 2, 5), x(2, 3), x(3, 3)} }
	train := gradient.BatchNorm{Train: true}
	cases = append(cases,
		ruleCase{name: "float32", typ: graph.Float32, in: a(), build: func(b *graph.Builder, in []string) string {
			stat := func(name string) string { return b.Constant(graph.NewTensor(name, []float32{1, 2, 3}, 3)) }
			return b.Node("BatchNormalization", append(in[:3:3], stat("mean"), stat("var")))
		}, norms: train},
		ruleCase{name: "epsilon", in: a(), build: norm(3, graph.Float("epsilon", 0.3)), norms: train},
		ruleCase{name: "scale and bias", in: a(), fixed: []int{0}, build: norm(3), norms: train},
		ruleCase{name: "input", in: a(), fixed: []int{1, 2}, build: norm(3), norms: train},
		ruleCase{name: "training_mode", in: a(), build: func(b *graph.Builder, in []string) string {
			return trainingMode(b, in)
		}, norms: train},
		ruleCase{name: "deep", in: a(), build: func(b *graph.Builder, in []string) string {
			in[0] = b.Node("Mul", []string{in[0], in[0]})
			y := norm(3)(b, in)
			in[0] = b.Node("Tanh", []string{y})
			return b.Node("Add", []string{norm(3)(b, in), y})
		}, norms: train},
	)
	runCases(t, cases)
}

// trainingMode builds a node as exported from a network in training mode.
func trainingMode(b *graph.Builder, in []string) string {
	stat := func(name string) string { return b.Constant(graph.NewTensor(name, []float64{1, 2, 3}, 3)) }
	b.Add(&graph.Node{Op: "BatchNormalization", Inputs: append(in[:3:3], stat("mean"), stat("var")),
		Outputs: []string{"y", "mean_out", "var_out"}, Attributes: []*graph.Attribute{graph.Int("training_mode", 1)}})
	return "y"
}

// normOracle computes output and next statistics with plain loops.
func normOracle(x, scale, bias, mean, variance array, epsilon, momentum float64) (y, nextMean, nextVar array) {
	c := x.dims[1]
	inner := int64(1)
	for _, d := range x.dims[2:] {
		inner *= d
	}
	y = array{x.dims, make([]float64, len(x.data))}
	nextMean, nextVar = array{mean.dims, make([]float64, c)}, array{mean.dims, make([]float64, c)}
	for j := range c {
		var sum, n float64
		each := func(f func(i int64)) {
			for i := range x.dims[0] {
				for k := range inner {
					f((i*c+j)*inner + k)
				}
			}
		}
		each(func(i int64) { sum, n = sum+x.data[i], n+1 })
		m, v := sum/n, 0.0
		each(func(i int64) { v += (x.data[i] - m) * (x.data[i] - m) })
		each(func(i int64) { y.data[i] = (x.data[i]-m)/math.Sqrt(v/n+epsilon)*scale.data[j] + bias.data[j] })
		nextMean.data[j] = momentum*mean.data[j] + (1-momentum)*m
		nextVar.data[j] = momentum*variance.data[j] + (1-momentum)*v/max(n-1, 1)
	}
	return y, nextMean, nextVar
}

func far(a, b array) float64 {
	if len(a.data) != len(b.data) {
		return math.Inf(1)
	}
	var worst float64
	for i := range a.data {
		worst = max(worst, math.Abs(a.data[i]-b.data[i]))
		if math.IsNaN(a.data[i]) {
			return math.Inf(1)
		}
	}
	return worst
}

func TestRunningStatistics(t *testing.T) {
	for _, c := range []struct {
		name     string
		dims     []int64
		momentum float64
		opset    int64
	}{
		{"images", []int64{4, 3, 2, 5}, 0, 17}, {"rows", []int64{6, 3}, 0, 17},
		{"momentum", []int64{4, 3, 2, 5}, 0.75, 11},
		{"one image", []int64{1, 3, 2, 2}, 0, 17}, {"one place", []int64{1, 3}, 0, 17},
		{"one place of an image", []int64{1, 3, 1, 1}, 0, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := []array{drawn(1, -1, 3, c.dims...), x(2, 3), x(3, 3)}
			d, values, err := ruleCase{opset: c.opset, typ: graph.Float64, in: in,
				build: norm(3, graph.Float("momentum", 0.6), graph.Float("epsilon", 1e-3)),
				norms: gradient.BatchNorm{Train: true, Momentum: c.momentum}}.derivative()
			if err != nil {
				t.Fatal(err)
			}
			m := newMachine(t, d, graph.Float64)
			out := m.forward(values)
			momentum := c.momentum
			if momentum == 0 {
				momentum = float64(float32(0.6))
			}
			y, mean, variance := normOracle(in[0], in[1], in[2], values["mean"], values["var"],
				float64(float32(1e-3)), momentum)
			want := map[string]array{d.Output: y, d.State[0].Next: mean, d.State[1].Next: variance}
			for name, w := range want {
				if got := arrayOf(out[name]); !(far(got, w) < 1e-12) {
					t.Errorf("%s: found %v, expected %v", name, got.data, w.data)
				}
			}
			for i, g := range m.backward(out, y) {
				for _, v := range g.data {
					if math.IsNaN(v) || math.IsInf(v, 0) {
						t.Fatalf("gradient of %s: found %v, expected finite numbers", d.Inputs[i], g.data)
					}
				}
			}
		})
	}
}

// A network that applies the same layer to two tensors updates its statistics twice.
func TestSharedStatistics(t *testing.T) {
	in := []array{drawn(1, -1, 3, 4, 3), x(2, 3), x(3, 3), drawn(4, 0, 9, 5, 3)}
	d, values, err := ruleCase{typ: graph.Float64, in: in, norms: gradient.BatchNorm{Train: true},
		build: func(b *graph.Builder, in []string) string {
			mean, variance := b.Constant(graph.NewTensor("mean", []float64{0, 1, 2}, 3)),
				b.Constant(graph.NewTensor("var", []float64{1, 1, 1}, 3))
			one := b.Node("BatchNormalization", []string{in[0], in[1], in[2], mean, variance})
			two := b.Node("BatchNormalization", []string{in[3], in[1], in[2], mean, variance})
			return b.Node("Concat", []string{one, two}, graph.Int("axis", 0))
		}}.derivative()
	if err != nil {
		t.Fatal(err)
	}
	if len(d.State) != 2 {
		t.Fatalf("found state %v, expected mean and variance once", d.State)
	}
	momentum := float64(float32(0.9))
	_, mean, variance := normOracle(in[0], in[1], in[2], values["mean"], values["var"], 1e-5, momentum)
	_, mean, variance = normOracle(in[3], in[1], in[2], mean, variance, 1e-5, momentum)
	out := newMachine(t, d, graph.Float64).forward(values)
	for i, want := range []array{mean, variance} {
		if got := arrayOf(out[d.State[i].Next]); !(far(got, want) < 1e-12) {
			t.Errorf("%s: found %v, expected %v", d.State[i].Name, got.data, want.data)
		}
	}
}

func TestNormOptions(t *testing.T) {
	model := func(build func(b *graph.Builder, in []string) string) *graph.Model {
		b := graph.NewBuilder("m", 17)
		in := []string{b.Input("x", graph.Float64, graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Fixed(2)})}
		for _, name := range []string{"scale", "bias"} {
			in = append(in, b.Constant(graph.NewTensor(name, []float64{1, 2, 3}, 3)))
		}
		b.Output(build(b, in))
		return b.Model()
	}
	train := gradient.BatchNorm{Train: true}
	t.Run("no normalization", func(t *testing.T) {
		m := model(func(b *graph.Builder, in []string) string { return b.Node("Tanh", in[:1]) })
		d, err := gradient.Differentiate(m, gradient.Options{Inputs: []string{"x"}, BatchNorm: train})
		if err != nil || len(d.State) != 0 {
			t.Errorf("found %v and state %v, expected neither", err, d.State)
		}
	})
	t.Run("fixed though exported in training", func(t *testing.T) {
		m := model(trainingMode)
		d, err := gradient.Differentiate(m, gradient.Options{Output: "y", Inputs: []string{"x"}})
		if err != nil && !strings.Contains(err.Error(), "no rule") { // tested elsewhere
			t.Fatal(err)
		}
		if d != nil {
			for _, n := range d.Forward.Graph.Nodes {
				if n.Int("training_mode", 0) != 0 || len(n.Outputs) > 1 {
					t.Errorf("found %v of outputs %q, expected fixed statistics", n.Op, n.Outputs)
				}
			}
		}
		if m.Graph.Nodes[0].Int("training_mode", 0) != 1 {
			t.Error("the caller's model was changed")
		}
	})
	for _, c := range []struct {
		name, want string
		weights    []string
		build      func(b *graph.Builder, in []string) string
		norms      gradient.BatchNorm
	}{
		{"statistic as weight", "running statistic", []string{"mean"}, trainingMode, train},
		{"statistic computed", "running statistic", []string{"scale"}, func(b *graph.Builder, in []string) string {
			return b.Node("BatchNormalization", []string{in[0], in[1], in[2], b.Node("Neg", []string{in[1]}), in[2]})
		}, train},
		{"training's output read", "training_mode", []string{"scale"}, func(b *graph.Builder, in []string) string {
			trainingMode(b, in)
			return b.Node("Mul", []string{b.Node("ReduceMean", []string{"y"}), "mean_out"})
		}, gradient.BatchNorm{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := gradient.Differentiate(model(c.build), gradient.Options{Weights: c.weights, BatchNorm: c.norms})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v, expected an error with %q", err, c.want)
			}
		})
	}
}

// If a statistic is also a bias, updating the statistic would change the bias.
func TestStatisticOfAnotherUse(t *testing.T) {
	for name, build := range map[string]func(n *network, zeros string) string{
		"a bias": func(n *network, zeros string) string { return n.node("Add", n.x, zeros) },
		"a variance": func(n *network, zeros string) string {
			one := n.weight("one", 6, 3)
			return n.node("BatchNormalization", n.x, one, one, n.weight("mean", 7, 3), zeros)
		},
	} {
		n := newNetwork(17, false, 4, 3)
		w, zeros := n.weight("w", 2, 3), n.weight("zeros", 3, 3)
		n.b.Output(n.node("BatchNormalization", build(n, zeros), w, n.weight("b", 4, 3), zeros, n.weight("var", 5, 3)))
		o := gradient.Options{Weights: []string{w}}
		if _, err := gradient.Differentiate(n.b.Model(), o); err != nil {
			t.Errorf("%s, fixed: %v", name, err)
		}
		o.BatchNorm.Train = true
		if _, err := gradient.Differentiate(n.b.Model(), o); err == nil ||
			!strings.Contains(err.Error(), `statistic "zeros"`) {
			t.Errorf("%s, trained: found %v, expected an error that names the statistic", name, err)
		}
	}
}
