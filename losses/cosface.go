package losses

// cosFace is a cross entropy over the cosines to one learnable centre per class, with the cosine to the own
// class lowered by m.
//
//	L = 1/n Σ_i -log softmax_c(λ (s_ic - m·1[c = y_i]))[y_i],   s_ic = z_i·p_c/‖p_c‖
//
// Settings: scale λ > 0, margin m ∈ [0, 2], the largest difference of two cosines. λ = 64 and m = 0.35 are the
// values of the paper, found on faces, and of pytorch-metric-learning; AM-Softmax has 30 and 0.35. m = 0 is
// norm_softmax at t = 1/λ, and soft_triple with one centre is this loss with other defaults. The slope of the
// margin is 1 everywhere, so no angle is a special case. [marginSoftmax] describes batches and cost.
// Source: Wang et al., "CosFace: Large margin cosine loss for deep face recognition", CVPR 2018, Eq. 4; the
// same loss is Wang et al., "Additive margin softmax for face verification", 2018.
var cosFaceEntry = Entry{
	Name:     "cosface",
	Aliases:  []string{"cosfaceloss", "amsoftmax", "amsoftmaxloss", "additive_margin_softmax", "lmcl"},
	Title:    "CosFace, additive cosine margin (AM-Softmax)",
	Paper:    "Wang et al. 2018",
	Equation: "Eq. 4",
	Formula:  "-1/n Σ_i log softmax_c(λ (s_ic - m·1[c = y_i]))[y_i]",
	Against:  Proxies,
	Params:   true,
	Proxied:  true,
	Settings: []Setting{
		scaleSetting,
		{Name: "margin", Symbol: "m", Default: 0.35, Min: 0, Max: 2,
			Doc: "cosine by which the own class must be nearer"},
		{Name: "init", Default: "normal", Choices: proxyDraws, Doc: proxyDrawsDoc},
	},
	New: func(v Values, env Env) (Loss, error) {
		m := v.Number("margin")
		fn := &marginSoftmax{own: func(s float64) (u, slope float64) { return s - m, 1 }, scale: v.Number("scale")}
		loss := newProxied("cosface", fn, env, 1)
		drawProxies(loss.p, v.Word("init"), env.Init)
		return loss, nil
	},
}
