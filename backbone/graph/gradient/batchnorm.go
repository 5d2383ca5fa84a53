package gradient

import (
	"cmp"
	"fmt"
	"slices"

	"winnow/backbone/graph"
)

// rewriteNorms expands the BatchNormalization nodes that normalise by the batch, and folds the other ones.
func (f *forward) rewriteNorms(m *graph.Model, o Options) error {
	if !slices.ContainsFunc(m.Graph.Nodes, normalisesBatch) {
		return nil
	}
	facts := graph.Infer(m)
	b := graph.Extend(m)
	g := b.Model().Graph
	nodes := g.Nodes
	g.Nodes = nil
	latest := map[string]string{} // running statistic → its value after the latest earlier update
	readers := map[string]int{}
	for _, n := range nodes {
		for _, name := range listReads(n) {
			readers[name]++
		}
	}
	for _, n := range nodes {
		if !normalisesBatch(n) {
			b.Add(n)
			continue
		}
		if !o.BatchNorm.Train {
			if !foldNorm(b, n, o, readers) {
				b.Add(n)
			}
			continue
		}
		w := writer{f: f, b: b, Node: n, o: o, latest: latest, all: nodes}
		if err := w.writeNorm(facts[n.Inputs[0]]); err != nil {
			return fmt.Errorf("gradient: operator %s of node %q (making %q): %w", n.Op, n.Name, n.Outputs[0], err)
		}
	}
	m.Graph = g
	return nil
}

func normalisesBatch(n *graph.Node) bool {
	return graph.IsONNX(n.Domain) && n.Op == "BatchNormalization"
}

// writer expands one BatchNormalization node into its operations in training. The statistics are over all axes except
// the channels, including the batch, with n values per channel:
//
//	x̃ = x - mean(x)   var = mean(x̃²)   y = scale·x̃/√(var+ε) + bias
//	running mean ← m·old + (1-m)·mean   running variance ← m·old + (1-m)·var·n/(n-1)
//
// The running variance uses the unbiased estimate, as in torch; ONNX specifies var itself, smaller by (n-1)/n. For n =
// 1 the writer uses var = 0, where torch reports an error. The last operation is the runtime's own BatchNormalization
// with mean 0, which needs only one pass. The derivative reads x̃ and var.
//
// Source: Ioffe & Szegedy, Batch Normalization, ICML 2015, algorithm 1.
type writer struct {
	*graph.Node
	f      *forward
	b      *graph.Builder
	o      Options
	latest map[string]string
	all    []*graph.Node // nodes of the model
	typ    graph.DataType
	rank   int
	size   int64 // number of channels
}

func (w *writer) writeNorm(x *graph.ValueInfo) error {
	if err := w.checkNorm(x); err != nil {
		return err
	}
	in, axes := w.Inputs[0], axesButChannels(w.rank)
	mean := w.writeMean(in, axes)
	centred := w.b.Node("Sub", []string{in, mean})
	variance := w.reduceToVector(w.writeMean(w.b.Node("Mul", []string{centred, centred}), axes))
	count := w.b.Node("Div", []string{
		w.b.Node("Cast", []string{w.b.Node("Size", []string{in})}, graph.Int("to", int64(w.typ))),
		w.repeatConstant("channels", float64(w.size), 0),
	})
	epsilon := w.Float("epsilon", 1e-5)
	w.b.NodeTo(w.Outputs[0], "BatchNormalization",
		[]string{centred, w.Inputs[1], w.Inputs[2], w.repeatConstant("zeros", 0, w.size), variance},
		graph.Float("epsilon", epsilon))

	one := w.repeatConstant("one", 1, 0)
	rest := w.b.Node("Max", []string{w.b.Node("Sub", []string{count, one}), one})
	unbiased := w.b.Node("Mul", []string{variance, w.b.Node("Div", []string{count, rest})})
	w.moveStatistic(3, 1, w.reduceToVector(mean))
	w.moveStatistic(4, 2, unbiased)

	if w.f.own == nil {
		w.f.own = map[string]rule{}
	}
	w.f.own[w.Outputs[0]] = trainedNorm{in, centred, variance, count, float64(epsilon), w.rank, w.size}.deriveNorm
	return nil
}

