package gradient

import (
	"fmt"
	"math"
	"slices"

	"winnow/backbone/graph"
)

// replaceResizes replaces every Resize of what the weights can change by products: along each of the last two axes it
// is a linear map, Y = A·X·Bᵀ. Sizes must be known; only these two axes may change, as when position embeddings of
// patches are resized to another grid. (ONNX Runtime moves transpositions over a Resize to where it has no cubic
// kernel.)
//
// Upsample, and Resize before set 11, are asymmetric and round down when they enlarge, up when they shrink.
//
// Source: ONNX's operator Resize (coordinate_transformation_mode, mode); Keys, IEEE ASSP 1981, eq. 15 (cubic).
func replaceResizes(m *graph.Model, o Options) error {
	depends := map[string]bool{}
	for _, name := range slices.Concat(o.Weights, o.Inputs) {
		depends[name] = true
	}
	var r *resizing
	b := graph.Extend(m)
	g := b.Model().Graph
	nodes := g.Nodes
	g.Nodes = nil
	for _, n := range nodes {
		if slices.ContainsFunc(listReads(n), func(name string) bool { return depends[name] }) {
			for _, out := range n.Outputs {
				depends[out] = true
			}
		}
		if opKey(n) != "Resize" && opKey(n) != "Upsample" || !depends[n.Inputs[0]] {
			b.Add(n)
			continue
		}
		if r == nil {
			r = &resizing{b: b, facts: graph.Infer(m), constants: m.Graph.Constants()}
		}
		r.Node = n
		if err := r.writeProducts(); err != nil {
			return fmt.Errorf("gradient: operator %s of node %q (making %q): %w", n.Op, n.Name, n.Outputs[0], err)
		}
	}
	if r != nil {
		m.Graph = g
	}
	return nil
}

// resizing is a Resize while it is replaced.
type resizing struct {
	*graph.Node
	b         *graph.Builder
	facts     map[string]*graph.ValueInfo
	constants map[string]*graph.Tensor
}

// writeProducts adds the products.
func (c *resizing) writeProducts() error {
	from, to := c.facts[c.Input(0)], c.facts[c.Outputs[0]]
	if from == nil || to == nil || len(from.Shape) < 2 || len(to.Shape) != len(from.Shape) {
		return fmt.Errorf("found unknown shapes of input or output, expected known ones")
	}
	x, y := from.Shape, to.Shape
	rank := len(x)
	for i := range x {
		if i < rank-2 && !isEqualSize(x[i], y[i]) || i >= rank-2 && (!x[i].Known() || !y[i].Known()) {
			return fmt.Errorf("found shapes %v to %v, expected that only the last two, known sizes change", x, y)
		}
	}
	if c.Int("antialias", 0) != 0 || c.Int("exclude_outside", 0) != 0 ||
		c.Text("keep_aspect_ratio_policy", "stretch") != "stretch" {
		return fmt.Errorf("it is antialiased, leaves out what is outside or keeps the aspect, expected none of these")
	}
	at := c.Input(0)
	for i, axis := range []int{rank - 1, rank - 2} {
		in, out := int(x[axis].Size), int(y[axis].Size)
		scale, err := c.scaleOf(axis, rank, float64(out)/float64(in))
		if err != nil {
			return err
		}
		m, err := c.resizeMatrix(in, out, scale)
		if err != nil {
			return err
		}
		if i == 0 {
			m = turnedMatrix(m, out, in)
			at = c.b.Node("MatMul", []string{at, c.resizeConstant(m, from.Type, in, out)})
			continue
		}
		c.b.NodeTo(c.Outputs[0], "MatMul", []string{c.resizeConstant(m, from.Type, out, in), at})
	}
	return nil
}

func (c *resizing) resizeConstant(m []float64, t graph.DataType, rows, cols int) string {
	return c.b.Constant(newFloatTensor(t, "resizing", m, int64(rows), int64(cols)))
}

