package selfpaced

import "slices"

// problem is the objective L(w) of the package comment for fixed ξ. It keeps sums over classes, with which the complete
// gradient of a coordinate takes O(1) time.
type problem struct {
	grouping
	Losses
	lambda, mu float64

	w        []float64
	zeta     []float64 // Σ w of each class
	wPos     []float64 // Σ w·ξ⁺ of each class
	wNeg     []float64 // Σ w·ξ⁻ of each class
	mean     float64   // Σ_k w̄_k
	meanwNeg float64   // Σ_k (Σ w·ξ⁻)/N_k
}

// newProblem returns a problem that keeps and modifies w.
func newProblem(g grouping, l Losses, lambda, mu float64, w []float64) *problem {
	classes := len(g.members)
	p := &problem{grouping: g, Losses: l, lambda: lambda, mu: mu, w: w,
		zeta: make([]float64, classes), wPos: make([]float64, classes), wNeg: make([]float64, classes)}
	p.recomputeSums()
	return p
}

// recomputeSums recomputes the sums, to remove the rounding errors that setWeight accumulates.
func (p *problem) recomputeSums() {
	p.mean, p.meanwNeg = 0, 0
	for c, members := range p.members {
		p.zeta[c], p.wPos[c], p.wNeg[c] = 0, 0, 0
		for _, i := range members {
			p.zeta[c] += p.w[i]
			p.wPos[c] += p.w[i] * p.Pos[i]
			p.wNeg[c] += p.w[i] * p.Neg[i]
		}
		p.mean += p.zeta[c] / float64(len(members))
		p.meanwNeg += p.wNeg[c] / float64(len(members))
	}
}

// setWeight changes one weight.
func (p *problem) setWeight(a int, w float64) {
	c, n, d := p.class[a], p.classSize(a), w-p.w[a]
	p.w[a] = w
	p.zeta[c] += d
	p.wPos[c] += d * p.Pos[a]
	p.wNeg[c] += d * p.Neg[a]
	p.mean += d / n
	p.meanwNeg += d * p.Neg[a] / n
}

// computeObjective returns L(w), BSPML eq. 6 (METHODS 002-1).
func (p *problem) computeObjective() float64 {
	others := float64(len(p.members) - 1)
	total, spread := 0.0, 0.0
	middle := p.mean / float64(len(p.members))
	for c, members := range p.members {
		n := float64(len(members))
		pos, neg := 0.0, 0.0
		for _, i := range members {
			pos += p.w[i] * (p.zeta[c] - p.w[i]) * p.Pos[i]
			neg += p.w[i] * p.Neg[i]
		}
		if n > 1 {
			total += pos / n / (n - 1)
		}
		own := p.zeta[c] / n
		if others > 0 {
			total += neg / n * (p.mean - own) / others
		}
		spread += (own - middle) * (own - middle)
	}
	if others > 0 { // Σ_{c<k} (w̄_c - w̄_k)² = C·Σ_c (w̄_c - their mean)²
		total += p.mu / others * float64(len(p.members)) * spread
	}
	return total - p.lambda*p.mean
}

// parts holds the terms of ∂L/∂w_a = (positive + negative + balance - λ)/N_c, eq. 8.
type parts struct{ positive, negative, balance float64 }

// weightSlope returns N_c·∂L/∂w_a.
func (p *problem) weightSlope(g parts) float64 { return g.positive + g.negative + g.balance - p.lambda }

// exactGradient returns eq. 8 over all samples: the exact derivative of the objective.
func (p *problem) exactGradient(a int) parts {
	c, n, others := p.class[a], p.classSize(a), float64(len(p.members)-1)
	g := parts{balance: p.balanceSlope(c)}
	if n > 1 {
		g.positive = (p.wPos[c] - p.w[a]*p.Pos[a] + p.Pos[a]*(p.zeta[c]-p.w[a])) / (n - 1)
	}
	if others > 0 {
		g.negative = (p.meanwNeg - p.wNeg[c]/n + p.Neg[a]*(p.mean-p.zeta[c]/n)) / others
	}
	return g
}

// gradientOf returns eq. 8 over drawn samples. same holds samples of a's class, and others a list for each drawn class.
// If same is empty (the class has one member), its term is 0; likewise others.
func (p *problem) gradientOf(a int, same []int, others [][]int) parts {
	g := parts{balance: p.balanceSlope(p.class[a])}
	for _, i := range same {
		g.positive += p.w[i] * (p.Pos[i] + p.Pos[a])
	}
	g.positive /= max(1, float64(len(same)))
	for _, list := range others {
		sum := 0.0
		for _, i := range list {
			sum += p.w[i] * (p.Neg[i] + p.Neg[a])
		}
		g.negative += sum / float64(len(list))
	}
	g.negative /= max(1, float64(len(others)))
	return g
}

// balanceSlope returns 2μ(w̄_c - the mean of the others' w̄).
func (p *problem) balanceSlope(c int) float64 {
	others := float64(len(p.members) - 1)
	if others == 0 {
		return 0
	}
	own := p.zeta[c] / float64(len(p.members[c]))
	return 2 * p.mu * (own - (p.mean-own)/others)
}

// startLambda returns the λ of the first round: the smallest value such that at least the given share of the samples
// does not exceed it. Samples are measured by G_p+G_n at w = 1 or, if hard, by ξ⁺+ξ⁻. All weights must be 1.
func (p *problem) startLambda(share float64, hard bool) float64 {
	bars := make([]float64, len(p.w))
	for i := range bars {
		if bars[i] = p.Pos[i] + p.Neg[i]; !hard {
			g := p.exactGradient(i)
			bars[i] = g.positive + g.negative
		}
	}
	slices.Sort(bars)
	return bars[max(1, ceilShare(share, len(bars)))-1]
}
