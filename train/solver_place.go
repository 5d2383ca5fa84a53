package train

import (
	"fmt"
	"slices"
	"strings"

	"winnow/backbone/graph"
	"winnow/features"
)

// placedSolver is a solver for weights in a [features.Place], such as a GPU. It computes the updates of [weightUpdate]
// with one graph over all weights, and keeps its memory in the same place.
type placedSolver struct {
	cfg     SolverConfig
	place   features.Place
	steps   int
	clip    float64 // the next Step multiplies the gradients by clip
	err     error   // result of the last Step
	program *features.Program
	buffers [][][]float32 // by buffer, then parameter: the copies that State returns
}

// NewPlacedSolver returns a solver for validated settings that updates all weights of a place together. Step uses the
// gradients in the place, not the gradients of its params argument, which must be the place's parameters.
func NewPlacedSolver(cfg SolverConfig, place features.Place) (Solver, error) {
	if err := cfg.validateSolver(); err != nil {
		return nil, err
	}
	return &placedSolver{cfg: cfg, place: place, clip: 1, program: updateProgram(cfg)}, nil
}

// Step implements [Solver]. It stores an error of the device in err.
func (s *placedSolver) Step(_ []*features.Param, lr float64) {
	if s.steps == 0 { // another solver may have used the place before
		if s.err = s.clearPlaced(); s.err != nil {
			return
		}
	}
	s.steps++
	for _, portion := range []features.Portion{features.Decayed, features.Undecayed} {
		u := s.cfg.prepareUpdate(lr, s.steps, portion == features.Undecayed)
		if _, s.err = s.place.Run(s.program, portion, u.updateNumbers(s.clip)); s.err != nil {
			return
		}
	}
}

// clearPlaced sets the solver's buffers in the place to zero.
func (s *placedSolver) clearPlaced() error {
	for _, name := range s.bufferVectors() {
		if err := s.place.Store(name, slicesLike(s.place.Params())); err != nil {
			return err
		}
	}
	return nil
}

func (s *placedSolver) setBeta1(beta1 float64) { s.cfg.Beta1 = beta1 }

// bufferVectors returns the names of the solver's buffers in the place.
func (s *placedSolver) bufferVectors() []string {
	names := s.cfg.bufferNames()
	for i, name := range names {
		names[i] = "solver's " + name
	}
	return names
}

