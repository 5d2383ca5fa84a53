package graph

import (
	"cmp"
	"errors"
	"fmt"

	"winnow/internal/regular"
)

// maxDepth limits the nesting of graphs in attributes of nodes; real models have two or three levels.
const maxDepth = 32

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
	err := visitFields(data, func(f *field) error {
		switch f.number {
		case 1:
			return f.readInt(&m.IRVersion)
		case 2:
			return f.readText(&m.Producer)
		case 3:
			return f.readText(&m.ProducerVersion)
		case 4:
			return f.readText(&m.Domain)
		case 5:
			return f.readInt(&m.Version)
		case 6:
			return f.readText(&m.Doc)
		case 7:
			if m.Graph != nil {
				return errors.New("found two graphs, expected one")
			}
			m.Graph = &Graph{}
			return m.Graph.readGraph(f, 0)
		case 8:
			m.Opsets = append(m.Opsets, Opset{})
			return m.Opsets[len(m.Opsets)-1].readOpset(f)
		case 14:
			m.Metadata = append(m.Metadata, Property{})
			return m.Metadata[len(m.Metadata)-1].readProperty(f)
		}
		return f.keepUnknown(&m.rest)
	})
	switch {
	case err != nil:
		return nil, err
	case m.Graph == nil:
		return nil, errors.New("found no graph: this is not an ONNX model, or it is cut short")
	case len(m.Opsets) == 0:
		return nil, errors.New("found no operator set version: the file is cut short, or older than ONNX 1.0")
	}
	return m, nil
}

// readMessage reads the fields of an embedded message.
func (f *field) readMessage(visit func(*field) error) error {
	if err := f.wantKind(2); err != nil {
		return err
	}
	return visitFields(f.bytes, visit)
}

func (o *Opset) readOpset(f *field) error {
	return f.readMessage(func(f *field) error {
		switch f.number {
		case 1:
			return f.readText(&o.Domain)
		case 2:
			return f.readInt(&o.Version)
		}
		return nil // the message has no other field
	})
}

func (p *Property) readProperty(f *field) error {
	return f.readMessage(func(f *field) error {
		switch f.number {
		case 1:
			return f.readText(&p.Key)
		case 2:
			return f.readText(&p.Value)
		}
		return nil // the message has no other field
	})
}

func (g *Graph) readGraph(f *field, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("graphs are nested more than %d deep", maxDepth)
	}
	return f.readMessage(func(f *field) error {
		switch f.number {
		case 1:
			n := &Node{}
			g.Nodes = append(g.Nodes, n)
			if err := n.readNode(f, depth); err != nil {
				return fmt.Errorf("node %d %q: %w", len(g.Nodes), n.Name, err)
			}
			return nil
		case 2:
			return f.readText(&g.Name)
		case 5:
			t := &Tensor{}
			g.Initializers = append(g.Initializers, t)
			if err := t.readTensor(f); err != nil {
				return fmt.Errorf("initializer %d %q: %w", len(g.Initializers), t.Name, err)
			}
			return nil
		case 11:
			return readInfo(f, &g.Inputs, "input")
		case 12:
			return readInfo(f, &g.Outputs, "output")
		case 13:
			return readInfo(f, &g.ValueInfo, "value info")
		}
		return f.keepUnknown(&g.rest)
	})
}

func (n *Node) readNode(f *field, depth int) error {
	err := f.readMessage(func(f *field) error {
		switch f.number {
		case 1:
			return f.readTexts(&n.Inputs)
		case 2:
			return f.readTexts(&n.Outputs)
		case 3:
			return f.readText(&n.Name)
		case 4:
			return f.readText(&n.Op)
		case 5:
			a := &Attribute{}
			n.Attributes = append(n.Attributes, a)
			if err := a.readAttribute(f, depth); err != nil {
				return fmt.Errorf("attribute %q: %w", a.Name, err)
			}
			return nil
		case 7:
			return f.readText(&n.Domain)
		}
		return f.keepUnknown(&n.rest)
	})
	if err == nil && n.Op == "" {
		return errors.New("found no operator")
	}
	return err
}

func (a *Attribute) readAttribute(f *field, depth int) error {
	seen := AttributeKind(0) // files older than IR version 3 do not state the kind
	err := f.readMessage(func(f *field) error {
		switch f.number {
		case 1:
			return f.readText(&a.Name)
		case 2:
			seen = KindFloat
			return f.readFloat(&a.Float)
		case 3:
			seen = KindInt
			return f.readInt(&a.Int)
		case 4:
			seen = KindString
			return f.readText(&a.String)
		case 5:
			seen = KindTensor
			a.Tensor = &Tensor{}
			return a.Tensor.readTensor(f)
		case 6:
			seen = KindGraph
			a.Graph = &Graph{}
			return a.Graph.readGraph(f, depth+1)
		case 7:
			seen = KindFloats
			return f.readFloats(&a.Floats)
		case 8:
			seen = KindInts
			return f.readInts(&a.Ints)
		case 20:
			var kind int64
			err := f.readInt(&kind)
			a.Kind = AttributeKind(kind)
			return err
		}
		return f.keepUnknown(&a.rest)
	})
	a.Kind = cmp.Or(a.Kind, seen)
	if err == nil && (a.Kind == KindTensor && a.Tensor == nil || a.Kind == KindGraph && a.Graph == nil) {
		return fmt.Errorf("found no value of its kind %d", a.Kind)
	}
	return err
}
