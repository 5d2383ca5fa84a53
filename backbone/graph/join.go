package graph

import "fmt"

// Layer is one affine step of a head: y = x·Wᵀ + b, followed by ReLU if requested.
type Layer struct {
	In, Out int
	Weight  []float32 // Out×In row-major, or In×Out if InByOut is set
	InByOut bool
	Bias    []float32 // Out numbers, or nil
	ReLU    bool
}

// oldestJoin is the first operator set with numpy's broadcasting, which the added nodes require.
const oldestJoin = 7

// Join appends layers to a model's only output, a tensor [N,In], and, if normalise is set, scaling to unit length. The
// only output of the new model has the given name. Shapes, operator set and nodes of the model do not change. The
// added nodes exist in every operator set from 7 on. The scaling
//
//	z = y / max(‖y‖₂, 10⁻¹²)
//
// is written with basic operators. With LpNormalization the result for a zero vector (0/0) would depend on the
// runtime, and LpNormalization has no CUDA kernel.
func Join(m *Model, layers []Layer, normalise bool, output string) (*Model, error) {
	if len(m.Graph.Outputs) != 1 {
		return nil, fmt.Errorf("graph: join: found %d outputs %s, expected one: cut the model first",
			len(m.Graph.Outputs), joinNames(m.Graph.Outputs))
	}
	if v := m.Opset(); v < oldestJoin || v > newestOpset {
		return nil, fmt.Errorf("graph: join: found operator set %d, expected %d to %d: export the model again "+
			"with one of these versions", v, oldestJoin, newestOpset)
	}
	at := m.Graph.Outputs[0]
	if s := at.Shape; s != nil && (len(s) != 2 || len(layers) > 0 && s[1].Known() && s[1].Size != int64(layers[0].In)) {
		return nil, fmt.Errorf("graph: join: output %v, expected [N,D], the input of the head%s", at,
			formatLayers(layers))
	}
	b := Extend(m)
	if output == "" || b.taken[output] {
		return nil, fmt.Errorf("graph: join: output %q: the name is empty or taken", output)
	}
	b.taken[output] = true
	x := at.Name
	for i, l := range layers {
		if err := l.checkLayer(); err != nil {
			return nil, fmt.Errorf("graph: join: layer %d: %w", i+1, err)
		}
		if i > 0 && l.In != layers[i-1].Out {
			return nil, fmt.Errorf("graph: join: layer %d takes %d numbers, the previous one gives %d", i+1, l.In,
				layers[i-1].Out)
		}
		x = b.addAffine(x, l)
	}
	if normalise {
		x = b.addNormalise(x)
	}
	b.NodeTo(output, "Identity", []string{x})
	b.SetOutputs(output)
	return b.Model(), nil
}

func formatLayers(layers []Layer) string {
	if len(layers) == 0 {
		return ""
	}
	return fmt.Sprintf(", with D = %d", layers[0].In)
}

func (l Layer) checkLayer() error {
	if l.In <= 0 || l.Out <= 0 || len(l.Weight) != l.In*l.Out || (l.Bias != nil && len(l.Bias) != l.Out) {
		return fmt.Errorf("found %d weights and %d biases, expected %d×%d and %d (or no bias)", len(l.Weight),
			len(l.Bias), l.Out, l.In, l.Out)
	}
	return nil
}

// addAffine adds a layer as a Gemm (and a Relu) after x [N,In] and returns the name of the result [N,Out].
func (b *Builder) addAffine(x string, l Layer) string {
	rows, cols, transposed := int64(l.Out), int64(l.In), int64(1)
	if l.InByOut {
		rows, cols, transposed = cols, rows, 0
	}
	inputs := []string{x, b.Constant(NewTensor("head_weight", l.Weight, rows, cols))}
	bias := l.Bias
	if bias == nil && b.Opset() < 11 {
		bias = make([]float32, l.Out) // Gemm's third input is optional only since operator set 11
	}
	if bias != nil {
		inputs = append(inputs, b.Constant(NewTensor("head_bias", bias, int64(l.Out))))
	}
	y := b.Node("Gemm", inputs, Int("transB", transposed))
	if l.ReLU {
		y = b.Node("Relu", []string{y})
	}
	return y
}

// addNormalise divides each row of x [N,D] by its length, at least 10⁻¹², and returns the name of the result.
func (b *Builder) addNormalise(x string) string {
	const least = 1e-12
	var length string
	if b.Opset() >= 18 {
		axes := b.Constant(NewTensor("row_axis", []int64{1}, 1))
		length = b.Node("ReduceL2", []string{x, axes}, Int("keepdims", 1))
	} else {
		length = b.Node("ReduceL2", []string{x}, Ints("axes", 1), Int("keepdims", 1))
	}
	if b.Opset() >= 11 {
		length = b.Node("Clip", []string{length, b.Constant(NewTensor("least_length", []float32{least}))})
	} else {
		length = b.Node("Clip", []string{length}, Float("min", least))
	}
	return b.Node("Div", []string{x, length})
}
