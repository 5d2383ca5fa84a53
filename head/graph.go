package head

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"winnow/features"
)

// graph is a Gorgonia program that computes a head for a fixed number of rows: forward part, gate, backward part.
type graph struct {
	x, y   blas32.General // batch×in, the memory of the program's input; batch×out
	dy     blas32.General // batch×out, the memory of the gate's output
	gate   *gateOp
	params []*features.Param
	grads  gorgonia.Nodes // gradients of params, in order, and the gradient of x if requested
	run    func() error
	rewind func()
	close  func() error
	used   int // number of rows that the last batch filled in x
}

// newGraph builds and compiles the program. If wantX, the program also computes ∂/∂x.
// Gorgonia panics on a bad graph; newGraph returns the panic as an error.
func newGraph(h *Head, batch int, wantX bool) (g *graph, err error) {
	defer func() {
		if r := recover(); r != nil {
			g, err = nil, fmt.Errorf("head: building the graph: %v", r)
		}
	}()
	shareProducts()
	b := &builder{g: gorgonia.NewGraph(), batch: batch}
	g = &graph{params: h.Params(), y: features.NewMatrix(batch, h.cfg.Out)}
	x := b.addInput("x", batch, h.cfg.In, nil)
	g.x = matrixOf(x)
	y := b.addLinear(h, x)
	dy := tensor.New(tensor.WithShape(batch, h.cfg.Out), tensor.Of(tensor.Float32))
	g.gate = &gateOp{y: g.y, dy: dy}
	g.dy = blas32.General{Rows: batch, Cols: h.cfg.Out, Stride: h.cfg.Out, Data: floatsOf(dy)}
	gate := b.mustNode(gorgonia.ApplyOp(g.gate, y))
	if b.err != nil {
		return nil, fmt.Errorf("head: building the graph: %w", b.err)
	}
	// Backpropagating G from y gives the gradient of ⟨y(W), G⟩ with respect to W, for constant G.
	by := b.weights
	if wantX {
		by = append(by, x)
	}
	g.grads, err = gorgonia.Backpropagate(gorgonia.Nodes{y}, gorgonia.Nodes{gate}, by)
	if err != nil {
		return nil, fmt.Errorf("head: differentiating the graph: %w", err)
	}
	return g, g.compileProgram(b)
}

// compileProgram compiles the program, leaving out unused nodes.
func (g *graph) compileProgram(b *builder) error {
	program, registers, err := gorgonia.CompileFunction(b.g, b.inputs, g.grads)
	if err != nil {
		return fmt.Errorf("head: compiling the graph: %w", err)
	}
	vm := gorgonia.NewTapeMachine(b.g, gorgonia.WithPrecompiled(program, registers))
	g.run, g.close = vm.RunAll, vm.Close
	// Reset would also drop the registers, and with them the memory of all intermediate values: each step would
	// then allocate and clear 4 MiB of gradient. Restoring a copy of the fresh machine only rewinds the program.
	start := *vm
	g.rewind = func() { *vm = start }
	return nil
}

// clearPadding clears the rows of x from row n on that an earlier, larger batch has filled.
func (g *graph) clearPadding(n int) {
	if n < g.used {
		clear(g.x.Data[n*g.x.Stride : g.used*g.x.Stride])
	}
	g.used = n
}

// runForward runs the program up to the gate. Afterwards y holds the outputs.
func (g *graph) runForward() error {
	g.rewind()
	g.gate.open = false
	g.gate.reached = false
	if err := g.run(); !g.gate.reached {
		return fmt.Errorf("head: forward: %w", err)
	}
	return nil
}

// runBackward runs the rest of the program with the gradient in the first n rows of dy. Afterwards the parameters' Grad
// hold their gradients.
func (g *graph) runBackward(n int) error {
	clear(g.dy.Data[n*g.dy.Stride:])
	g.gate.open = true
	if err := g.run(); err != nil {
		return fmt.Errorf("head: backward: %w", err)
	}
	for i, p := range g.params {
		p.Grad = floatsOf(g.grads[i].Value())
	}
	return nil
}

// builder adds nodes to a graph and keeps the first error.
type builder struct {
	g       *gorgonia.ExprGraph
	batch   int
	inputs  gorgonia.Nodes
	weights gorgonia.Nodes
	err     error
}

func (b *builder) mustNode(n *gorgonia.Node, err error) *gorgonia.Node {
	if b.err == nil {
		b.err = err
	}
	return n
}

// addInput returns a matrix node whose values are stored in data, or in new memory if data is nil.
func (b *builder) addInput(name string, rows, cols int, data []float32) *gorgonia.Node {
	if data == nil {
		data = make([]float32, rows*cols)
	}
	value := tensor.New(tensor.WithShape(rows, cols), tensor.WithBacking(data))
	n := gorgonia.NewMatrix(b.g, tensor.Float32, gorgonia.WithName(name), gorgonia.WithShape(rows, cols),
		gorgonia.WithValue(value))
	b.inputs = append(b.inputs, n)
	return n
}

func (b *builder) addWeight(p *features.Param) *gorgonia.Node {
	n := b.addInput(p.Name, p.Rows, p.Cols, p.Data)
	b.weights = append(b.weights, n)
	return n
}

// addLinear returns x·W + 1·b. It multiplies the bias by a column of ones, because Gorgonia's broadcasts are slow: they
// copy element by element.
func (b *builder) addLinear(h *Head, x *gorgonia.Node) *gorgonia.Node {
	y := b.mustNode(gorgonia.Mul(x, b.addWeight(h.weight)))
	if h.bias == nil {
		return y
	}
	ones := b.addInput("ones", b.batch, 1, slices.Repeat([]float32{1}, b.batch))
	shift := b.mustNode(gorgonia.Mul(ones, b.addWeight(h.bias)))
	return b.mustNode(gorgonia.Add(y, shift))
}

// matrixOf returns a view of a node's value.
func matrixOf(n *gorgonia.Node) blas32.General {
	s := n.Shape()
	return blas32.General{Rows: s[0], Cols: s[1], Stride: s[1], Data: floatsOf(n.Value())}
}