// checkNorm determines type, rank and number of channels, and checks that the node can be trained.
func (w *writer) checkNorm(x *graph.ValueInfo) error {
	switch {
	case w.b.Opset() < 7:
		return fmt.Errorf("found operator set %d, expected 7 or later to train it", w.b.Opset())
	case len(w.Inputs) < 5:
		return fmt.Errorf("found %d inputs, expected 5", len(w.Inputs))
	case w.Int("spatial", 1) == 0:
		return fmt.Errorf("found spatial 0, expected 1")
	case x == nil || len(x.Shape) < 2:
		return fmt.Errorf("shape of %q: not known, expected [N,C,…]", w.Inputs[0])
	}
	for i, name := range w.Inputs[3:5] {
		t := w.b.Model().Graph.Initializer(name)
		if t == nil || len(t.Dims) != 1 {
			return fmt.Errorf("running statistic %q: expected an initializer of one axis", name)
		}
		if slices.Contains(w.o.Weights, name) {
			return fmt.Errorf("running statistic %q: it must not be a weight, because batches "+
				"update it", name)
		}
		if other := otherReader(w.all, name, 3+i); other != nil {
			return fmt.Errorf("running statistic %q: %s of node %q reads it for another purpose and would change with "+
				"it, expected its own initializer", name, other.Op, other.Name)
		}
		w.typ, w.size = t.Type, t.Dims[0]
	}
	w.rank = len(x.Shape)
	return nil
}

// otherReader returns a node that reads a tensor for another purpose than as this input of a BatchNormalization, or
// nil. Exporters merge equal constants: the same zeros may be a mean in one node and a bias in another.
func otherReader(nodes []*graph.Node, name string, input int) *graph.Node {
	for _, n := range nodes {
		for i, in := range listReads(n) {
			if in == name && !(normalisesBatch(n) && i == input) {
				return n
			}
		}
	}
	return nil
}

// axesButChannels returns all axes of a tensor of this rank, except the channels.
func axesButChannels(rank int) []int64 { return slices.Delete(allAxes(rank), 1, 2) }

// overPlaces sums a tensor of the given rank over all axes except the channels.
func (c *call) overPlaces(t string, rank int) string {
	if k, ok := c.r.cuts[t]; ok {
		return k.total(c.r)
	}
	return c.addOp("ReduceSum", []string{t, c.constInts(axesButChannels(rank)...)}, graph.Int("keepdims", 0))
}

// writeMean averages over axes, which are kept with size 1.
func (w *writer) writeMean(t string, axes []int64) string {
	if w.b.Opset() < 18 {
		return w.b.Node("ReduceMean", []string{t}, graph.Ints("axes", axes...))
	}
	return w.b.Node("ReduceMean", []string{t, w.b.Constant(graph.NewTensor("axes", axes, int64(len(axes))))})
}

// reduceToVector reshapes a tensor of one value per channel to a vector.
func (w *writer) reduceToVector(t string) string {
	return w.b.Node("Reshape", []string{t, w.b.Constant(graph.NewTensor("channels", []int64{w.size}, 1))})
}

// repeatConstant returns a constant of n equal numbers, or a scalar if n is 0.
func (w *writer) repeatConstant(name string, v float64, n int64) string {
	list, dims := make([]float64, max(n, 1)), []int64{n}
	for i := range list {
		list[i] = v
	}
	if n == 0 {
		dims = nil
	}
	return w.b.Constant(newFloatTensor(w.typ, name, list, dims...))
}

// newFloatTensor returns a tensor of type float64 if t is float64, and of type float32 otherwise.
func newFloatTensor(t graph.DataType, name string, list []float64, dims ...int64) *graph.Tensor {
	if t == graph.Float64 {
		return graph.NewTensor(name, list, dims...)
	}
	short := make([]float32, len(list))
	for i, v := range list {
		short[i] = float32(v)
	}
	return graph.NewTensor(name, short, dims...)
}

// moveStatistic computes the next value of the running statistic in an input. If the node has an output for it, the
// value gets that output's name. Nodes that share a statistic update it one after another.
func (w *writer) moveStatistic(input, output int, batch string) {
	m := cmp.Or(w.o.BatchNorm.Momentum, float64(w.Float("momentum", 0.9)))
	name := w.Inputs[input]
	old := w.latest[name]
	if old == "" {
		old = name
		w.f.state = append(w.f.state, State{Name: name})
	}
	stays := w.b.Node("Mul", []string{old, w.repeatConstant("momentum", m, 0)})
	comes := w.b.Node("Mul", []string{batch, w.repeatConstant("rest", 1-m, 0)})
	next := ""
	if output < len(w.Outputs) {
		next = w.Outputs[output]
	}
	if next == "" {
		next = w.b.Fresh("next_" + name)
	}
	w.b.NodeTo(next, "Add", []string{stays, comes})
	w.latest[name] = next
	for i, s := range w.f.state {
		if s.Name == name {
			w.f.state[i].Next = next
		}
	}
}
