// Package theory computes what is known about label noise without data: how often pairs and triplets are wrong if
// labels are, and how much noise a loss withstands in theory. All numbers are float64.
//
// Symbols: p (the τ of SCL-RHE) is the rate of symmetric label noise, 0 ≤ p < 1: a label is right with
// probability 1-p and any of the K-1 others with probability p/(K-1). K ≥ 2 classes, all equally frequent.
// q₊ is the share of the truly alike pairs whose labels differ, q₋ that of the truly different pairs whose
// labels agree. Rates are fractions, not percent. Functions do not check their arguments; [Setting.Check] does.
//
// Sources: 000 = Le & Odobez, "Theoretical Guarantees of Deep Embedding Losses Under Label Noise"; 004 = the
// SCL-RHE paper on human-labelling errors in supervised contrastive learning (2024). A printed value is
// a paper's own where it errs.
package theory

import "math"

// PairNoise is the share of wrong pairs among those that are truly alike (Positive, q₊) and truly different
// (Negative, q₋).
type PairNoise struct {
	Positive float64
	Negative float64
}

// Pairs returns the pair noise of a label noise p over K classes.
//
//	q₊ = 2p(1-p) + p²(K-2)/(K-1)      q₋ = 2p(1-p)/(K-1) + p²(K-2)/(K-1)² = q₊/(K-1)
//
// Source: 000 eq. 7 and 8, the latter corrected: two labels drawn from K-1 differ with probability
// (K-2)/(K-1), not 1-2/(K-1).
func Pairs(p float64, classes int) PairNoise {
	others := float64(classes - 1)
	q := 2*p*(1-p) + p*p*(others-1)/others
	return PairNoise{Positive: q, Negative: q / others}
}

// pairsPrinted returns [Pairs] with 000 eq. 8 as printed, which falls below 0 for two classes and p > 2/3.
func pairsPrinted(p float64, classes int) PairNoise {
	others := float64(classes - 1)
	return PairNoise{Positive: 2*p*(1-p) + p*p*(1-2/others), Negative: Pairs(p, classes).Negative}
}

// largeK returns the limit of q₊, and of K·q₋, for many classes: 2p - p² (000 eq. 25).
func largeK(p float64) float64 { return p * (2 - p) }

// labelNoise returns the label noise that leads to the pair noise q₊ = q in [0, 1] for many classes, the inverse of
// [largeK]: p = 1 - √(1-q).
func labelNoise(q float64) float64 { return q / (1 + math.Sqrt(1-q)) }

// labelNoiseOf returns the smallest label noise that leads to the pair noise q₊ = q for K classes:
//
//	p = (K-1)/K · (1 - √(1 - qK/(K-1)))
//
// q₊ is at most (K-1)/K, when labels are random; for larger q the result is NaN.
func labelNoiseOf(q float64, classes int) float64 {
	k := float64(classes)
	top := (k - 1) / k
	return top * labelNoise(q/top)
}
