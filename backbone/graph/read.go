package graph

import (
	"errors"
	"fmt"
	"reflect"

	"winnow/internal/regular"
)

// Read parses an ONNX file. The model points into data, which must not change afterwards. It is safe for any
// bytes: what is not a model is an error. Use [Model.Check] to check that the graph makes sense.
func Read(data []byte) (*Model, error) {
	m, err := readModel(data)
	if err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	return m, nil
}

// ReadNamed is Read and Check with the file's name in the errors, for files of the user.
func ReadNamed(name string, data []byte) (*Model, error) {
	m, err := ReadBeside(name, data)
	if err == nil {
		if err = m.checkInlined(); err != nil {
			return nil, &unreadable{name, err}
		}
	}
	return m, err
}

// unreadable is the error of a file of the user's.
type unreadable struct {
	name string
	err  error
}

func (e *unreadable) Error() string { return fmt.Sprintf("graph: %s: %v", e.name, e.err) }

func (e *unreadable) Unwrap() error { return e.err }

// Advice says what to do about it.
func (*unreadable) Advice() string {
	return "copy, download or export the network again, as an ONNX file with its weights inside"
}

// ReadBeside is ReadNamed for a model whose values may be in other files ([Model.References]): it can be cut and run,
// but those values cannot be read.
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
		return nil, errors.New("found no graph: this is not an ONNX model, or it is cut short")
	case len(m.Opsets) == 0:
		return nil, errors.New("found no operator set version: the file is cut short, or older than ONNX 1.0")
	}
	return m, m.Graph.checkRead()
}

// checkRead returns an error if a node has no operator, or an attribute no value of its kind.
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

// Marshal writes the model as an ONNX file. Equal models give equal bytes.
func (m *Model) Marshal() []byte { return marshalMessage(m) }
