package losses

import "fmt"

// weightedMS is the multi-similarity loss with a weight in [0, 1] for every sample, set by the outer loop of a
// self-paced method.
//
//	L = 1/n Σ_i w_i { mean_{p∈P'(i)} w_p · 1/α log[1 + Σ_{p∈P'(i)} e^{-α(s_ip-λ)}]
//	                + mean_{q∈N'(i)} w_q · 1/β log[1 + Σ_{q∈N'(i)} e^{β(s_iq-λ)}] }
//
// P', N' are the pairs that the [msMiner] selects; an empty set contributes 0. With all weights 1 it is the
// multi-similarity loss with its miner. As printed, a sample of weight 0 has no term as an anchor and lowers the
// means, but its similarities are still in the sums. drop_zero_weight removes such samples completely, also from n,
// before mining. If all weights are 0, the loss is 0.
//
// Settings: as in multiSimilarity, λ = 1. The printed (#P)^α is the product #P·α (METHODS 002-2). Time and memory are
// as in multiSimilarity, with one more pass over the pairs.
// Source: BSPML (002), eq. 7. METHODS 3.4, 002-2, 002-3.
type weightedMS struct {
	multiSimilarity
	dropZero bool
	w        []float64 // weights by ID; nil: all are 1
	of       []float64 // weights of the columns
	absent   []bool    // columns of removed samples
}

var weightedMSEntry = Entry{
	Name:     "weighted_multi_similarity",
	Aliases:  []string{"weighted_ms", "wms"},
	Title:    "Weighted multi-similarity loss",
	Paper:    "BSPML (002)",
	Equation: "Eq. 7",
	Formula:  "1/n Σ_i w_i { mean_P' w · 1/α log[1 + Σ_P' e^{-α(s-λ)}] + mean_N' w · 1/β log[1 + Σ_N' e^{β(s-λ)}] }",
	Against:  Both,
	Weighted: true,
	Settings: append(msSettings(1),
		Setting{Name: "drop_zero_weight", Default: false, Doc: "leave samples of weight 0 out of the sums as well"}),
	New: func(v Values, env Env) (Loss, error) {
		fn := &weightedMS{multiSimilarity: *newMultiSimilarity(v), dropZero: v.Flag("drop_zero_weight")}
		return &weightedSimilarity{similarity{chain{fn: fn}}, fn}, nil
	},
}

// weightedSimilarity is a Weighted loss of pairs.
type weightedSimilarity struct {
	similarity
	to interface{ setWeights(w []float64) }
}

// SetWeights implements [Weighted].
func (l *weightedSimilarity) SetWeights(w []float64) { l.to.setWeights(w) }

func (l *weightedMS) setWeights(w []float64) { l.w = w }

func (l *weightedMS) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	if p.first == 0 {
		l.lookUpWeights(p.members, r)
	}
	for i := range p.rows {
		s, d := rowOfBlock(S, i, r), rowOfBlock(dS, i, r)
		own := 1.0
		if l.w != nil {
			own = l.rowWeight(p.anchors, p.first+i)
		}
		if l.dropZero && own == 0 {
			clear(d)
			continue
		}
		terms++
		w := l.miner.limitWindow(s, i, p, l.absent)
		near, far := l.meanWeights(s, i, p, w)
		pull, push := l.anchorTerms(d, s, i, p, w, l.absent)
		sum += own * (near*pull.value + far*push.value)
		weighExponentials(d, own*near*pull.slope, own*far*push.slope)
	}
	return sum, terms
}

// lookUpWeights looks up the weights of the columns.
func (l *weightedMS) lookUpWeights(ids []int, r int) {
	l.of = growSlice(l.of, r)
	l.absent = l.absent[:0]
	for j := range l.of {
		l.of[j] = 1
		if l.w != nil {
			l.of[j] = l.rowWeight(ids, j)
		}
	}
	if !l.dropZero || l.w == nil {
		l.absent = nil
		return
	}
	for _, w := range l.of {
		l.absent = append(l.absent, w == 0)
	}
}

// rowWeight returns the weight of the i-th of the rows with these IDs.
func (l *weightedMS) rowWeight(ids []int, i int) float64 {
	if i >= len(ids) || ids[i] < 0 || ids[i] >= len(l.w) {
		panic(fmt.Sprintf("losses: weighted_multi_similarity: row %d needs an ID with a weight, found %d "+
			"ids and %d weights", i, len(ids), len(l.w)))
	}
	return l.w[ids[i]]
}

// meanWeights returns the mean weights of the selected pairs of anchor i, or 0 for a kind without pairs.
func (l *weightedMS) meanWeights(s []float64, i int, p *pairs, w window) (near, far float64) {
	var nears, fars int
	y, cols, of := p.rows[i], p.cols[:len(s)], l.of[:len(s)]
	for j, v := range s {
		switch {
		case l.absent != nil && l.absent[j]:
		case cols[j] != y:
			if v > w.above {
				far += of[j]
				fars++
			}
		case v < w.below && p.areApart(i, j):
			near += of[j]
			nears++
		}
	}
	return near / float64(max(nears, 1)), far / float64(max(fars, 1))
}
