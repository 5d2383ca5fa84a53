package losses

import (
	"math"

	"winnow/features"
)

// proxyNCA pulls every row nearer to the proxy of its class than to all other proxies.
//
//	pml       L = 1/n Σ_i -log( e^{-σ D_iy} / Σ_c e^{-σ D_ic} )
//	original  L = 1/n Σ_i -log( e^{-σ D_iy} / Σ_{c≠y} e^{-σ D_ic} )
//
// Here y = y_i and D_ic = ‖z_i - p_c/‖p_c‖‖² = 2 - 2 s_ic, so the loss only needs a softmax of 2σ s. Setting: σ > 0.
// The loss is defined for any batch; absent classes are still pushed away. A single class gives 0 in both forms
// (original: there is no other proxy). original can be negative; its lower bound is -4σ. Time O(n·C·d), memory O(n·C).
// Source: Movshovitz-Attias et al., "No fuss distance metric learning using proxies", ICCV 2017 (form original). The
// form with the own proxy in the denominator is that of pytorch-metric-learning, which PRISM (001) uses as a baseline
// with σ = 3. METHODS 5.1.
type proxyNCA struct {
	original bool
	scale    float64   // 2σ
	row      []float64 // scratch for one row, used when no derivative is wanted
}

var proxyNCAEntry = Entry{
	Name:     "proxy_nca",
	Title:    "Proxy-NCA",
	Paper:    "Movshovitz-Attias et al. 2017; PRISM (001)",
	Equation: "a baseline of 001, which prints no equation",
	Formula:  "1/n Σ_i -log(e^{-σ D_iy} / Σ_c e^{-σ D_ic}), D = ‖z - p/‖p‖‖²",
	Against:  Proxies,
	Params:   true,
	Proxied:  true,
	Settings: []Setting{
		{Name: "form", Default: "pml", Choices: []string{"pml", "original"},
			Doc: "the denominator sums over all classes, or over all other classes"},
		{Name: "scale", Symbol: "σ", Default: 3.0, Min: 1e-3, Max: 1e4,
			Doc: "scale of the squared distances: the larger, the more the nearest proxies dominate"},
		{Name: "init", Default: "normal", Choices: proxyDraws, Doc: proxyDrawsDoc},
	},
	New: func(v Values, env Env) (Loss, error) {
		fn := &proxyNCA{original: v.Word("form") == "original", scale: 2 * v.Number("scale")}
		loss := newProxied("proxy_nca", fn, env, 1)
		drawProxies(loss.p, v.Word("init"), env.Init)
		return loss, nil
	},
}

func (l *proxyNCA) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	if l.original && r == 1 {
		clear(dS)
		return 0, 0
	}
	l.row = growSlice(l.row, r)
	for i, y := range p.rows {
		d, s := l.row, S[i*r:(i+1)*r]
		if dS != nil {
			d = dS[i*r : (i+1)*r]
		}
		if l.original {
			sum += l.lossOfOthers(d, s, y)
		} else {
			sum += softmaxLoss(d, s, l.scale, y)
		}
	}
	return sum, float64(len(p.rows))
}

// lossOfOthers returns the loss of one row whose own class is left out of the sum. d is set to the derivative.
func (l *proxyNCA) lossOfOthers(d, s []float64, y int) float64 {
	top := max(maxValue(s[:y]), maxValue(s[y+1:]))
	shift := -l.scale * top
	weight := features.ExpSlice(d[:y], s[:y], l.scale, shift) + features.ExpSlice(d[y+1:], s[y+1:], l.scale, shift)
	k := l.scale / weight
	for j := range d {
		d[j] *= k
	}
	d[y] = -l.scale
	return math.Log(weight) + l.scale*(top-s[y])
}
