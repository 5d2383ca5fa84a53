package peers

import (
	"fmt"
	"math"
	"slices"

	"winnow/features"
)

// Noise models.
const (
	Symmetric = "symmetric" // a wrong label is any other class, all equally likely
	Inclusive = "inclusive" // with probability p the label is drawn again from all classes, including its own
	Pair      = "pair"      // a wrong label is the next class; after the last comes the first
	Estimated = "estimated" // estimated from the predictions of a network trained on the given labels
)

// transition is a matrix of P(given label j | true label i):
//
//	symmetric  T_ii = 1 - p, T_ij = p/(C - 1)
//	inclusive  T_ii = 1 - p + p/C, T_ij = p/C
//	pair       T_ii = 1 - p, T_i,i+1 mod C = p
//	estimated  any matrix whose rows are distributions
//
// Only an estimated matrix is stored in full: with 11,318 classes it takes half a gigabyte.
// Source: METHODS 12.5; Patrini et al., CVPR 2017, section 2.
type transition struct {
	classes         int
	pair            bool
	same, other     float64         // T_ii; T_ij, or T_i,i+1 for pair
	logSame, logOff float64         // their logarithms
	dense           *features.Param // for estimated: T transposed, one row for each given label
}

// newTransition returns a known matrix, or an all-zero matrix if it has to be estimated.
func newTransition(kind string, classes int, p float64) (*transition, error) {
	if classes < 2 {
		return nil, fmt.Errorf("peers: transition: %d classes, expected at least 2", classes)
	}
	if !(p >= 0 && p <= 1) {
		return nil, fmt.Errorf("peers: transition: rate is %v, expected a share from 0 to 1", p)
	}
	t := &transition{classes: classes, pair: kind == Pair}
	switch n := float64(classes); kind {
	case Symmetric:
		t.same, t.other = 1-p, p/(n-1)
	case Inclusive:
		t.same, t.other = 1-p+p/n, p/n
	case Pair:
		t.same, t.other = 1-p, p
	case Estimated:
		t.dense = features.NewParam("transition", classes, classes)
	default:
		return nil, fmt.Errorf("peers: transition %q is unknown: known are %s, %s, %s, %s", kind, Symmetric, Inclusive,
			Pair, Estimated)
	}
	t.logSame, t.logOff = math.Log(t.same), math.Log(t.other)
	return t, nil
}

// logColumn overwrites dst with log P(given | c) of every class c.
func (t *transition) logColumn(dst []float64, given int) {
	switch {
	case t.dense != nil:
		for c, v := range t.dense.Data[given*t.classes : (given+1)*t.classes] {
			dst[c] = math.Log(float64(v))
		}
		return
	case t.pair:
		for c := range dst {
			dst[c] = math.Inf(-1)
		}
		dst[(given+t.classes-1)%t.classes] = t.logOff
	default:
		for c := range dst {
			dst[c] = t.logOff
		}
	}
	dst[given] = t.logSame
}

// setRow sets the distribution of given labels for a true class.
func (t *transition) setRow(truth int, given []float64) {
	for j, p := range given {
		t.dense.Data[j*t.classes+truth] = float32(p)
	}
}

// typicalRow returns the most typical row of a class, its anchor: the row with the class's largest probability (ties:
// the first). A percentile q > 0 excludes as outliers the rows whose probability reaches the q-th percentile (rank
// ⌈q/100·(n-1)⌉, counted from 0). If no row remains, typicalRow returns the first. If the percentile excludes more rows
// than the class has images, the anchor belongs to another class. On six synthetic classes with 40 % pair noise, a
// percentile of 97 improved the estimate with two seeds and worsened it with one, and 85 to 90 often spoiled it; hence
// the default is 0. Row i of the estimated matrix is the prediction for the anchor of class i.
// Source: Patrini et al., CVPR 2017, equations 12 and 13, and their code for the percentile. METHODS 12.4.
func typicalRow(probabilities []float64, percentile float64) int {
	below := math.Inf(1)
	if percentile > 0 {
		sorted := slices.Sorted(slices.Values(probabilities))
		below = sorted[int(math.Ceil(percentile/100*float64(len(sorted)-1)))]
	}
	best, at := math.Inf(-1), 0
	for i, p := range probabilities {
		if p < below && p > best {
			best, at = p, i
		}
	}
	return at
}
