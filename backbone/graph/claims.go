package graph

import "fmt"

// maxClaim limits the bytes of one tensor, as far as its size is known, and of all tensors that follow from
// constants: a runtime computes those when it loads the model. No weight in an ONNX file, which has at most 2
// GiB, is larger.
const maxClaim = 2 << 30

// checkClaims returns an error if nodes make tensors, from a few numbers, that do not fit into any memory: a
// file of a hundred bytes can ask for terabytes. It checks only sizes that inference has found.
func (m *Model) checkClaims() error {
	facts := inferModel(m)
	constant := map[string]bool{"": true}
	for _, t := range m.Graph.Initializers {
		constant[t.Name] = true
	}
	total := int64(0)
	for i, n := range m.Graph.Nodes {
		fixed := len(n.Subgraphs()) == 0
		for _, in := range n.Inputs {
			fixed = fixed && constant[in]
		}
		for _, out := range n.Outputs {
			size := facts[out].leastBytes()
			if fixed && out != "" {
				constant[out] = true
				total += size
			}
			if max(size, total) > maxClaim {
				return fmt.Errorf("node %d %q (%s): makes %v %v, more than %d GiB", i+1, n.Name, n.Op, facts[out].typ,
					facts[out].shape, maxClaim>>30)
			}
		}
	}
	return nil
}

// leastBytes returns the size of a tensor if its free sizes were 1, capped slightly above maxClaim, or 0 if
// nothing is known about it.
func (f fact) leastBytes() int64 {
	if f.shape == nil {
		return 0
	}
	n := int64(1)
	for _, d := range f.shape {
		if !d.Known() {
			continue
		}
		if d.Size > 0 && n > 2*maxClaim/d.Size {
			n = 2 * maxClaim
			continue
		}
		n *= d.Size
	}
	return max(f.typ.rawBytes(n), n/8)
}
