package gradient

import (
	"fmt"
	"math"
	"slices"

	"winnow/backbone/graph"
)

// rule adds the derivative of one node to the backward model: from the gradients of the node's outputs it computes the
// gradient of each input that needs one, and passes it to giveGrad.
type rule func(c *call) error

// call is one forward node during the backward walk over the nodes.
type call struct {
	*graph.Node
	r    *reverse
	grad []string // gradient of each output; "" if there is none
	need []bool   // whether each input's gradient is wanted
}

// inputName returns the i-th input, or "" if it is omitted.
func (c *call) inputName(i int) string { return c.Input(i) }

// wantsGrad reports whether the i-th input exists and its gradient is wanted.
func (c *call) wantsGrad(i int) bool { return i < len(c.need) && c.need[i] }

// giveGrad adds grad to the gradient of the i-th input, if that gradient is wanted.
func (c *call) giveGrad(i int, grad string) {
	if c.wantsGrad(i) {
		c.giveTo(c.Inputs[i], grad)
	}
}

// giveTo adds grad to the gradient of a tensor on which the node depends.
func (c *call) giveTo(tensor, grad string) {
	c.r.flows[tensor] = append(c.r.flows[tensor], grad)
}

// addOp adds a node with one output to the backward model and returns the output.
func (c *call) addOp(op string, inputs []string, attributes ...*graph.Attribute) string {
	return c.r.b.Node(op, inputs, attributes...)
}

// addOps adds a node with n outputs to the backward model and returns them.
func (c *call) addOps(op string, n int, inputs []string, attributes ...*graph.Attribute) []string {
	node := &graph.Node{Name: c.r.b.Fresh(op), Op: op, Inputs: inputs, Attributes: attributes}
	for range n {
		node.Outputs = append(node.Outputs, c.r.b.Fresh(op))
	}
	c.r.b.Add(node)
	return node.Outputs
}

// addContrib adds a com.microsoft node with one output to the backward model.
func (c *call) addContrib(op string, inputs []string, attributes ...*graph.Attribute) string {
	c.r.contrib = true
	out := c.r.b.Fresh(op)
	c.r.b.Add(&graph.Node{Name: out, Op: op, Domain: "com.microsoft", Inputs: inputs, Outputs: []string{out},
		Attributes: attributes})
	return out
}

// addForward adds a node with one output to the forward model, for values that take less memory than their inputs. The
// operator must exist in the forward model's operator set. For the same operator and inputs, a node without attributes
// is added only once.
func (c *call) addForward(op string, inputs []string, attributes ...*graph.Attribute) string {
	key := fmt.Sprintf("before %s%q", op, inputs)
	if name := c.r.fixed[key]; name != "" && len(attributes) == 0 {
		return name
	}
	// The backward model reads this tensor, so the name must be unused there as well.
	name := c.r.f.b.NodeTo(c.r.b.Fresh(op), op, inputs, attributes...)
	c.r.late = nil
	if len(attributes) == 0 {
		c.r.fixed[key] = name
	}
	return name
}

// outputName returns the name of the forward node's i-th output, and adds the output if the node omits it. The
// caller's model shares the node, so the forward model gets a changed copy.
func (c *call) outputName(i int) string {
	if i < len(c.Outputs) && c.Outputs[i] != "" {
		return c.Outputs[i]
	}
	name := c.r.b.Fresh(fmt.Sprintf("%s_%d", c.Outputs[0], i))
	twin := *c.Node
	twin.Outputs = slices.Clone(c.Outputs)
	for len(twin.Outputs) <= i {
		twin.Outputs = append(twin.Outputs, "")
	}
	twin.Outputs[i] = name
	nodes := c.r.f.b.Model().Graph.Nodes
	nodes[slices.Index(nodes, c.Node)] = &twin
	c.Node, c.r.late = &twin, nil
	return name
}

// forwardShape returns the known part of a forward tensor's shape, or nil if even the rank is unknown.
func (c *call) forwardShape(tensor string) graph.Shape {
	if v := c.r.tensorInfo(tensor); v != nil {
		return v.Shape
	}
	return nil
}

// dtypeOf returns the element type of a forward tensor.
func (c *call) dtypeOf(tensor string) graph.DataType {
	if v := c.r.tensorInfo(tensor); v != nil && v.Type != 0 {
		return v.Type
	}
	return graph.Float32
}

// knownInts returns the elements of a small integer tensor if shape inference knows them.
func (c *call) knownInts(tensor string) ([]int64, bool) {
	v, ok := c.r.f.known[tensor]
	return v, ok
}

// constInts returns a constant: a list of integers.
func (c *call) constInts(v ...int64) string {
	return c.addConstant(fmt.Sprint("i", v), func(name string) *graph.Tensor {
		return graph.NewTensor(name, v, int64(len(v)))
	})
}

// constScalar returns a constant of rank 0 with the element type of the forward tensor like.
func (c *call) constScalar(like string, v float64) string {
	t := c.dtypeOf(like)
	return c.addConstant(fmt.Sprint("s", t, math.Float64bits(v)), func(name string) *graph.Tensor {
		return newFloatTensor(t, name, []float64{v})
	})
}

// addConstant returns the name of an initializer of the backward model. build creates it once for each key.
func (c *call) addConstant(key string, build func(name string) *graph.Tensor) string {
	if name := c.r.fixed[key]; name != "" {
		return name
	}
	name := c.r.b.Constant(build("const"))
	c.r.fixed[key] = name
	return name
}

// reshapeLike reshapes a gradient to the shape of a forward tensor with the same number of elements. If more than one
// size is free, the shape is read in the forward pass.
func (c *call) reshapeLike(grad, tensor string) string {
	if to, ok := fixedShape(c.forwardShape(tensor)); ok {
		return c.addOp("Reshape", []string{grad, c.constInts(to...)})
	}
	return c.addOp("Reshape", []string{grad, c.addForward("Shape", []string{tensor})})
}

// fixedShape returns a shape as Reshape takes it, with -1 for a free size. ok is false if more than one size is free,
// or if one is free and another is 0.
func fixedShape(s graph.Shape) (to []int64, ok bool) {
	if s == nil {
		return nil, false
	}
	free := 0
	to = []int64{}
	for _, d := range s {
		switch {
		case !d.Known():
			free++
			to = append(to, -1)
		case d.Size == 0:
			return nil, false
		default:
			to = append(to, d.Size)
		}
	}
	return to, free <= 1
}
