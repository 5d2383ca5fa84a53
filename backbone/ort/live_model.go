package ort

import (
	"fmt"
	"slices"

	"winnow/backbone/graph"
	"winnow/features"
)

// readModel reads the derivative's inputs, weights and output, and the weights' values from the original model.
func (l *Live) readModel(original *graph.Model) error {
	if original == nil {
		return fmt.Errorf("ort: live: found no model, expected one with the weights' values")
	}
	fed := map[string]*graph.ValueInfo{}
	for _, in := range l.d.Forward.Graph.DataInputs() {
		fed[in.Name] = in
	}
	values := original.Graph.Constants()
	read := func(name string) (*features.Param, error) {
		in, t := fed[name], values[name]
		if in == nil || t == nil {
			return nil, fmt.Errorf("ort: live: weight %q is missing from the model or from its derivative", name)
		}
		delete(fed, name)
		if t.Type != graph.Float32 {
			return nil, fmt.Errorf("ort: live: weight %q: found %v, expected float32", name, t.Type)
		}
		data, err := t.Float32s()
		if err != nil {
			return nil, fmt.Errorf("ort: live: %w", err)
		}
		l.dims[name] = t.Dims
		return paramOf(name, t.Dims, data), nil
	}
	for _, name := range l.d.Weights {
		p, err := read(name)
		if err != nil {
			return err
		}
		p.Grad = make([]float32, len(p.Data))
		l.params = append(l.params, p)
	}
	for _, s := range l.d.State {
		p, err := read(s.Name)
		if err != nil {
			return err
		}
		l.state = append(l.state, p)
	}
	return l.readShapes(fed)
}

// paramOf converts a weight to a parameter of O rows, or of one row for a vector. A tensor with at most one size above
// 1 is a bias or the scale of a normalisation; weight decay does not apply to it.
func paramOf(name string, dims []int64, data []float32) *features.Param {
	p := &features.Param{Name: name, Rows: 1, Cols: len(data), Data: data}
	long := 0
	for _, d := range dims {
		if d > 1 {
			long++
		}
	}
	if len(dims) > 1 && dims[0] > 0 {
		p.Rows, p.Cols = int(dims[0]), len(data)/int(dims[0])
	}
	p.NoDecay = long <= 1
	return p
}

// readShapes reads the shapes of the data inputs, the output and the kept tensors.
func (l *Live) readShapes(fed map[string]*graph.ValueInfo) error {
	l.shapes = &batchShapes{
		model: l.d.Forward, saved: l.d.Saved,
		types: map[string]ElementType{}, by: map[int]map[string][]int64{},
	}
	for _, in := range l.d.Forward.Graph.DataInputs() {
		if fed[in.Name] == nil {
			continue
		}
		if len(in.Shape) > 0 && in.Shape[0] == graph.Fixed(1) {
			l.single = true
		}
		rest, size, err := perImage(fed, in.Name, l.single)
		if err != nil {
			return err
		}
		l.data, l.sizes = append(l.data, in.Name), append(l.sizes, size)
		l.shapes.inputs, l.shapes.rest = append(l.shapes.inputs, in.Name), append(l.shapes.rest, rest)
	}
	for _, out := range l.d.Forward.Graph.Outputs {
		l.shapes.types[out.Name] = ElementType(out.Type)
	}
	l.shapes.saved = append(slices.Clone(l.d.Saved), l.d.Output)
	count := 2
	if l.single {
		count = 1
	}
	known, err := l.shapes.shapesFor(count)
	if err != nil {
		return err
	}
	shape, ok := known[l.d.Output]
	bad := !ok || len(shape) < 2 || len(shape) > 4 || shape[0] != int64(count) || l.shapes.types[l.d.Output] != Float
	for i := 2; i < len(shape); i++ {
		bad = bad || shape[i] != 1
	}
	if bad {
		return fmt.Errorf("ort: live: output %q of %d images is %v %s, "+
			"expected one float32 vector an image: [n,D] or [n,D,1,1]",
			l.d.Output, count, l.shapes.types[l.d.Output], shapeText(shape))
	}
	l.dim, l.tail = int(shape[1]), shape[2:]
	return nil
}

// batchShapes infers the shapes of the tensors that a forward pass keeps, once for each number of images.
type batchShapes struct {
	model  *graph.Model
	inputs []string
	rest   [][]int64 // sizes of each input after the first axis
	saved  []string
	types  map[string]ElementType
	by     map[int]map[string][]int64
}

// shapesFor returns the known shapes for n images. Tensors with sizes that inference cannot tell are left out.
func (s *batchShapes) shapesFor(n int) (map[string][]int64, error) {
	if known := s.by[n]; known != nil {
		return known, nil
	}
	m := *s.model
	g := *s.model.Graph
	m.Graph = &g
	g.Inputs = slices.Clone(g.Inputs)
	batch := map[string]bool{}
	for i, in := range g.Inputs {
		if !slices.Contains(s.inputs, in.Name) {
			continue
		}
		c := *in
		c.Shape = slices.Clone(in.Shape)
		if c.Shape[0].Name != "" {
			batch[c.Shape[0].Name] = true
		}
		c.Shape[0] = graph.Fixed(int64(n))
		g.Inputs[i] = &c
	}
	facts := graph.Infer(&m)
	known := map[string][]int64{}
	for _, name := range s.saved {
		v := facts[name]
		if v == nil || v.Shape == nil {
			continue
		}
		shape, ok := make([]int64, len(v.Shape)), true
		for i, d := range v.Shape {
			switch {
			case d.Known():
				shape[i] = d.Size
			case batch[d.Name]: // inference has no rule for this size, but the file names it
				shape[i] = int64(n)
			default:
				ok = false
			}
		}
		if ok {
			known[name] = shape
		}
	}
	s.by[n] = known
	return known, nil
}
