package graph

import (
	"errors"
	"fmt"
	"strconv"
)

// Reference says where the values of a tensor are that are not in the model itself: Length bytes from Offset in the
// file at Location, a path relative to the model's folder. These are keys of TensorProto.external_data.
type Reference struct {
	Tensor         string
	Location       string
	Offset, Length int64
}

// References lists what the model needs from other files: the tensors of all graphs, and those in attributes. Each
// Length is that of the tensor's type and dims. A location is not checked: it may lead anywhere.
func (m *Model) References() ([]Reference, error) {
	var list []Reference
	err := m.Graph.eachTensor(func(t *Tensor) error {
		if t.external == nil {
			return nil
		}
		r, err := t.readReference()
		if err != nil {
			return fmt.Errorf("graph: tensor %q: %w", t.Name, err)
		}
		list = append(list, r)
		return nil
	})
	return list, err
}

// Embed gives the tensors of [Model.References] their values, from the contents of the files by location. It changes
// m, which then points into the files.
func (m *Model) Embed(files map[string][]byte) error {
	return m.Graph.eachTensor(func(t *Tensor) error {
		if t.external == nil {
			return nil
		}
		r, err := t.readReference()
		if err == nil {
			err = r.Within(int64(len(files[r.Location])))
		}
		if err != nil {
			return fmt.Errorf("graph: tensor %q: %w", t.Name, err)
		}
		t.raw, t.external = files[r.Location][r.Offset:r.Offset+r.Length], nil
		return nil
	})
}

// Within returns an error if a file of size bytes does not hold the values.
func (r Reference) Within(size int64) error {
	if r.Offset > size || r.Length > size-r.Offset {
		return fmt.Errorf("expected %d bytes from offset %d of %q, which has %d bytes: it is cut short or belongs to "+
			"another model", r.Length, r.Offset, r.Location, size)
	}
	return nil
}

// readReference reads the tensor's external data.
func (t *Tensor) readReference() (Reference, error) {
	r := Reference{Tensor: t.Name}
	n, err := t.Size()
	if err != nil {
		return r, err
	}
	if t.Type == Text {
		return r, errors.New("strings in another file, expected them in the model")
	}
	r.Length = t.Type.rawBytes(n)
	for _, p := range t.external {
		switch p.Key {
		case "location":
			r.Location = p.Value
		case "offset":
			if r.Offset, err = strconv.ParseInt(p.Value, 10, 64); err != nil || r.Offset < 0 {
				return r, fmt.Errorf("offset %.40q in another file, expected a number from 0", p.Value)
			}
		case "length":
			if v, err := strconv.ParseInt(p.Value, 10, 64); err != nil || v != r.Length {
				return r, fmt.Errorf("length %.40q in another file, expected the %d bytes of %v %v", p.Value, r.Length,
					t.Type, t.Dims)
			}
		}
	}
	if r.Location == "" {
		return r, errors.New("its values are in another file, expected that file's name (location)")
	}
	return r, nil
}

// eachTensor visits the constants of a graph and of the graphs inside its nodes.
func (g *Graph) eachTensor(visit func(*Tensor) error) error {
	for _, t := range g.Initializers {
		if err := visit(t); err != nil {
			return err
		}
	}
	for _, n := range g.Nodes {
		for _, a := range n.Attributes {
			if a.Tensor != nil {
				if err := visit(a.Tensor); err != nil {
					return err
				}
			}
		}
		for _, sub := range n.Subgraphs() {
			if err := sub.eachTensor(visit); err != nil {
				return err
			}
		}
	}
	return nil
}
