package losses

import (
	"math"

	"winnow/features"
)

// proxyAnchor uses every proxy as an anchor that attracts the rows of its class and repels all other rows, the hardest
// rows most.
//
//	L = 1/|P⁺| Σ_{c∈P⁺} log(1 + Σ_{y_i=c} e^{-α(s_ic - δ)}) + 1/C Σ_c log(1 + Σ_{y_i≠c} e^{α(s_ic + δ)})
//
// Here s_ic = z_i·p_c/‖p_c‖, C is the number of classes, and P⁺ are the classes in the batch. Settings: α > 0, δ ≥ 0.
// Exponents stay within 2α ≤ 512, so that sums cannot overflow and need no shift. The loss is defined for any batch:
// an absent class has only its second term. The loss is a sum over columns, and a proxy needs the whole batch at once,
// so the chain passes whole columns.
// Time O(n·C·d), memory O(n·C).
// Source: Kim et al., "Proxy anchor loss for deep metric learning", CVPR 2020, Eq. 4; as a baseline with α = 32,
// δ = 0.1 in BSPML (002). METHODS 5.2.
type proxyAnchor struct {
	alpha, delta float64
	classes      int

	present    []int     // the last call of countClasses in which each class was present
	calls      int       // number of calls of countClasses
	e          []float64 // scratch for the block, used when no derivative is wanted
	pull, push []float64 // per column: Σ e^{-α(s-δ)} over its own rows, Σ e^{α(s+δ)} over the others
}

var proxyAnchorEntry = Entry{
	Name:     "proxy_anchor",
	Title:    "Proxy-Anchor",
	Paper:    "Kim et al. 2020; BSPML (002)",
	Equation: "Eq. 4 of Kim et al.",
	Formula:  "1/|P⁺| Σ_{c∈P⁺} log(1 + Σ_{y_i=c} e^{-α(s_ic-δ)}) + 1/C Σ_c log(1 + Σ_{y_i≠c} e^{α(s_ic+δ)})",
	Against:  Proxies,
	Params:   true,
	Proxied:  true,
	Settings: []Setting{
		{Name: "alpha", Symbol: "α", Default: 32.0, Min: 1e-3, Max: 256,
			Doc: "scale of the similarities: the larger, the more the hardest rows of a proxy dominate"},
		{Name: "margin", Symbol: "δ", Default: 0.1, Min: 0, Max: 1,
			Doc: "the targets are similarities above δ for positives and below -δ for negatives"},
		{Name: "init", Default: "normal", Choices: append([]string{"kaiming"}, proxyDraws...),
			Doc: proxyDrawsDoc + "; kaiming: N(0, 2/C), as in the official code"},
	},
	New: func(v Values, env Env) (Loss, error) {
		fn := &proxyAnchor{alpha: v.Number("alpha"), delta: v.Number("margin"), classes: env.Classes,
			present: make([]int, env.Classes)}
		loss := newProxied("proxy_anchor", fn, env, 1)
		loss.columns = true
		drawProxies(loss.p, v.Word("init"), env.Init)
		return loss, nil
	},
}

func (l *proxyAnchor) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	e := dS
	if e == nil {
		l.e = growSlice(l.e, len(S))
		e = l.e
	}
	features.ExpSlice(e, S, l.alpha, l.alpha*l.delta)
	l.gatherExponentials(e, S, p)
	share, rest := 1/float64(l.countClasses(p.rows)), 1/float64(l.classes)
	for j, v := range l.pull {
		sum += share*math.Log1p(v) + rest*math.Log1p(l.push[j])
		l.pull[j] = -l.alpha * share / (1 + v)
		l.push[j] = l.alpha * rest / (1 + l.push[j])
	}
	if dS != nil {
		l.spreadExponentials(dS, p)
	}
	return sum, p.plainTerms()
}

// gatherExponentials adds up the columns of e, and sets every row's exponential for its own class.
func (l *proxyAnchor) gatherExponentials(e, S []float64, p *pairs) {
	r := len(p.cols)
	l.pull, l.push = growSlice(l.pull, r), growSlice(l.push, r)
	clear(l.pull)
	clear(l.push)
	push := l.push
	for i, y := range p.rows {
		row, own := e[i*r:(i+1)*r], y-p.cols[0]
		mine := own >= 0 && own < r
		if mine {
			row[own] = 0
		}
		for j, v := range row {
			push[j] += v
		}
		if mine {
			row[own] = math.Exp(l.alpha * (l.delta - S[i*r+own]))
			l.pull[own] += row[own]
		}
	}
}

// spreadExponentials turns the exponentials into derivatives; pull and push hold the factors.
func (l *proxyAnchor) spreadExponentials(e []float64, p *pairs) {
	r := len(p.cols)
	push := l.push
	for i, y := range p.rows {
		row, own := e[i*r:(i+1)*r], y-p.cols[0]
		var mine float64
		if own >= 0 && own < r {
			mine = row[own] * l.pull[own]
		}
		for j := range row {
			row[j] *= push[j]
		}
		if own >= 0 && own < r {
			row[own] = mine
		}
	}
}

// countClasses returns the number of classes in the batch.
func (l *proxyAnchor) countClasses(labels []int) int {
	l.calls++
	n := 0
	for _, y := range labels {
		if l.present[y] != l.calls {
			l.present[y] = l.calls
			n++
		}
	}
	return n
}
