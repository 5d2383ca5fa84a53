package losses

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// slowPairs is what the oracles of this file loop over: the similarities s, and those from which they take what
// the loss treats as constant in its gradient.
type slowPairs struct {
	rows, cols       int
	self             bool
	anchors, members []int // ids
	s, at            func(i, j int) float64
	kind             func(i, j int) int // as exactInput.kind
}

// slow takes the constants from the current input.
func (in exactInput) slow() slowPairs {
	v := slowPairs{rows: len(in.z), cols: in.columns(), self: in.ref == nil, anchors: in.ids, members: in.ids,
		s: in.similarity, kind: in.kind}
	if in.ref != nil {
		v.members = in.bankIDs
	}
	now := make([][]float64, v.rows)
	for i := range now {
		for j := range v.cols {
			now[i] = append(now[i], in.similarity(i, j))
		}
	}
	v.at = func(i, j int) float64 { return now[i][j] }
	return v
}

// of returns the columns of the kind for row i.
func (v slowPairs) of(i, kind int) (list []int) {
	for j := range v.cols {
		if v.kind(i, j) == kind {
			list = append(list, j)
		}
	}
	return list
}

func slowContrastiveMargin(v slowPairs, dist string, pos, neg float64, reduce string) float64 {
	term := func(s float64, kind int) float64 {
		switch {
		case dist == "cosine" && kind > 0:
			return math.Max(0, pos-s)
		case dist == "cosine":
			return math.Max(0, s-neg)
		}
		delta := math.Max(0, 2-2*s)
		if dist == "l2" {
			delta = math.Sqrt(delta)
		}
		if kind > 0 {
			return math.Max(0, delta-pos)
		}
		return math.Max(0, neg-delta)
	}
	var loss float64
	for _, kind := range []int{1, -1} {
		var sum, all, active float64
		for i := range v.rows {
			for _, j := range v.of(i, kind) {
				all++
				if term(v.at(i, j), kind) > 0 {
					active++
				}
				sum += term(v.s(i, j), kind)
			}
		}
		if n := map[string]float64{"sum": 1, "mean": all, "avg_nonzero": active}[reduce]; n > 0 {
			loss += sum / n
		}
	}
	return loss
}

// slowMined returns the pairs of row i that the miner selects.
func slowMined(v slowPairs, i int, epsilon float64, without func(j int) bool) (pos, neg []int) {
	p, n := slices.DeleteFunc(v.of(i, 1), without), slices.DeleteFunc(v.of(i, -1), without)
	for _, j := range p {
		if slices.ContainsFunc(n, func(k int) bool { return v.at(i, k) > v.at(i, j)-epsilon }) {
			pos = append(pos, j) // less similar than some negative + ε
		}
	}
	for _, k := range n {
		if slices.ContainsFunc(p, func(j int) bool { return v.at(i, j) < v.at(i, k)+epsilon }) {
			neg = append(neg, k)
		}
	}
	return pos, neg
}

func slowLogs(v slowPairs, i int, pos, neg []int, alpha, beta, base float64) (pull, push float64) {
	pull, push = 1, 1
	for _, j := range pos {
		pull += math.Exp(-alpha * (v.s(i, j) - base))
	}
	for _, j := range neg {
		push += math.Exp(beta * (v.s(i, j) - base))
	}
	return math.Log(pull) / alpha, math.Log(push) / beta
}

func slowMultiSimilarity(v slowPairs, alpha, beta, base float64, mine bool, epsilon float64) (sum, terms float64) {
	for i := range v.rows {
		pos, neg := v.of(i, 1), v.of(i, -1)
		if mine {
			pos, neg = slowMined(v, i, epsilon, func(int) bool { return false })
		}
		pull, push := slowLogs(v, i, pos, neg, alpha, beta, base)
		sum += pull + push
	}
	return sum, float64(v.rows)
}

func slowWeightedMS(v slowPairs, alpha, beta, base, epsilon float64, w []float64, drop bool) (sum, terms float64) {
	weight := func(ids []int, i int) float64 {
		if w == nil {
			return 1
		}
		return w[ids[i]]
	}
	for i := range v.rows {
		own := weight(v.anchors, i)
		if drop && own == 0 {
			continue
		}
		terms++
		pos, neg := slowMined(v, i, epsilon, func(j int) bool { return drop && weight(v.members, j) == 0 })
		pull, push := slowLogs(v, i, pos, neg, alpha, beta, base)
		for _, j := range pos {
			sum += own * weight(v.members, j) / float64(len(pos)) * pull
		}
		for _, j := range neg {
			sum += own * weight(v.members, j) / float64(len(neg)) * push
		}
	}
	return sum, terms
}

