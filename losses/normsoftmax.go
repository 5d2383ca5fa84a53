package losses

// normSoftmax is a cross entropy over the cosines to one learnable proxy per class.
//
//	L = 1/n Σ_i -log softmax_c(s_ic/t)[y_i],   s_ic = z_i·p_c/‖p_c‖
//
// Setting: temperature t > 0. The loss is defined for any batch: absent classes are still pushed away, a single class
// gives 0. The original also applies LayerNorm before the embedding; in winnow that belongs to the encoder. Time
// O(n·C·d), memory O(n·C).
// Source: Zhai, Wu, "Classification is a strong baseline for deep metric learning", BMVC 2019; as a baseline with t =
// 0.05 in PRISM (001). METHODS 5.4.
type normSoftmax struct {
	scale float64   // 1/t
	row   []float64 // scratch for a row's derivative
}

var normSoftmaxEntry = Entry{
	Name:     "norm_softmax",
	Title:    "Normalised softmax",
	Paper:    "Zhai & Wu 2019; PRISM (001)",
	Equation: "a baseline of 001, which prints no equation",
	Formula:  "-1/n Σ_i log softmax_c(s_ic/t)[y_i]",
	Against:  Proxies,
	Params:   true,
	Proxied:  true,
	Settings: []Setting{
		{Name: "temperature", Symbol: "t", Default: 0.05, Min: 1e-4, Max: 1e4,
			Doc: "divides the similarities: the smaller, the more the nearest vectors dominate"},
		{Name: "init", Default: "uniform", Choices: proxyDraws, Doc: proxyDrawsDoc},
	},
	New: func(v Values, env Env) (Loss, error) {
		fn := &normSoftmax{scale: 1 / v.Number("temperature")}
		loss := newProxied("norm_softmax", fn, env, 1)
		drawProxies(loss.p, v.Word("init"), env.Init)
		return loss, nil
	},
}

func (l *normSoftmax) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	l.row = growSlice(l.row, r)
	for i, y := range p.rows {
		d := l.row
		if dS != nil {
			d = dS[i*r : (i+1)*r]
		}
		sum += softmaxLoss(d, S[i*r:(i+1)*r], l.scale, y)
	}
	return sum, float64(len(p.rows))
}
