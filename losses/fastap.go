package losses

// fastAP maximises the average precision of every row as a query. It replaces the ranks by a histogram of squared
// distances.
//
//	FastAP_i = 1/|P(i)| Σ_l h⁺_l H⁺_l / H_l,   L = mean over i with a positive of (1 - FastAP_i)
//
// D = 2 - 2s ∈ [0, 4] lies between two of the centres c_l = lΔ, Δ = 4/B, l = 0..B, and is split between them:
// h⁺_l = Σ_{P(i)} [1 - |D - c_l|/Δ]₊, h⁻_l is the same sum over N(i); H⁺, H⁻ are their running sums and H = H⁺ + H⁻.
//
//	∂ΣhH/∂h⁺_k = H⁺_k/H_k + Σ_{l≥k} h⁺_l H⁻_l/H_l²,   ∂/∂h⁻_k = -Σ_{l≥k} h⁺_l H⁺_l/H_l²,   ∂h/∂D = ∓1/Δ
//
// ∂h/∂D is 0 where D is a centre. Rows without a positive are skipped; without negatives FastAP_i is 1 and its
// gradient 0.
// Settings: B (10 in both papers that use this loss as a baseline). The original paper uses batches of category pairs;
// in winnow the sampler chooses the batches. Time O(n·r·d), two passes over the pairs and no exponential; memory
// O(n·r).
// Source: Cakir et al., "Deep metric learning to rank", CVPR 2019, in its histogram form; a baseline in PRISM (001)
// and BSPML (002), which print no equation. METHODS 3.6.
type fastAP struct {
	bins                int
	near, far           []float64 // h⁺, h⁻, l = 0..B+1 (the last stays 0)
	upNear, upAll       []float64 // H⁺, H
	slopeNear, slopeFar []float64 // between centre l and the next: -∂FastAP_i/∂s of a positive, of a negative
}

var fastAPEntry = Entry{
	Name:     "fastap",
	Aliases:  []string{"fast_ap", "fastaploss"},
	Title:    "FastAP loss",
	Paper:    "Cakir et al. 2019; PRISM (001); BSPML (002)",
	Equation: "the histogram form; a baseline of 001 and 002",
	Formula:  "mean_i 1 - 1/|P| Σ_l h⁺_l H⁺_l / H_l",
	Against:  Both,
	Settings: []Setting{
		{Name: "bins", Symbol: "B", Default: 10, Min: 1, Max: 1000,
			Doc: "bins for squared distances from 0 to 4"},
	},
	New: func(v Values, env Env) (Loss, error) {
		b := v.Count("bins")
		fn := &fastAP{bins: b}
		fn.near, fn.far = make([]float64, b+2), make([]float64, b+2)
		fn.upNear, fn.upAll = make([]float64, b+2), make([]float64, b+2)
		fn.slopeNear, fn.slopeFar = make([]float64, b+1), make([]float64, b+1)
		return &similarity{chain{fn: fn, exact: true}}, nil
	},
}

func (l *fastAP) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	for i := range p.rows {
		s, d := rowOfBlock(S, i, r), rowOfBlock(dS, i, r)
		near, far := l.countHistograms(s, i, p)
		if near > 0 {
			terms++
		}
		if near == 0 || far == 0 {
			clear(d)
			continue
		}
		sum += 1 - l.anchorPrecision(float64(near), d != nil)
		if d != nil {
			l.spreadSlopes(d, s, i, p)
		}
	}
	return sum, terms
}

// placeSimilarity returns the position of D = 2 - 2s: the centre k below it and its distance from the centre, as a
// fraction of Δ in [0, 1).
func (l *fastAP) placeSimilarity(s float64) (k int, past float64) {
	x := min(max(1-s, 0), 2) * (0.5 * float64(l.bins))
	k = int(x)
	return k, x - float64(k)
}

// countHistograms fills the histograms of anchor i, and returns the numbers of its positives and negatives.
func (l *fastAP) countHistograms(s []float64, i int, p *pairs) (near, far int) {
	clear(l.near)
	clear(l.far)
	y, cols := p.rows[i], p.cols[:len(s)]
	for j, v := range s {
		k, past := l.placeSimilarity(v)
		if cols[j] != y {
			far++
			l.far[k] += 1 - past
			l.far[k+1] += past
		} else if p.areApart(i, j) {
			near++
			l.near[k] += 1 - past
			l.near[k+1] += past
		}
	}
	return near, far
}

// anchorPrecision returns FastAP_i from the histograms. If grad is set, the slopes become -∂FastAP_i/∂s between the
// centres.
func (l *fastAP) anchorPrecision(positives float64, grad bool) float64 {
	var sum, near, all float64
	for k, h := range l.near {
		near += h
		all += h + l.far[k]
		l.upNear[k], l.upAll[k] = near, all
		if h > 0 {
			sum += h * near / all
		}
	}
	if grad {
		l.differentiateBins(0.5 * float64(l.bins) / positives) // -∂(D/Δ)/∂s is B/2
	}
	return sum / positives
}

// differentiateBins proceeds from the last centre to the first. later holds the sums over l ≥ k, next the derivatives
// with respect to h⁺ and h⁻ of centre k+1.
func (l *fastAP) differentiateBins(scale float64) {
	var laterNear, laterFar, nextNear, nextFar float64
	for k := l.bins; k >= 0; k-- {
		atNear, atFar := 0.0, 0.0
		if near, all := l.upNear[k], l.upAll[k]; all > 0 {
			h := l.near[k] / all
			laterNear += h * (all - near) / all
			laterFar -= h * near / all
			atNear, atFar = near/all+laterNear, laterFar
		}
		l.slopeNear[k], l.slopeFar[k] = scale*(nextNear-atNear), scale*(nextFar-atFar)
		nextNear, nextFar = atNear, atFar
	}
}

// spreadSlopes sets the slope of every pair from its position; the slope is 0 exactly at a centre.
func (l *fastAP) spreadSlopes(d, s []float64, i int, p *pairs) {
	y, cols := p.rows[i], p.cols[:len(s)]
	for j, v := range s {
		k, past := l.placeSimilarity(v)
		switch {
		case past == 0:
			d[j] = 0
		case cols[j] != y:
			d[j] = l.slopeFar[k]
		case p.areApart(i, j):
			d[j] = l.slopeNear[k]
		default:
			d[j] = 0
		}
	}
}
