package gradient

import (
	"errors"
	"fmt"
	"slices"

	"winnow/backbone/graph"
)

// reverse visits the forward nodes backwards and writes the backward model.
type reverse struct {
	o       Options
	f       *forward
	nodes   []*graph.Node // nodes of the forward model before the rules add more
	b       *graph.Builder
	depends map[string]bool     // tensors that depend on a weight or a chosen input
	flows   map[string][]string // gradients to be summed for a tensor
	fixed   map[string]string   // constants of the backward model, by content
	passed  map[string]bool     // outputs of Relu whose gradient is already 0 where the output is 0
	dOutput string
	contrib bool // whether a com.microsoft operator is used

	cuts            map[string]cutting // gradients computed by a Cut of [domain]
	scaled          map[string]scaling // gradients that are multiples of others
	backwardKernels bool               // whether the backward model uses [domain]

	// late is the inferred shapes of the forward model with the nodes added by rules; nil after further additions
	late map[string]*graph.ValueInfo
}

// blind lists the operators that pass on no gradient although their output is a number: they read only a shape, or
// their output is a step function of the input.
var blind = map[string]bool{
	"Shape": true, "Size": true, "Floor": true, "Ceil": true, "Round": true, "Sign": true,
	"ConstantOfShape": true, "RandomUniformLike": true, "RandomNormalLike": true,
}

// rounding lists the operators that leave floating point although training should pass through them. Their derivative
// is zero, so the network before them would stop learning without an error.
var rounding = map[string]bool{"QuantizeLinear": true, "DynamicQuantizeLinear": true}

func isBlind(n *graph.Node) bool { return graph.IsONNX(n.Domain) && blind[n.Op] }

func newReverse(f *forward, o Options) (*reverse, error) {
	m := f.b.Model()
	r := &reverse{o: o, f: f, nodes: slices.Clone(m.Graph.Nodes), flows: map[string][]string{},
		fixed: map[string]string{}, passed: map[string]bool{}, cuts: map[string]cutting{},
		scaled: map[string]scaling{}}
	r.b = graph.NewBuilder("gradient of "+m.Graph.Name, Opset)
	r.b.Reserve(m.Graph)
	r.markDependents()
	if !r.depends[o.Output] {
		return nil, fmt.Errorf("gradient: output %q depends on none of the requested weights and inputs", o.Output)
	}
	r.dOutput = r.b.Fresh("grad_" + o.Output)
	r.flows[o.Output] = []string{r.dOutput}
	return r, nil
}

// markDependents marks the tensors that depend on the requested weights and inputs.
func (r *reverse) markDependents() {
	r.depends = map[string]bool{}
	for _, name := range slices.Concat(r.o.Weights, r.o.Inputs) {
		r.depends[name] = true
	}
	for _, n := range r.nodes {
		if isBlind(n) || !slices.ContainsFunc(listReads(n), func(name string) bool { return r.depends[name] }) {
			continue
		}
		for _, out := range n.Outputs {
			if v := r.f.facts[out]; out != "" && (v == nil || v.Type == 0 || v.Type.Floating() || rounding[n.Op]) {
				r.depends[out] = true
			}
		}
	}
}

// runRules applies the rules of all nodes that a gradient reaches, from the last node to the first.
func (r *reverse) runRules() error {
	for _, n := range slices.Backward(r.nodes) {
		c := &call{Node: n, r: r, grad: make([]string, len(n.Outputs)), need: make([]bool, len(n.Inputs))}
		reached, needed := false, false
		for i, in := range n.Inputs {
			c.need[i] = r.depends[in]
			needed = needed || c.need[i]
		}
		inside := r.readInside(n)
		if !needed && inside == "" {
			continue
		}
		for i, out := range n.Outputs {
			if r.depends[out] {
				c.grad[i] = r.sumGradients(out)
				reached = reached || c.grad[i] != ""
			}
		}
		if !reached {
			continue
		}
		err := r.applyRule(c)
		if inside != "" {
			err = fmt.Errorf("a subgraph reads %q, and gradients cannot pass into subgraphs", inside)
		}
		if err != nil {
			return fmt.Errorf("gradient: operator %s of node %q (making %q): %w", opKey(n), n.Name, n.Outputs[0], err)
		}
	}
	return nil
}

// readInside returns a tensor that depends on a weight and that a subgraph of the node (a branch of If, the body of a
// Loop) reads although it is not an input of the node. It returns "" if there is no such tensor.
func (r *reverse) readInside(n *graph.Node) string {
	if len(n.Subgraphs()) == 0 {
		return ""
	}
	for _, name := range listReads(n) {
		if r.depends[name] && !slices.Contains(n.Inputs, name) {
			return name
		}
	}
	return ""
}

