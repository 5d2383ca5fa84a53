package losses

// heldTwins are losses, by catalog name, that treat parts of their formula as constants in the gradient:
// factors, the selection of a miner, the number of active terms. Each returns, for its function of
// similarities, the loss by loops over the definition, with those parts taken from other similarities. The
// differences of that loss are its gradient.
var heldTwins = map[string]func(fn simLoss) func(v slowPairs) (sum, terms float64){
	"contrastive_margin": func(fn simLoss) func(v slowPairs) (sum, terms float64) {
		l := fn.(*contrastiveMargin)
		return func(v slowPairs) (sum, terms float64) {
			return slowContrastiveMargin(v, distances[l.distance-l2], l.pos, l.neg, reductions[l.reduce]), 1
		}
	},
	"multi_similarity": func(fn simLoss) func(v slowPairs) (sum, terms float64) {
		l := fn.(*multiSimilarity)
		return func(v slowPairs) (sum, terms float64) {
			return slowMultiSimilarity(v, l.alpha, l.beta, l.base, !l.miner.off, l.miner.epsilon)
		}
	},
	"weighted_multi_similarity": func(fn simLoss) func(v slowPairs) (sum, terms float64) {
		l := fn.(*weightedMS)
		return func(v slowPairs) (sum, terms float64) {
			return slowWeightedMS(v, l.alpha, l.beta, l.base, l.miner.epsilon, l.w, l.dropZero)
		}
	},
	"circle": func(fn simLoss) func(v slowPairs) (sum, terms float64) {
		l, ok := fn.(*circle)
		if ok {
			return func(v slowPairs) (sum, terms float64) { return slowCircle(v, l.m, l.gamma, false) }
		}
		l = &fn.(*circleGlobal).circle
		return func(v slowPairs) (sum, terms float64) { return slowCircle(v, l.m, l.gamma, true) }
	},
}

// held is such a loss for one block, with its constants taken from the similarities at.
type held struct {
	value func(v slowPairs) (sum, terms float64)
	at    []float64
}

func (l held) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	clear(dS)
	r := len(p.cols)
	v := slowPairs{rows: len(p.rows), cols: r, self: p.self, anchors: p.anchors, members: p.members}
	v.s = func(i, j int) float64 { return S[i*r+j] }
	v.at = func(i, j int) float64 { return l.at[i*r+j] }
	v.kind = func(i, j int) int {
		switch {
		case p.isPositive(i, j):
			return 1
		case p.rows[i] == p.cols[j]:
			return 0
		}
		return -1
	}
	return l.value(v)
}
