package graph

import (
	"errors"
	"fmt"
	"maps"
)

// newestOpset is the newest version of ONNX's operator set that this package supports.
const newestOpset = 25

// Check returns an error that describes the first fault of the graph: a tensor that is used before it is computed or
// never computed, a name that is defined twice, an output that no node computes, an operator set that is not imported
// or unknown, or values in another file. Check does not apply the rules of single operators; the runtime does.
func (m *Model) Check() error {
	err := m.checkModel()
	if err == nil {
		err = m.checkInlined()
	}
	if err != nil {
		return fmt.Errorf("graph: %w", err)
	}
	return nil
}

// checkInlined returns an error if the values of a tensor are in another file.
func (m *Model) checkInlined() error { return m.Graph.eachTensor((*Tensor).checkValuesHere) }

func (m *Model) checkModel() error {
	versions := map[string]int64{}
	for _, o := range m.Opsets {
		domain := o.Domain
		if IsONNX(domain) {
			domain = ""
			if o.Version < 1 || o.Version > newestOpset {
				return fmt.Errorf("operator set: found version %d, expected 1 to %d: export the model again "+
					"with one of these versions", o.Version, newestOpset)
			}
		}
		if old, twice := versions[domain]; twice && old != o.Version {
			return fmt.Errorf("operator set %q: found versions %d and %d, expected one", domain, old, o.Version)
		}
		versions[domain] = o.Version
	}
	if m.Graph == nil {
		return errors.New("found no graph")
	}
	if len(m.Graph.Outputs) == 0 {
		return errors.New("found no output, expected at least one")
	}
	return m.Graph.checkNodes(versions, nil)
}

// scope holds the names defined so far in a graph, with a link to the graph around it.
type scope struct {
	made  map[string]bool
	outer *scope // nil: this is the outermost graph
}

func (s *scope) hasName(name string) bool {
	return s.made[name] || s.outer != nil && s.outer.hasName(name)
}

// checkNodes checks the nodes in order.
func (g *Graph) checkNodes(versions map[string]int64, outer *scope) error {
	made, err := g.collectSources()
	if err != nil {
		return err
	}
	names := &scope{made, outer}
	for i, n := range g.Nodes {
		if err := n.checkNode(versions, names); err != nil {
			return fmt.Errorf("node %d %q (%s): %w", i+1, n.Name, n.Op, err)
		}
	}
	for _, out := range g.Outputs {
		if !names.hasName(out.Name) {
			return fmt.Errorf("output %q: no node makes it", out.Name)
		}
	}
	return nil
}

// checkNode checks one node and adds its outputs to the names.
func (n *Node) checkNode(versions map[string]int64, names *scope) error {
	domain := n.Domain
	if IsONNX(domain) {
		domain = ""
	}
	if _, ok := versions[domain]; !ok {
		return fmt.Errorf("operator set %q is not imported", domain)
	}
	for _, in := range n.Inputs {
		if in != "" && !names.hasName(in) {
			return fmt.Errorf("input %q: no earlier node, initializer or input has this name", in)
		}
	}
	for _, sub := range n.Subgraphs() {
		if err := sub.checkNodes(versions, names); err != nil {
			return err
		}
	}
	for _, out := range n.Outputs {
		if out == "" {
			continue
		}
		if names.hasName(out) {
			return fmt.Errorf("output %q: the name is taken", out)
		}
		names.made[out] = true
	}
	return nil
}

// collectSources returns the names of a graph's inputs and initializers.
func (g *Graph) collectSources() (map[string]bool, error) {
	names := map[string]bool{}
	for _, in := range g.Inputs {
		if in.Name == "" || names[in.Name] {
			return nil, fmt.Errorf("input %q: the name is empty or taken", in.Name)
		}
		names[in.Name] = true
	}
	constant := map[string]bool{}
	for _, t := range g.Initializers {
		if t.Name == "" || constant[t.Name] {
			return nil, fmt.Errorf("initializer %q: the name is empty or taken", t.Name)
		}
		constant[t.Name] = true
	}
	maps.Copy(names, constant)
	for _, s := range g.Sparse {
		names[s.Values.Name] = true
	}
	return names, nil
}