// State implements [Solver].
func (s *placedSolver) State() SolverState {
	out := SolverState{Solver: s.cfg.Name}
	if s.steps == 0 {
		return out
	}
	params := s.place.Params()
	for i, name := range s.bufferVectors() {
		if len(s.buffers) <= i {
			s.buffers = append(s.buffers, slicesLike(params))
		}
		if err := s.place.Fetch(name, s.buffers[i]); err != nil {
			s.err = err
			return out
		}
	}
	for i, p := range params {
		state := ParamState{Name: p.Name, Steps: s.steps, Buffers: make([][]float32, len(s.buffers))}
		for j := range s.buffers {
			state.Buffers[j] = s.buffers[j][i]
		}
		out.Params = append(out.Params, state)
	}
	slices.SortFunc(out.Params, func(a, b ParamState) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// slicesLike returns a slice for each parameter.
func slicesLike(params []*features.Param) [][]float32 {
	list := make([][]float32, len(params))
	for i, p := range params {
		list[i] = make([]float32, len(p.Data))
	}
	return list
}

// SetState implements [Solver]. The state may come from a solver whose weights are in Go's memory.
func (s *placedSolver) SetState(state SolverState, params []*features.Param) error {
	check := solver{cfg: s.cfg}
	if err := check.SetState(state, params); err != nil {
		return err
	}
	if len(check.slots) == 0 {
		s.steps = 0
		return nil
	}
	for i, name := range s.bufferVectors() {
		from := slicesLike(params)
		for j, p := range params {
			if slot := check.slots[p.Name]; slot != nil {
				from[j] = slot.buffers[i]
			}
		}
		if err := s.place.Store(name, from); err != nil {
			return err
		}
	}
	for _, slot := range check.slots { // weights that are trained together have the same number of steps
		s.steps = slot.steps
	}
	return nil
}

// updateNumbers returns an update's coefficients in the order of [updateProgram]. clip scales the gradient.
func (u weightUpdate) updateNumbers(clip float64) []float32 {
	c := u.cfg
	switch u.rule {
	case plainSGD:
		return []float32{float32(clip), float32(u.decay), float32(u.lr)}
	case momentumSGD:
		old, keep := c.Momentum, 1-c.Dampening
		if u.steps == 1 {
			old, keep = 0, 1
		}
		ahead, now := 0., 1.
		if c.Nesterov {
			ahead, now = 1, c.Momentum
		}
		return []float32{float32(clip), float32(u.decay), float32(old), float32(keep), float32(u.lr * ahead),
			float32(u.lr * now)}
	case rmsprop:
		return []float32{float32(clip), float32(u.decay), float32(c.Alpha), float32(1 - c.Alpha), float32(u.lr),
			float32(c.Eps), float32(c.Momentum)}
	}
	l2, shrink, b1, b2, step, scale, eps := adamNumbers[float32](u)
	return []float32{float32(clip), l2, b1, float32(1 - c.Beta1), b2, float32(1 - c.Beta2), step, scale, eps, shrink}
}

// programs builds the graphs that a place runs.
type programs struct {
	b    *graph.Builder
	size graph.Shape
}

func newProgram(name string) *programs {
	return &programs{graph.NewBuilder(name, 17), graph.Shape{graph.Free("n")}}
}

func (p *programs) programVector(name string) string         { return p.b.Input(name, graph.Float32, p.size) }
func (p *programs) programOp(op string, in ...string) string { return p.b.Node(op, in) }

// runNumbers returns the names of the k scalar inputs of a run.
func (p *programs) runNumbers(k int) []string {
	all := p.b.Input("numbers", graph.Float32, graph.ShapeOf(int64(k)))
	if k == 1 {
		return []string{all}
	}
	n := &graph.Node{Name: "split", Op: "Split", Inputs: []string{all}}
	for i := range k {
		n.Outputs = append(n.Outputs, fmt.Sprintf("number%d", i))
	}
	p.b.Add(n)
	return n.Outputs
}

func (p *programs) finishProgram(outputs ...string) *features.Program {
	p.b.SetOutputs(outputs...)
	return &features.Program{Model: p.b.Model().Marshal()}
}

// updateProgram builds the graph of a solver's update (see [weightUpdate]). No node reads a vector after the node that
// computes its new value, so that the new value can overwrite the vector.
func updateProgram(c SolverConfig) *features.Program {
	p := newProgram(c.Name)
	rule := c.updateRule()
	k := len(weightUpdate{cfg: c, rule: rule, steps: 1}.updateNumbers(1))
	n := p.runNumbers(k)
	x, g := p.programVector("weights"), p.programOp("Mul", p.programVector("gradients"), n[0])
	if c.WeightDecay != 0 && c.Name != "adamw" {
		g = p.programOp("Add", g, p.programOp("Mul", x, n[1]))
	}
	s := &placedSolver{cfg: c}
	var memory []string
	for _, name := range s.bufferVectors() {
		memory = append(memory, p.programVector(name))
	}
	outputs := make([]string, 0, 1+len(memory))
	keep := func(i int, node string, in ...string) string {
		out := p.b.NodeTo(memory[i]+".next", node, in)
		outputs = append(outputs, out)
		return out
	}
	blend := func(i int, old, comes, of string) string {
		return keep(i, "Add", p.programOp("Mul", memory[i], old), p.programOp("Mul", of, comes))
	}
	var move string
	switch rule {
	case plainSGD:
		move = p.programOp("Mul", g, n[2])
	case momentumSGD:
		v := blend(0, n[2], n[3], g)
		move = p.programOp("Mul", v, n[5])
		if c.Nesterov {
			move = p.programOp("Add", move, p.programOp("Mul", g, n[4]))
		}
	case rmsprop:
		v := blend(0, n[2], n[3], p.programOp("Mul", g, g))
		next := 1
		if c.Centered {
			m := blend(1, n[2], n[3], g)
			v, next = p.programOp("Relu", p.programOp("Sub", v, p.programOp("Mul", m, m))), 2
		}
		r := p.programOp("Div", g, p.programOp("Add", p.programOp("Sqrt", v), n[5]))
		if c.Momentum > 0 {
			r = keep(next, "Add", p.programOp("Mul", memory[next], n[6]), r)
		}
		move = p.programOp("Mul", r, n[4])
	default:
		m := blend(0, n[2], n[3], g)
		v := blend(1, n[4], n[5], p.programOp("Mul", g, g))
		if c.AMSGrad {
			v = keep(2, "Max", memory[2], v)
		}
		under := p.programOp("Add", p.programOp("Mul", p.programOp("Sqrt", v), n[7]), n[8])
		move = p.programOp("Mul", p.programOp("Div", m, under), n[6])
		if c.Name == "adamw" {
			x = p.programOp("Mul", x, n[9])
		}
	}
	outputs = append(outputs, p.b.NodeTo("weights.next", "Sub", []string{x, move}))
	return p.finishProgram(outputs...)
}

// squaresProgram computes the sum of the squares of all gradients. It sums rows first, because one long float32 sum
// would be inaccurate. ReduceSumSquare would save a node, but is slow in ONNX Runtime on CUDA: 2 ms for 2 million.
var squaresProgram = func() *features.Program {
	p := newProgram("squares")
	g := p.programVector("gradients")
	row := p.b.Constant(graph.NewTensor("row", []int64{-1, 64}, 2))
	last := p.b.Constant(graph.NewTensor("axis", []int64{1}, 1))
	sums := p.programOp("Mul", g, g)
	for range 2 {
		sums = p.b.Node("ReduceSum", []string{p.programOp("Reshape", sums, row), last}, graph.Int("keepdims", 0))
	}
	return p.finishProgram(p.b.NodeTo("sum", "ReduceSum", []string{sums,
		p.b.Constant(graph.NewTensor("all", []int64{0}, 1))}, graph.Int("keepdims", 1)))
}()
