package graph

import (
	"errors"
	"fmt"
	"reflect"

	"winnow/internal/regular"
)

// Read parses an ONNX file. The model points into data, which must not change afterwards. Any bytes are safe input:
// Read returns an error if they are not a model. Use [Model.Check] to check the graph itself.
func Read(data []byte) (*Model, error) {
	m, err := readModel(data)
	if err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	return m, nil
}

// ReadNamed reads and checks a file of the user. Errors contain the file's name.
func ReadNamed(name string, data []byte) (*Model, error) {
	m, err := ReadBeside(name, data)
	if err == nil {
		if err = m.checkInlined(); err != nil {
			return nil, &unreadable{name, err}
		}
	}
	return m, err
}

// unreadable is the error for a user's file that cannot be used.
type unreadable struct {
	name string
	err  error
}

func (e *unreadable) Error() string { return fmt.Sprintf("graph: %s: %v", e.name, e.err) }

func (e *unreadable) Unwrap() error { return e.err }

// Advice returns what the user can do about the error.
func (*unreadable) Advice() string {
	return "copy, download or export the network again, as one ONNX file that contains the weights"
}

// ReadBeside is like ReadNamed, but accepts a model with values in other files ([Model.References]). The model can be
// cut and run, but those values cannot be read.
func ReadBeside(name string, data []byte) (*Model, error) {
	m, err := readModel(data)
	if err == nil {
		err = m.checkModel()
	}
	if err == nil {
		err = m.checkClaims()
	}
	if err != nil {
		return nil, &unreadable{name, err}
	}
	return m, nil
}

func readModel(data []byte) (*Model, error) {
	if len(data) == 0 {
		return nil, errors.New("found an empty file, expected an ONNX model")
	}
	if err := regular.Pointer(data); err != nil {
		return nil, err
	}
	m := &Model{}
	err := readMessage(data, reflect.ValueOf(m).Elem(), 0)
	switch {
	case err != nil:
		return nil, err
	case m.Graph == nil:
		return nil, errors.New("found no graph: this is not an ONNX model, or the file is cut short")
	case len(m.Opsets) == 0:
		return nil, errors.New("found no operator set version: the file is cut short, or older than ONNX 1.0")
	}
	return m, m.Graph.checkRead()
}

// checkRead returns an error if a node has no operator, or an attribute has no value of its kind.
func (g *Graph) checkRead() error {
	for i, n := range g.Nodes {
		if n.Op == "" {
			return fmt.Errorf("node %d %q: found no operator", i+1, n.Name)
		}
		for _, a := range n.Attributes {
			if a.Kind == KindTensor && a.Tensor == nil || a.Kind == KindGraph && a.Graph == nil {
				return fmt.Errorf("node %d %q: attribute %q: found no value of kind %d", i+1, n.Name, a.Name, a.Kind)
			}
		}
		for _, sub := range n.Subgraphs() {
			if err := sub.checkRead(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Marshal returns the model as an ONNX file. Equal models give equal bytes.
func (m *Model) Marshal() []byte { return marshalMessage(m) }
