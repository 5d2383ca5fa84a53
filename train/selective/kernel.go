package selective

import (
	"math"
)

type number interface{ float32 | float64 }

// pull is one side of a mixed row: the row's positive candidates on that side, and the side's share of the mixture.
type pull struct {
	share     float64
	positives []int
}

// contrastRow returns the contrastive loss of one row, given its similarities s to m candidates:
//
//	l = Σ_sides share·{ LSE_A(s/t) - 1/|P| Σ_{p∈P} s_p/t }
//	∂l/∂s_j = 1/t·{ (Σ share)·softmax_A(s/t)_j - Σ_sides share/|P|·[j ∈ P] }
//
// A are all candidates except own (-1: no exception). A side without positives contributes 0. contrastRow overwrites
// s with weight times the gradient; exps is scratch for m numbers. With one positive the loss is InfoNCE; in general
// it is SupCon with the logarithm inside the mean over positives.
// Source: Khosla et al., Supervised Contrastive Learning, NeurIPS 2020, equation 2; METHODS 3.9.
func contrastRow[T number](s []T, own int, sides []pull, t, weight float64, exps []float64) float64 {
	var shares, near float64
	for _, side := range sides {
		if len(side.positives) == 0 {
			continue
		}
		shares += side.share
		var sum float64
		for _, p := range side.positives {
			sum += float64(s[p])
		}
		near += side.share * sum / float64(len(side.positives)) / t
	}
	if shares == 0 || weight == 0 {
		clear(s)
		return 0
	}
	top := math.Inf(-1)
	for j, v := range s {
		if j != own {
			top = max(top, float64(v))
		}
	}
	var sum float64
	for j, v := range s {
		exps[j] = 0
		if j != own {
			exps[j] = math.Exp((float64(v) - top) / t)
			sum += exps[j]
		}
	}
	scale := weight / t
	for j := range s {
		s[j] = T(scale * shares * exps[j] / sum)
	}
	for _, side := range sides {
		for _, p := range side.positives {
			s[p] -= T(scale * side.share / float64(len(side.positives)))
		}
	}
	return shares*(top/t+math.Log(sum)) - near
}

// crossEntropy returns -Σ target_c·log softmax(l)_c for a target that sums to 1, and adds weight times its
// gradient, p - target, to d. p is softmax(l) and logSum is log Σ e^l.
func crossEntropy[T number](d, l []T, p []float64, logSum float64, target []float64, weight float64) float64 {
	var value float64
	for c, v := range target {
		if v != 0 {
			value += v * (logSum - float64(l[c]))
		}
		d[c] += T(weight * (p[c] - v))
	}
	return value
}

// throughSoftmax converts the gradient g with respect to the probabilities p into the gradient with respect to the
// logits, p_c·(g_c - Σ p g), and adds it to d.
func throughSoftmax[T number](d []T, p, g []float64) {
	var mean float64
	for c, v := range g {
		mean += p[c] * v
	}
	for c, v := range g {
		d[c] += T(p[c] * (v - mean))
	}
}

// weightedEntropy returns H = -Σ p log p. It adds weight times the gradient of H with respect to the logits,
// -p_c(log p_c + H), to d.
func weightedEntropy[T number](d, l []T, p []float64, logSum, weight float64) float64 {
	var h float64
	for c, v := range l {
		h -= p[c] * (float64(v) - logSum)
	}
	for c, v := range l {
		d[c] -= T(weight * p[c] * (float64(v) - logSum + h))
	}
	return h
}