// applyRule runs the rule of one node.
func (r *reverse) applyRule(c *call) error {
	for i, in := range c.Inputs {
		if t := c.dtypeOf(in); c.need[i] && t != graph.Float32 && t != graph.Float64 {
			return fmt.Errorf("input %q: found %v, expected float32 or float64", in, t)
		}
	}
	rule := r.f.own[c.Outputs[0]]
	if rule == nil {
		rule = rules[opKey(c.Node)]
	}
	if rule == nil {
		return errors.New("the operator has no rule for its derivative")
	}
	return rule(c)
}

// opKey returns the name of an operator in the table of rules. Names of com.microsoft operators include the domain.
func opKey(n *graph.Node) string {
	if graph.IsONNX(n.Domain) {
		return n.Op
	}
	return n.Domain + "." + n.Op
}

// sumGradients returns the total gradient of a tensor after all its uses have been visited, or "" if there is none.
func (r *reverse) sumGradients(tensor string) string {
	list := r.flows[tensor]
	switch len(list) {
	case 0:
		return ""
	case 1:
		return list[0]
	}
	op := "Sum"
	if len(list) == 2 {
		op = "Add"
	}
	total := r.b.Node(op, list)
	r.flows[tensor] = []string{total}
	return total
}

// finishModels declares the inputs and outputs of both models.
func (r *reverse) finishModels() (*Derivative, error) {
	d := &Derivative{Output: r.o.Output, GradOutput: r.dOutput, Weights: r.o.Weights, Inputs: r.o.Inputs,
		State: r.f.state}
	if err := r.nameGradients(d); err != nil {
		return nil, err
	}
	r.b.Prune(d.Grads)
	if err := r.addFeeds(d); err != nil {
		return nil, err
	}
	r.hastenConvs()
	r.useKernels(d.Saved)
	var more []string
	for _, s := range d.State {
		more = append(more, s.Next)
	}
	r.f.b.Output(append(more, d.Saved...)...)
	if r.contrib {
		r.b.Import("com.microsoft", 1)
	}
	if r.backwardKernels {
		r.b.Import(domain, 1)
	}
	d.Forward, d.Backward = r.f.b.Model(), r.b.Model()
	return d, nil
}

// nameGradients names the outputs of the backward model.
func (r *reverse) nameGradients(d *Derivative) error {
	for _, name := range slices.Concat(r.o.Weights, r.o.Inputs) {
		g := r.sumGradients(name)
		if g == "" {
			return fmt.Errorf("gradient: %q: the output does not depend on it", name)
		}
		out := r.b.Fresh("grad_" + name)
		r.b.NodeTo(out, "Identity", []string{g})
		d.Grads = append(d.Grads, out)
		info := *r.f.facts[name]
		info.Name = out
		r.b.Model().Graph.Outputs = append(r.b.Model().Graph.Outputs, &info)
	}
	return nil
}

// addFeeds turns the forward tensors that backward nodes read into inputs, and copies those that are constants.
func (r *reverse) addFeeds(d *Derivative) error {
	g := r.b.Model().Graph
	own := map[string]bool{}
	for _, t := range g.Initializers {
		own[t.Name] = true
	}
	for _, n := range g.Nodes {
		for _, out := range n.Outputs {
			own[out] = true
		}
	}
	dOut := *r.f.facts[r.o.Output]
	dOut.Name = r.dOutput
	fed := map[string]bool{"": true, r.dOutput: true}
	var inputs []*graph.ValueInfo
	forwardInputs := map[string]bool{}
	for _, in := range r.f.b.Model().Graph.Inputs {
		forwardInputs[in.Name] = true
	}
	for _, n := range g.Nodes {
		for _, in := range n.Inputs {
			if own[in] || fed[in] {
				continue
			}
			fed[in] = true
			if t := r.f.consts[in]; t != nil {
				g.Initializers = append(g.Initializers, t)
				continue
			}
			info := r.tensorInfo(in)
			if info == nil || info.Type == 0 {
				return fmt.Errorf("gradient: tensor %q: the type is not known", in)
			}
			inputs = append(inputs, info)
			if !forwardInputs[in] && in != r.o.Output {
				d.Saved = append(d.Saved, in)
			}
		}
	}
	g.Inputs = append(append(g.Inputs, inputs...), &dOut)
	return nil
}

// tensorInfo returns type and shape of a forward tensor, including tensors added by rules.
func (r *reverse) tensorInfo(tensor string) *graph.ValueInfo {
	if v := r.f.facts[tensor]; v != nil {
		return v
	}
	if r.late == nil {
		r.late = graph.Infer(r.f.b.Model())
	}
	return r.late[tensor]
}
