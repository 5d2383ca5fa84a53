// Package detectors judges a whole labelled set at once, with two published methods that do so at the start of
// every epoch. In Sel-CL every row's nearest neighbours vote on its label. TCL compares each row with class
// centres and fits a mixture of two normal distributions to how badly the rows fit their own class.
//
// Both return P(clean) of every given label ([Selection.Share], [Detection.Clean]), for an audit, and what their
// training also needs: selected rows, confident pairs, class centres. Rows are normalised on entry; similarities are
// cosines. Products are float32, decisions float64. What is closer to a cut than float32 can resolve is computed
// again ([productError]), so that copies of one vector are treated alike and no choice depends on how a product was
// blocked.
//
// A negative label means no label: such a row is neither judged nor selected, but it has neighbours, a pseudo
// label and a share in the centres. The package sees given labels only, keeps nothing between calls, and
// imports only features and eval (the nearest neighbours).
package detectors

import (
	"fmt"
	"math"
	"slices"

	"winnow/features"
)

// unitCopy checks a set and returns a copy with rows of length 1.
func unitCopy(z features.Set, classes int) (features.Set, error) {
	switch {
	case z.Len() < 2:
		return z, fmt.Errorf("detectors: %d vectors, expected at least 2", z.Len())
	case z.Len() > math.MaxInt32:
		return z, fmt.Errorf("detectors: %d vectors, expected at most %d", z.Len(), math.MaxInt32)
	case len(z.Labels) != z.Len():
		return z, fmt.Errorf("detectors: %d labels, expected one for each of %d vectors", len(z.Labels), z.Len())
	case classes < 1:
		return z, fmt.Errorf("detectors: %d classes, expected at least 1", classes)
	}
	if top := slices.Max(z.Labels); top >= classes {
		return z, fmt.Errorf("detectors: row %d: label %d, expected one of %d classes", slices.Index(z.Labels, top),
			top, classes)
	}
	out := features.Set{X: features.NewMatrix(z.Len(), z.Dim()), Labels: z.Labels, IDs: z.IDs}
	for i := range z.Len() {
		copy(out.Row(i), z.Row(i))
	}
	if err := features.Normalize(out.X); err != nil {
		return z, fmt.Errorf("detectors: %w", err)
	}
	return out, nil
}

// productError bounds the error of a float32 product of two unit rows of dimension d in any order of summation:
// d·2⁻²⁴, plus a little for rounded lengths.
func productError(d int) float64 { return 1.01 * float64(d+4) * 0x1p-24 }
