package graph

import (
	"errors"
	"fmt"
	"strconv"
)

// Reference describes where a tensor's values are if they are outside the model's file: Length bytes from Offset in
// the file at Location, a path relative to the model's folder. The fields are keys of TensorProto.external_data.
type Reference struct {
	Tensor         string
	Location       string
	Offset, Length int64
}

// References lists the tensors whose values are in other files, in all graphs and attributes. Each Length follows from
// the tensor's type and dims. Locations are not checked: they may point to any file.
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

// Embed sets the values of the tensors in [Model.References] from the contents of the files, keyed by location. It
// changes m, whose tensors then point into the contents.
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

// Within returns an error if a file of size bytes is too short for the reference.
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
		return r, errors.New("strings are in another file, but must be in the model")
	}
	r.Length = t.Type.rawBytes(n)
	for _, p := range t.external {
		switch p.Key {
		case "location":
			r.Location = p.Value
		case "offset":
			if r.Offset, err = strconv.ParseInt(p.Value, 10, 64); err != nil || r.Offset < 0 {
				return r, fmt.Errorf("the offset in another file is %.40q, expected a number ≥ 0", p.Value)
			}
		case "length":
			if v, err := strconv.ParseInt(p.Value, 10, 64); err != nil || v != r.Length {
				return r, fmt.Errorf("length %.40q in another file, expected %d bytes for %v %v", p.Value, r.Length,
					t.Type, t.Dims)
			}
		}
	}
	if r.Location == "" {
		return r, errors.New("values are in another file whose name (location) is missing")
	}
	return r, nil
}

// eachTensor calls visit for the constants of a graph and its subgraphs.
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
