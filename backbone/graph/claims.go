package graph

import "fmt"

// maxClaim limits the bytes of one tensor, as far as its sizes are known, and of all tensors computed from constants,
// because a runtime computes these when it loads the model. It is not less than any weight of an ONNX file, which is
// limited to 2 GiB.
const maxClaim = 2 << 30

// checkClaims returns an error if nodes create tensors that do not fit into memory: a file of a hundred bytes can
// request terabytes. It checks only the sizes that shape inference determines.
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

// leastBytes returns the size in bytes of a tensor, with every free size taken as 1. The result is capped slightly
// above maxClaim, and 0 if type or shape is unknown.
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
