package theory

import "math"

// computeMargin returns Q, the factor by which the risk of a weighted pair loss under noise follows the clean risk. The
// minimiser of the clean risk minimises the noisy one as long as Q ≥ 0.
//
//	Q = min( 1 - q₊ - q₊·w₋/w₊,  1 - q₋ - q₋·w₊/w₋ )
//
// ratio is w₊/w₋ > 0, the weight of a positive pair relative to a negative one. Source: 000 eq. 22.
func computeMargin(q PairNoise, ratio float64) float64 {
	return min(1-q.Positive-q.Positive/ratio, 1-q.Negative-q.Negative*ratio)
}

// computeNoiseBound returns the label noise at which Q falls to level, w₊/w₋ = ratio > K-2:
//
//	p = (K-1)/K · (1 - √(1 - (1-level)·K/(1+ratio)))
//
// It is the second item of Q that binds: q₋ = q₊/(K-1) turns it into 1 - q₊(1+ratio)/(K-1), and
// (1+ratio)/(K-1) > 1 + 1/ratio. The printed q₊ is smaller, so that the bounds are the same.
func computeNoiseBound(classes int, ratio, level float64) float64 {
	return labelNoiseOf((1-level)*float64(classes-1)/(1+ratio), classes)
}

// unhingedBound returns the label noise up to which the unhinged triplet loss keeps its minimiser under 1-1
// sampling: w₊/w₋ = K. It tends to 1 for many classes; 000 gives the limit only (eq. 24, 25).
func unhingedBound(classes int) float64 { return computeNoiseBound(classes, float64(classes), 0) }

// tripletBound returns the label noise up to which Q ≥ 0 if mining selects the hardest negative pairs η ≥ 1
// times as often as it should, and the easiest 1/η times: w₋ between 1/(ηK) and η/K (000 eq. 26, corrected to 1
// - (2p-p²)η ≥ 0, at K classes).
func tripletBound(classes int, eta float64) float64 {
	return computeNoiseBound(classes, eta*float64(classes), 0)
}

// tripletBoundLimit returns [tripletBound] for many classes: 1 - √(1 - 1/η), 000 eq. 27.
func tripletBoundLimit(eta float64) float64 { return labelNoise(1 / eta) }

// tripletBoundPrinted returns what 000 eq. 26 as printed, 1 - (2p+q²)η ≥ 0 with q read as p, would allow:
// √(1 + 1/η) - 1. The paper's own next line, eq. 27, does not follow from it.
func tripletBoundPrinted(eta float64) float64 { return math.Sqrt(1+1/eta) - 1 }

// marginalBound returns the label noise at which Q falls to level for the marginal loss with weights η₊ of positive
// and η₋/K of negative pairs, γ = min η₋ / max η₊ in (0, 1]. level is 0, or 1/2 as the paper's text asks
// (000 section 5.3 and eq. 45, at K classes).
func marginalBound(classes int, gamma, level float64) float64 {
	return computeNoiseBound(classes, float64(classes)/gamma, level)
}

// marginalBoundLimit returns [marginalBound] for many classes: 1 - √(1 - (1-level)γ). With level 0 it is 000 eq. 37,
// which the paper derives for Q ≥ 1/2 and which is the solution of Q ≥ 0.
func marginalBoundLimit(gamma, level float64) float64 { return labelNoise((1 - level) * gamma) }

// noisyPerClean returns z from 000 A.2, which is 1/(1/γ - 1), infinite at γ = 1. The residual of the marginal loss
// stays negative, with high probability, as long as at most z pairs have a weight only under noise for each pair that
// has a weight only under clean labels.
func noisyPerClean(gamma float64) float64 { return 1 / (1/gamma - 1) }

// OneToOne counts the ordered pairs and triplets of K classes with s images each, and gives the weight of a negative
// pair if each positive pair draws one negative of its anchor. Batches of fewer classes change neither: every positive
// pair uses one negative pair, so w₊/w₋ is the ratio of their numbers.
type OneToOne struct {
	PositivePairs int // K·s(s-1)
	NegativePairs int // Ks·(K-1)s
	// Triplets is every positive pair with every negative of its anchor.
	Triplets             int
	NegativesPerPositive int     // (K-1)s
	PositivesPerNegative int     // s-1
	Weight               float64 // exactly: (s-1)/((K-1)s)
	WeightPrinted        float64
	Bound                float64 // as unhingedBound, with the exact weight
}

// countPairs counts classes × each images, classes ≥ 2 and each ≥ 2. Source: 000 eq. 13–15; w₋ = 1/K
// of eq. 15 is an approximation of (s-1)/((K-1)s).
func countPairs(classes, each int) OneToOne {
	o := OneToOne{
		PositivePairs:        classes * each * (each - 1),
		NegativePairs:        classes * each * (classes - 1) * each,
		NegativesPerPositive: (classes - 1) * each,
		PositivesPerNegative: each - 1,
		WeightPrinted:        1 / float64(classes),
	}
	o.Triplets = o.PositivePairs * o.NegativesPerPositive
	o.Weight = float64(o.PositivesPerNegative) / float64(o.NegativesPerPositive)
	o.Bound = computeNoiseBound(classes, 1/o.Weight, 0)
	return o
}
