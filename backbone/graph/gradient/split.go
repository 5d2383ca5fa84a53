package gradient

import (
	"fmt"
	"slices"

	"winnow/backbone/graph"
)

// Split cuts a model in two at the point where training begins. The live model contains every node that the output
// needs and that depends on a trained weight. The frozen model computes the tensors that the live model reads from the
// other nodes.
//
//	image → frozen → boundary → live → output
//
// The boundary consists of several tensors if a residual connection crosses the cut. They are the outputs of the
// frozen model and the data inputs of the live model. If a live node reads the image, the image is an input of the
// live model as well. frozen is nil if no node precedes the live part.
//
// A boundary tensor is float32 with the images along its first axis and otherwise known sizes, so that it can be stored
// image by image. If the model takes a single image, the first axis is 1. The live part computes all other tensors that
// it reads itself: shapes and integers derived from them, masks, tensors that do not depend on an image, and tensors
// whose first axis is not the images. The shape of a frozen tensor is replaced by the number of images and the known
// sizes. Both models keep the names of m, m is not changed, and together the two models compute the same output as m.
func Split(m *graph.Model, output string, weights []string) (frozen, live *graph.Model, boundary []string, err error) {
	s, err := newParting(m, output, weights)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, n := range slices.Backward(s.m.Graph.Nodes) {
		if s.live[n] {
			for _, in := range listReads(n) {
				s.wantTensor(in)
			}
		}
	}
	live, err = s.liveModel(output)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, v := range s.m.Graph.Nodes { // in the order of execution
		for _, out := range v.Outputs {
			if s.crosses[out] {
				boundary = append(boundary, out)
			}
		}
	}
	if len(boundary) == 0 {
		return nil, live, nil, nil
	}
	b := graph.Extend(s.m)
	b.SetOutputs(boundary...)
	b.Prune(boundary)
	frozen = b.Model()
	s.dropInputs(frozen)
	return frozen, live, boundary, nil
}

// parting is the state of cutting a model.
type parting struct {
	m       *graph.Model
	makers  map[string]*graph.Node
	facts   map[string]*graph.ValueInfo
	images  map[string]bool      // data inputs
	batch   map[string]bool      // names of free sizes that are the number of images
	single  bool                 // whether the model takes one image at a time
	varies  map[string]bool      // tensors whose values, not only whose shape, depend on an image
	live    map[*graph.Node]bool // nodes that depend on a trained weight
	copied  map[*graph.Node]bool // frozen nodes that the live model also computes
	crosses map[string]bool      // tensors on the boundary
	direct  map[string]bool      // images that the live model reads
	shapes  map[*graph.Node]bool // copied Shape nodes of tensors that are not on the boundary
}

func newParting(m *graph.Model, output string, weights []string) (*parting, error) {
	m, err := graph.Cut(m, output)
	if err != nil {
		return nil, err
	}
	s := &parting{
		m: nameImages(m), images: map[string]bool{}, batch: map[string]bool{}, varies: map[string]bool{},
		live: map[*graph.Node]bool{}, copied: map[*graph.Node]bool{}, crosses: map[string]bool{},
		direct: map[string]bool{},
		shapes: map[*graph.Node]bool{},
	}
	s.makers, s.facts = s.m.Graph.Producers(), graph.Infer(s.m)
	for _, in := range s.m.Graph.DataInputs() {
		s.images[in.Name], s.varies[in.Name] = true, true
		if len(in.Shape) > 0 && !in.Shape[0].Known() {
			s.batch[in.Shape[0].Name] = true
		}
		s.single = s.single || len(in.Shape) > 0 && in.Shape[0] == graph.Fixed(1)
	}
	return s, s.markLive(output, weights)
}

// nameImages names the free size of the images' first axis. The name identifies tensors that hold one row per image.
func nameImages(m *graph.Model) *graph.Model {
	c := graph.Extend(m).Model()
	for i, in := range c.Graph.Inputs {
		if len(in.Shape) > 0 && !in.Shape[0].Known() && in.Shape[0].Name == "" {
			v := *in
			v.Shape = slices.Clone(in.Shape)
			v.Shape[0] = graph.Free("images")
			c.Graph.Inputs[i] = &v
		}
	}
	return c
}

// markLive marks the live nodes and the tensors that depend on images.
func (s *parting) markLive(output string, weights []string) error {
	changes := map[string]bool{}
	for _, w := range weights {
		n := s.makers[w]
		if s.m.Graph.Initializer(w) == nil && (n == nil || n.ConstantValue() == nil) {
			return fmt.Errorf("gradient: weight %q: the part of the model that computes %q has no "+
				"initializer of that name", w, output)
		}
		changes[w] = true
	}
	for _, n := range s.m.Graph.Nodes {
		var changed, varied bool
		for _, in := range listReads(n) {
			changed, varied = changed || changes[in], varied || s.varies[in]
		}
		s.live[n] = changed
		for _, out := range n.Outputs {
			if out != "" {
				changes[out] = changes[out] || changed
				s.varies[out] = varied && n.Op != "Shape" && n.Op != "Size"
			}
		}
	}
	if !changes[output] {
		return fmt.Errorf("gradient: output %q depends on none of the weights %q", output, weights)
	}
	return nil
}

// wantTensor records that the live model reads a tensor: the tensor crosses the boundary, is an image, or is computed
// again in the live model.
func (s *parting) wantTensor(tensor string) {
	n := s.makers[tensor]
	switch {
	case s.images[tensor]:
		s.direct[tensor] = true
	case n == nil || s.live[n] || s.copied[n] || s.crosses[tensor]: // a constant, or already handled
	case s.isStorable(tensor):
		s.crosses[tensor] = true
	default:
		s.copied[n] = true
		if n.Op == "Shape" && s.isRewritable(n) {
			s.shapes[n] = true
			return
		}
		for _, in := range listReads(n) {
			s.wantTensor(in)
		}
	}
}

// isStorable reports whether a tensor can be stored image by image.
func (s *parting) isStorable(tensor string) bool {
	v := s.facts[tensor]
	if !s.varies[tensor] || v == nil || v.Type != graph.Float32 || !s.countsImages(v.Shape) {
		return false
	}
	return isFixed(v.Shape[1:])
}

func isFixed(s graph.Shape) bool {
	return !slices.ContainsFunc(s, func(d graph.Dim) bool { return !d.Known() })
}

// countsImages reports whether the first axis is the number of images.
func (s *parting) countsImages(shape graph.Shape) bool {
	if len(shape) == 0 {
		return false
	}
	return !shape[0].Known() && s.batch[shape[0].Name] || s.single && shape[0] == graph.Fixed(1)
}

// isRewritable reports whether a Shape node can be replaced by the number of images and known sizes.
func (s *parting) isRewritable(n *graph.Node) bool {
	v := s.facts[n.Inputs[0]]
	if v == nil || v.Shape == nil || len(n.Attributes) > 0 {
		return false
	}
	return isFixed(v.Shape) || s.countsImages(v.Shape) && isFixed(v.Shape[1:])
}

// listReads lists the tensors that a node reads, including those that its subgraphs read from outside.
func listReads(n *graph.Node) []string {
	names := slices.DeleteFunc(slices.Clone(n.Inputs), func(name string) bool { return name == "" })
	for _, sub := range n.Subgraphs() {
		for _, inner := range sub.Nodes {
			// may include names defined in the subgraph, which is harmless
			names = append(names, listReads(inner)...)
		}
		for _, out := range sub.Outputs {
			names = append(names, out.Name)
		}
	}
	return names
}
