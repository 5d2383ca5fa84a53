package architecture

import (
	"errors"
	"fmt"

	"winnow/backbone/graph"
)

// value is a tensor between two layers: maps [N,channels,side,side], or a vector [N,channels].
type value struct {
	tensor         string
	channels, side int
	flat           bool
}

func (v value) String() string {
	if v.flat {
		return fmt.Sprintf("a vector of %d", v.channels)
	}
	return fmt.Sprintf("maps %d×%d×%d", v.channels, v.side, v.side)
}

// plan is the layout of a network: its nodes, and its weights before they are drawn.
type plan struct {
	nodes      []*graph.Node
	weights    []weight
	init       initializer
	prefix     string         // of names inside stages and residuals
	numbers    map[string]int // layers so far by kind, with the prefix
	layers     int
	parameters int64
	dim        int
}

// nextLayerName returns the name of the next layer of a kind: conv1, stage2.block1.conv2.
func (p *plan) nextLayerName(kind string) string {
	kind = p.prefix + kind
	p.numbers[kind]++
	return fmt.Sprint(kind, p.numbers[kind])
}

// addNode adds a node; its output has the node's name.
func (p *plan) addNode(name, op string, inputs []string, attributes ...*graph.Attribute) string {
	p.nodes = append(p.nodes, &graph.Node{Name: name, Op: op, Inputs: inputs, Outputs: []string{name},
		Attributes: attributes})
	return name
}

// addConstWeight adds a weight whose elements all start with the same value.
func (p *plan) addConstWeight(name string, v float32, dims ...int64) (string, error) {
	return p.addPlanWeight(weight{name: name, dims: dims, value: v})
}

func (p *plan) addPlanWeight(w weight) (string, error) {
	p.weights = append(p.weights, w)
	p.parameters += w.weightSize()
	if p.parameters > maxParameters {
		return "", fmt.Errorf("more than %d parameters so far", maxParameters)
	}
	return w.name, nil
}

// addProduct adds the weight and bias of a convolution or linear layer, drawn by own or, if nil, by the network's
// initialiser. in and out are its fan-in and fan-out.
func (p *plan) addProduct(name string, own *initializer, in, out float64, bias bool, dims ...int64) ([]string, error) {
	init := p.init
	if own != nil {
		init = *own
	}
	deviation := init.deviation(in, out)
	w, err := p.addPlanWeight(weight{name: name + ".weight", dims: dims, deviation: deviation, normal: init.normal})
	if err != nil || !bias {
		return []string{w}, err
	}
	b := weight{name: name + ".bias", dims: dims[:1:1]}
	if init.bias {
		b.deviation, b.normal = deviation, init.normal
	}
	_, err = p.addPlanWeight(b)
	return []string{w, b.name}, err
}

// renameLast renames the network's last tensor.
func (p *plan) renameLast(tensor, to string) error {
	for _, n := range p.nodes {
		if n.Outputs[0] == tensor {
			n.Outputs[0] = to
			return nil
		}
	}
	return errors.New("architecture: the network has no layer")
}