// scaleOf returns the scale of an axis: that which the node states, or the ratio of the sizes that it states.
func (c *resizing) scaleOf(axis, rank int, ratio float64) (float64, error) {
	if a := c.Attribute("scales"); a != nil && axis < len(a.Floats) {
		return float64(a.Floats[axis]), nil
	}
	scales := c.Input(2)
	if len(c.Inputs) == 2 {
		scales = c.Input(1)
	}
	if scales == "" || c.Input(3) != "" {
		return ratio, nil
	}
	t := c.constants[scales]
	if t == nil {
		return 0, fmt.Errorf("scales %q: found computed ones, expected constants or sizes", scales)
	}
	list, err := t.Float64s()
	if err != nil {
		return 0, err
	}
	at := axis
	if axes := c.Ints("axes"); axes != nil {
		if at = slices.Index(axes, int64(axis)); at < 0 {
			at = slices.Index(axes, int64(axis-rank))
		}
	}
	if at < 0 || at >= len(list) {
		return ratio, nil
	}
	return list[at], nil
}

// resizeMatrix returns the matrix [out,in] of a Resize along one axis.
func (c *resizing) resizeMatrix(in, out int, scale float64) ([]float64, error) {
	mode := c.Text("mode", "nearest")
	m := make([]float64, out*in)
	for i := range out {
		at, err := c.sourcePlace(float64(i), in, out, scale)
		if err != nil {
			return nil, err
		}
		row := m[i*in : (i+1)*in]
		add := func(p int, v float64) { row[min(max(p, 0), in-1)] += v }
		switch mode {
		case "nearest":
			p, err := c.roundPlace(at, scale)
			if err != nil {
				return nil, err
			}
			add(p, 1)
		case "linear":
			at = min(max(at, 0), float64(in-1))
			low := math.Floor(at)
			add(int(low), 1-(at-low))
			add(int(low)+1, at-low)
		case "cubic":
			low := math.Floor(at)
			a := float64(c.Float("cubic_coeff_a", -0.75))
			for k := -1; k <= 2; k++ {
				add(int(low)+k, cubicWeight(math.Abs(at-low-float64(k)), a))
			}
		default:
			return nil, fmt.Errorf("found mode %q, expected nearest, linear or cubic", mode)
		}
	}
	return m, nil
}

// cubicWeight is the cubic convolution kernel with parameter a at a distance.
func cubicWeight(d, a float64) float64 {
	switch {
	case d <= 1:
		return ((a+2)*d-(a+3))*d*d + 1
	case d < 2:
		return a * (((d-5)*d+8)*d - 4)
	}
	return 0
}

// textMode returns a text attribute, with its default, or what operators did before they had it.
func (c *resizing) textMode(attribute, otherwise, old string) string {
	if c.Op == "Upsample" || c.b.Opset() < 11 {
		return old
	}
	return c.Text(attribute, otherwise)
}

// sourcePlace returns where the i-th of out samples lies among in.
func (c *resizing) sourcePlace(i float64, in, out int, scale float64) (float64, error) {
	how := c.textMode("coordinate_transformation_mode", "half_pixel", "asymmetric")
	switch {
	case (how == "pytorch_half_pixel" || how == "align_corners") && out == 1:
		return 0, nil
	case how == "half_pixel" || how == "pytorch_half_pixel":
		return (i+0.5)/scale - 0.5, nil
	case how == "asymmetric":
		return i / scale, nil
	case how == "align_corners":
		return i * float64(in-1) / float64(out-1), nil
	}
	return 0, fmt.Errorf("found coordinate_transformation_mode %q, expected half_pixel, pytorch_half_pixel, "+
		"asymmetric or align_corners", how)
}

// roundings are the functions of nearest_mode.
var roundings = map[string]func(at float64) float64{
	"round_prefer_floor": func(at float64) float64 { return math.Ceil(at - 0.5) },
	"round_prefer_ceil":  func(at float64) float64 { return math.Floor(at + 0.5) },
	"floor":              math.Floor, "ceil": math.Ceil,
}

// roundPlace rounds a place as the node says.
func (c *resizing) roundPlace(at, scale float64) (int, error) {
	old := "floor"
	if scale < 1 {
		old = "ceil"
	}
	how := c.textMode("nearest_mode", "round_prefer_floor", old)
	if roundings[how] == nil {
		return 0, fmt.Errorf("found nearest_mode %q", how)
	}
	return int(roundings[how](at)), nil
}

// turnedMatrix transposes a matrix of rows×cols.
func turnedMatrix(m []float64, rows, cols int) []float64 {
	t := make([]float64, len(m))
	for i := range rows {
		for j := range cols {
			t[j*rows+i] = m[i*cols+j]
		}
	}
	return t
}