func slowCircle(v slowPairs, m, gamma float64, global bool) (sum, terms float64) {
	var pull, push float64
	for i := range v.rows {
		if !global {
			pull, push = 0, 0
		}
		for j := range v.cols {
			at, s := v.at(i, j), v.s(i, j)
			switch kind := v.kind(i, j); {
			case global && v.self && j <= i:
			case kind > 0:
				pull += math.Exp(-gamma * math.Max(0, 1+m-at) * (s - 1 + m))
			case kind < 0:
				push += math.Exp(gamma * math.Max(0, at+m) * (s - m))
			}
		}
		if !global && pull > 0 && push > 0 {
			sum += math.Log1p(pull * push)
			terms++
		}
	}
	if global {
		return math.Log1p(pull * push), 1
	}
	return sum, terms
}

func slowFastAP(v slowPairs, bins int) (sum, terms float64) {
	width := 4 / float64(bins)
	for i := range v.rows {
		histogram := func(kind, l int) (h float64) {
			for _, j := range v.of(i, kind) {
				h += math.Max(0, 1-math.Abs(2-2*v.s(i, j)-float64(l)*width)/width)
			}
			return h
		}
		positives := float64(len(v.of(i, 1)))
		if positives == 0 {
			continue
		}
		var near, all, precision float64
		for l := 0; l <= bins; l++ {
			h := histogram(1, l)
			near += h
			all += h + histogram(-1, l)
			if h*near > 0 {
				precision += h * near / all
			}
		}
		sum += 1 - precision/positives
		terms++
	}
	return sum, terms
}

// byLoops compares a loss with its oracle on all inputs.
func byLoops(
	t *testing.T, name string, settings map[string]any, weights []float64, slow func(v slowPairs) (sum, terms float64),
) {
	for input, in := range oracleInputs() {
		if weights != nil {
			if in.ids == nil {
				in.ids = seq(len(in.z))
			}
			in.bankIDs = seq(len(in.ref))
		}
		built := mustNew(t, name, settings, testEnv(conformDim, conformClasses, 1))
		l, ok := built.(*similarity)
		if !ok {
			l = &built.(*weightedSimilarity).similarity
			built.(Weighted).SetWeights(weights)
		}
		v := in.slow()
		checkOracle(t, fmt.Sprint(name, settings, " ", input), l, in, func() float64 {
			sum, terms := slow(v)
			return sum / math.Max(terms, 1)
		})
	}
}

func TestContrastiveMarginByLoops(t *testing.T) {
	for dist, margins := range map[string][]float64{"cosine": {1, 0, 0.7, 0.3}, "l2": {0, 1, 0.6, 1.2},
		"l2sq": {0, 1, 0.1, 1.5}} {
		for _, reduce := range []string{"avg_nonzero", "mean", "sum"} {
			for k := 0; k < len(margins); k += 2 {
				pos, neg := margins[k], margins[k+1]
				byLoops(t, "contrastive_margin", map[string]any{"distance": dist, "pos_margin": pos, "neg_margin": neg,
					"reduction": reduce}, nil,
					func(v slowPairs) (sum, terms float64) {
						return slowContrastiveMargin(v, dist, pos, neg, reduce), 1
					})
			}
		}
	}
}

func TestMultiSimilarityByLoops(t *testing.T) {
	for _, mine := range []bool{true, false} {
		for _, base := range []float64{0.5, 1} {
			for _, epsilon := range []float64{0.1, 0} {
				byLoops(t, "multi_similarity", map[string]any{"alpha": 3, "beta": 20, "base": base, "miner": mine,
					"epsilon": epsilon}, nil,
					func(v slowPairs) (sum, terms float64) {
						return slowMultiSimilarity(v, 3, 20, base, mine, epsilon)
					})
			}
		}
	}
}

func TestWeightedMultiSimilarityByLoops(t *testing.T) {
	for _, w := range [][]float64{nil, testWeights(20), make([]float64, 20)} {
		for _, drop := range []bool{false, true} {
			byLoops(t, "weighted_multi_similarity",
				map[string]any{"alpha": 3, "beta": 20, "epsilon": 0.2, "drop_zero_weight": drop}, w,
				func(v slowPairs) (sum, terms float64) { return slowWeightedMS(v, 3, 20, 1, 0.2, w, drop) })
		}
	}
}

// testWeights has zeros, ones and values in between.
func testWeights(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = math.Max(0, math.Min(1, 0.5+math.Sin(float64(3*i))))
	}
	return w
}

func TestCircleByLoops(t *testing.T) {
	for form, global := range map[string]bool{"per_anchor": false, "global": true} {
		for _, m := range []float64{0.4, 0.25, 0} {
			for _, gamma := range []float64{80, 5} {
				byLoops(t, "circle", map[string]any{"form": form, "margin": m, "gamma": gamma}, nil,
					func(v slowPairs) (sum, terms float64) { return slowCircle(v, m, gamma, global) })
			}
		}
	}
}

func TestFastAPByLoops(t *testing.T) {
	for _, bins := range []int{10, 1, 2, 37} {
		byLoops(t, "fastap", map[string]any{"bins": bins}, nil, func(v slowPairs) (sum, terms float64) {
			return slowFastAP(v, bins)
		})
	}
}
