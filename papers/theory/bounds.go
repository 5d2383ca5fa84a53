package theory

import "math"

// computeMargin returns Q, the smallest factor with which noise scales the terms of a weighted pair loss. As long as
// Q ≥ 0, the minimiser of the clean risk also minimises the noisy risk.
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
// The second term of Q is the smaller one: with q₋ = q₊/(K-1) it is 1 - q₊(1+ratio)/(K-1), and
// (1+ratio)/(K-1) > 1 + 1/ratio. The printed q₊ is smaller, so that the bound is the same for it.
func computeNoiseBound(classes int, ratio, level float64) float64 {
	return labelNoiseOf((1-level)*float64(classes-1)/(1+ratio), classes)
}

// unhingedBound returns the label noise up to which the unhinged triplet loss keeps its minimiser under 1-1
// sampling: w₊/w₋ = K. The bound tends to 1 for many classes; 000 gives only this limit (eq. 24, 25).
func unhingedBound(classes int) float64 { return computeNoiseBound(classes, float64(classes), 0) }

// tripletBound returns the label noise up to which Q ≥ 0 if mining selects the hardest negative pairs η ≥ 1 times as
// often as uniform sampling, and the easiest 1/η times as often. w₋ is then between 1/(ηK) and η/K (000 eq. 26,
// corrected to 1 - (2p-p²)η ≥ 0, for K classes).
func tripletBound(classes int, eta float64) float64 {
	return computeNoiseBound(classes, eta*float64(classes), 0)
}

// tripletBoundLimit returns [tripletBound] for many classes: 1 - √(1 - 1/η), 000 eq. 27.
func tripletBoundLimit(eta float64) float64 { return labelNoise(1 / eta) }

// tripletBoundPrinted returns the largest label noise allowed by eq. 26 of paper 000 as printed, 1 - (2p+q²)η ≥ 0.
// With q taken as p, it is √(1 + 1/η) - 1. The paper's next line, eq. 27, does not follow from the printed eq. 26.
func tripletBoundPrinted(eta float64) float64 { return math.Sqrt(1+1/eta) - 1 }

// marginalBound returns the label noise at which Q falls to level for the marginal loss with weights η₊ of positive
// and η₋/K of negative pairs, γ = min η₋ / max η₊ in (0, 1]. level is 0, or 1/2 as required in the paper's text
// (000 section 5.3 and eq. 45, for K classes).
func marginalBound(classes int, gamma, level float64) float64 {
	return computeNoiseBound(classes, float64(classes)/gamma, level)
}

// marginalBoundLimit returns [marginalBound] for many classes: 1 - √(1 - (1-level)γ). With level 0 it is 000 eq. 37.
// The paper derives eq. 37 for Q ≥ 1/2, but it is the solution of Q ≥ 0.
func marginalBoundLimit(gamma, level float64) float64 { return labelNoise((1 - level) * gamma) }

// noisyPerClean returns z from 000 A.2: 1/(1/γ - 1), or +Inf for γ = 1. Some pairs have a weight only under noisy
// labels, and some only under clean labels. With high probability the residual of the marginal loss stays negative if
// there are at most z of the former for each of the latter.
func noisyPerClean(gamma float64) float64 { return 1 / (1/gamma - 1) }

// OneToOne holds the numbers of ordered pairs and triplets of K classes with s images each, and the weight of a
// negative pair if each positive pair draws one negative of its anchor. Every positive pair uses one negative pair, so
// that w₊/w₋ is the ratio of their numbers. Batches with fewer classes do not change this ratio.
type OneToOne struct {
	PositivePairs int // K·s(s-1)
	NegativePairs int // Ks·(K-1)s
	// Triplets is the number of combinations of a positive pair with a negative of its anchor.
	Triplets             int
	NegativesPerPositive int     // (K-1)s
	PositivesPerNegative int     // s-1
	Weight               float64 // exact w₋: (s-1)/((K-1)s)
	WeightPrinted        float64
	Bound                float64 // unhingedBound with the exact weight
}

// countPairs returns the counts for at least 2 classes with at least 2 images each. Source: 000 eq. 13–15; w₋ = 1/K
// in eq. 15 approximates (s-1)/((K-1)s).
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
