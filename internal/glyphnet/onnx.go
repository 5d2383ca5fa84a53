package main

import (
	"fmt"

	"winnow/backbone/graph"
)

// Names of the shipped model's input and output, and its operator set, which old runtimes know. The model's operators,
// Conv, Relu, GlobalAveragePool and Flatten on float32, mean the same there as in the description's set.
const (
	inputName  = "input"
	outputName = "features"
	opset      = 13
)

// maxBytes is the largest size of the shipped file.
const maxBytes = 2 << 20

// encodeModel returns the shipped form of the network: normalisations folded, weights named blockN.weight and
// blockN.bias.
func (n *network) encodeModel() ([]byte, error) {
	m, err := n.exportTrained()
	if err != nil {
		return nil, err
	}
	if m, err = foldNormalizations(m); err != nil {
		return nil, err
	}
	m.IRVersion, m.Opsets = 7, []graph.Opset{{Version: opset}}
	m.Producer = "winnow/internal/glyphnet"
	m.Doc = "Characters of 32×32 pixels to vectors; trained on characters that the dataset glyphs does not contain. " +
		"Input: (grey/255 - 0.5)/0.25."
	m.Metadata = nil // it said that the model is untrained
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("glyphnet: %w", err)
	}
	data := m.Marshal()
	if len(data) > maxBytes {
		return nil, fmt.Errorf("glyphnet: model: found %d bytes, expected at most %d", len(data), maxBytes)
	}
	return data, nil
}
