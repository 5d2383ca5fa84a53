package losses

// subCenter is ArcFace over classes with several learnable centres each; the nearest centre represents its
// class.
//
//	L = 1/n Σ_i -log softmax_c(λ u_ic)[y_i],   u_iy = cos(θ_iy + m),  u_ic = cos θ_ic = s_ic
//	s_ic = max_k s_ick,  s_ick = z_i·p̂_ck
//
// A row needs to be near only one of its class's K centres. Right labels therefore gather around one dominant
// centre and wrong labels around the rest, which the filter sub_center uses. Settings: centers K ≥ 1, scale
// λ > 0, margin m ∈ [0, 1.5] in radians. K = 3, λ = 64 and m = 0.5 are the values of the paper and of
// pytorch-metric-learning. K = 1 equals arcface bit for bit. A row moves only the nearest centre of each class,
// the first of equally near ones. A centre that is nearest to no row of a batch does not move; centres of an
// absent class are still pushed away. [angularMargin] describes θ + m > π and θ near 0.
// Time O(n·C·K·d), memory O(n·C·K).
// Source: Deng et al., "Sub-center ArcFace: Boosting face recognition by large-scale noisy web faces", ECCV
// 2020, the loss of section 3.
type subCenter struct {
	marginSoftmax
	perClass int
	s        []float64 // s_ic of a row, then its derivative
	nearest  []int     // the column of each
}

var subCenterEntry = Entry{
	Name:     "sub_center_arcface",
	Aliases:  []string{"subcenterarcfaceloss"},
	Title:    "Sub-center ArcFace",
	Paper:    "Deng et al. 2020",
	Equation: "section 3",
	Formula:  "-1/n Σ_i log softmax_c(λ u_ic)[y_i], u_iy = cos(θ_iy + m), u_ic = cos θ_ic = max_k s_ick",
	Against:  Proxies,
	Params:   true,
	Proxied:  true,
	Settings: []Setting{
		{Name: "centers", Symbol: "K", Default: 3, Min: 1, Max: 1000, Doc: "centres a class"},
		scaleSetting,
		angularSetting,
		{Name: "init", Default: "normal", Choices: proxyDraws, Doc: proxyDrawsDoc},
	},
	New: func(v Values, env Env) (Loss, error) {
		k := v.Count("centers")
		fn := &subCenter{perClass: k}
		fn.own, fn.scale = newAngularMargin(v.Number("margin")).marginAt, v.Number("scale")
		loss := newProxied("sub_center_arcface", fn, env, k)
		drawProxies(loss.p, v.Word("init"), env.Init)
		return loss, nil
	},
}

func (l *subCenter) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	l.s, l.nearest = growSlice(l.s, r/l.perClass), growSlice(l.nearest, r/l.perClass)
	for i, y := range p.rows {
		l.classMaxima(S[i*r : (i+1)*r])
		sum += l.rowLoss(l.s, y)
		if dS == nil {
			continue
		}
		d := dS[i*r : (i+1)*r]
		clear(d)
		for c, at := range l.nearest {
			d[at] = l.s[c]
		}
	}
	return sum, float64(len(p.rows))
}

// classMaxima stores s_c for one row of similarities in l.s.
func (l *subCenter) classMaxima(s []float64) {
	for c := range l.s {
		at := c * l.perClass
		for j := at + 1; j < (c+1)*l.perClass; j++ {
			if s[j] > s[at] {
				at = j
			}
		}
		l.s[c], l.nearest[c] = s[at], at
	}
}
