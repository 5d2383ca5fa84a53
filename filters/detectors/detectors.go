// Package detectors judges a whole labelled set at once, as two published methods do at the start of each of their
// epochs: Sel-CL lets every row's nearest neighbours vote on its label, TCL compares a row with centres of the
// classes and fits a mixture of two normal distributions to how badly it fits its own.
//
// Both say P(clean) of every given label ([SelCL.Clean], [TCL.Clean]), which an audit can use, and what their
// training needs besides: selected rows, confident pairs, class centres. Rows are divided by their lengths at the
// door; similarities are cosines. The products are float32, everything that is decided is float64: what lies
// closer to a cut than float32 can tell is computed again ([precision]), so that copies of one vector are equal and
// no choice depends on how a product was blocked.
//
// A negative label is none: such a row is neither judged nor selected, but has neighbours, a pseudo
// label and a share in the centres. The package sees given labels only, keeps nothing between calls, and imports
// only features.
package detectors

import (
	"fmt"
	"math"
	"slices"

	"winnow/features"
)

// unit checks a set at the door and returns it with rows of length 1, copied.
func unit(z features.Set, classes int) (features.Set, error) {
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

// precision bounds how far a float32 product of two unit rows of dimension d is from the exact one, whatever the
// order of its sum: d·2⁻²⁴, and a little for rows whose length is rounded.
func precision(d int) float64 { return 1.01 * float64(d+4) * 0x1p-24 }
