package filters

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// ProxySim scores a label by its probability under a softmax of similarities to the loss's proxies.
//
//	S_k = max_h cos(p_k^h, z),  P = e^{S_y} / Σ_k e^{S_k} over all classes
//
// Proxies is (C·H)×d, not normalised, with the H = PerClass proxies of a class in consecutive rows. They are read at
// every call, because training changes them. A zero proxy has cosine 0. The bank, if there is one, only determines
// which classes have members: a label without members has P = 1 (as in Algorithm 1), and so does a row that is the only
// member of its class. Without a bank the formula is used as it is, and [Filter] records the classes. Time O(n·C·H·d).
// Source: PRISM, eq. 8-9.
type ProxySim struct {
	Proxies  *features.Param
	PerClass int

	sims    []float32
	scales  []float64
	classes []int
	best    []float64
}

// Score returns P for each row of z.
func (p *ProxySim) Score(dst []float64, z features.Set, ref *features.Bank, own bool) []float64 {
	return oddsToProbs(p.LogOdds(dst, z, ref, own))
}

// LogOdds returns log(P/(1-P)) for each row of z.
func (p *ProxySim) LogOdds(dst []float64, z features.Set, ref *features.Bank, own bool) []float64 {
	dst = features.Grow(dst, z.Len())
	p.measureProxies()
	eachSimBlock(&p.sims, z.X, p.Proxies.Matrix(), func(from, to int, s blas32.General) {
		for i := from; i < to; i++ {
			y := z.Labels[i]
			if ref != nil && (ref.Count(y) == 0 || own && ref.Count(y) == 1) {
				dst[i] = Unjudged
				continue
			}
			p.bestOfProxies(features.Row(s, i-from))
			dst[i] = logOdds(p.best, p.classes, y)
		}
	})
	return dst
}

// measureProxies computes 1/‖p‖ of every proxy.
func (p *ProxySim) measureProxies() {
	m := p.Proxies.Matrix()
	p.scales = features.Grow(p.scales, m.Rows)
	for r := range m.Rows {
		v := blas32.Vector{N: m.Cols, Inc: 1, Data: features.Row(m, r)}
		p.scales[r] = 1 / math.Max(math.Sqrt(blas32.DDot(v, v)), 1e-12)
	}
	if classes := m.Rows / p.PerClass; len(p.classes) != classes {
		p.classes, p.best = features.AllRows(classes), make([]float64, classes)
	}
}

// bestOfProxies fills best with S_k, from the products of one row with the unnormalised proxies.
func (p *ProxySim) bestOfProxies(products []float32) {
	for k := range p.best {
		best := math.Inf(-1)
		for r := k * p.PerClass; r < (k+1)*p.PerClass; r++ {
			if s := float64(products[r]) * p.scales[r]; s > best {
				best = s
			}
		}
		p.best[k] = best
	}
}
