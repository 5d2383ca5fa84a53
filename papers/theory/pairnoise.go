// Package theory computes theoretical results about label noise: how often pairs and triplets are wrong at a given
// rate of wrong labels, and how much noise a loss tolerates. It also measures wrong pairs in data and compares them
// with the theory. All numbers are float64.
//
// Symbols: p (τ in SCL-RHE) is the rate of symmetric label noise, 0 ≤ p < 1. A label is right with probability 1-p,
// and each of the K-1 other classes with probability p/(K-1). The K ≥ 2 classes are equally frequent. q₊ is the share
// of pairs with different labels among the pairs of the same true class. q₋ is the share of pairs with equal labels
// among the pairs of different true classes. Rates are fractions. [Setting.Check] checks arguments; functions do not.
//
// Sources: 000 = Le & Odobez, "Theoretical Guarantees of Deep Embedding Losses Under Label Noise"; 004 = the
// SCL-RHE paper on human-labelling errors in supervised contrastive learning (2024). "Printed" values follow a paper's
// formula that contains an error.
package theory

import "math"

// PairNoise holds the share of wrongly labelled pairs among the pairs of the same true class (Positive, q₊) and among
// the pairs of different true classes (Negative, q₋).
type PairNoise struct {
	Positive float64
	Negative float64
}

// Pairs returns the pair noise under label noise p over K classes.
//
//	q₊ = 2p(1-p) + p²(K-2)/(K-1)      q₋ = 2p(1-p)/(K-1) + p²(K-2)/(K-1)² = q₊/(K-1)
//
// Source: 000 eq. 7 and 8. Eq. 8 is corrected: two labels drawn from K-1 classes differ with probability (K-2)/(K-1),
// not 1-2/(K-1).
func Pairs(p float64, classes int) PairNoise {
	others := float64(classes - 1)
	q := 2*p*(1-p) + p*p*(others-1)/others
	return PairNoise{Positive: q, Negative: q / others}
}

// pairsPrinted returns [Pairs] with 000 eq. 8 as printed. The printed q₊ is negative for two classes and p > 2/3.
func pairsPrinted(p float64, classes int) PairNoise {
	others := float64(classes - 1)
	return PairNoise{Positive: 2*p*(1-p) + p*p*(1-2/others), Negative: Pairs(p, classes).Negative}
}

// largeK returns the limit of q₊, and of K·q₋, for many classes: 2p - p² (000 eq. 25).
func largeK(p float64) float64 { return p * (2 - p) }

// labelNoise is the inverse of [largeK]. It returns the label noise that leads to the pair noise q₊ = q in [0, 1] for
// many classes: p = 1 - √(1-q).
func labelNoise(q float64) float64 { return q / (1 + math.Sqrt(1-q)) }

// labelNoiseOf returns the smallest label noise that leads to the pair noise q₊ = q for K classes:
//
//	p = (K-1)/K · (1 - √(1 - qK/(K-1)))
//
// q₊ is at most (K-1)/K, its value for random labels. For larger q the result is NaN.
func labelNoiseOf(q float64, classes int) float64 {
	k := float64(classes)
	top := (k - 1) / k
	return top * labelNoise(q/top)
}
