package losses

import "math"

// angularMargin is the cosine of a row with its own class in ArcFace: the angle θ is increased by m.
//
//	s = cos θ   u = cos(θ + m) = s cos m - √(1-s²) sin m     where θ + m < π
//	            u = s - m sin m                              elsewhere
//
// Past θ + m = π the cosine would rise again and pull a row away from its class. There u continues with slope 1,
// as in the authors' code (InsightFace) and pytorch-metric-learning. It is monotone for m up to 2.3, but drops by
// cos m + m sin m - 1 at that point (.12 at m = .5); no derivative shows this drop.
// ∂u/∂s = cos m + sin m·s/√(1-s²) is unbounded as s → 1. From s = 1 - 10⁻⁶ on, where a float32 determines θ
// poorly, √(1-s²) is replaced by its tangent, so that the slope is at most cos m + 707 sin m, also where rounding
// puts s at 1 or above. m = 0 leaves every bit unchanged.
// Source: Deng et al., CVPR 2019, Eq. 3.
type angularMargin struct {
	cos, sin float64 // of m
	far      float64 // m sin m
}

func newAngularMargin(m float64) angularMargin {
	sin, cos := math.Sincos(m)
	return angularMargin{cos: cos, sin: sin, far: m * sin}
}

// closest is the largest cosine whose sine is computed exactly; closestSine is that sine.
const closest = 1 - 1e-6

var closestSine = math.Sqrt(1 - closest*closest)

func (a angularMargin) marginAt(s float64) (u, slope float64) {
	if s <= -a.cos {
		return s - a.far, 1
	}
	sine, bend := closestSine-(s-closest)*closest/closestSine, closest/closestSine
	if s < closest {
		sine = math.Sqrt(1 - s*s)
		bend = s / sine
	}
	return s*a.cos - sine*a.sin, a.cos + a.sin*bend
}

// arcFace is a cross entropy over the cosines to one learnable centre per class, with m added to the angle to
// the row's own class.
//
//	L = 1/n Σ_i -log softmax_c(λ u_ic)[y_i],   u_iy = cos(θ_iy + m),  u_ic = cos θ_ic = z_i·p_c/‖p_c‖
//
// Settings: scale λ > 0, margin m ∈ [0, 1.5] in radians. λ = 64 and m = 0.5 (28.6°) are the values of the
// paper, found on faces, and of pytorch-metric-learning. m = 0 is norm_softmax at t = 1/λ. [angularMargin]
// describes θ + m > π and θ near 0; [marginSoftmax] describes batches and cost. A wrong label pulls harder than
// without the margin.
// Source: Deng et al., "ArcFace: Additive angular margin loss for deep face recognition", CVPR 2019, Eq. 3.
var arcFaceEntry = Entry{
	Name:     "arcface",
	Aliases:  []string{"arcfaceloss", "additive_angular_margin"},
	Title:    "ArcFace, additive angular margin",
	Paper:    "Deng et al. 2019",
	Equation: "Eq. 3",
	Formula:  "-1/n Σ_i log softmax_c(λ u_ic)[y_i], u_iy = cos(θ_iy + m), u_ic = cos θ_ic",
	Against:  Proxies,
	Params:   true,
	Proxied:  true,
	Settings: []Setting{
		scaleSetting,
		angularSetting,
		{Name: "init", Default: "normal", Choices: proxyDraws, Doc: proxyDrawsDoc},
	},
	New: func(v Values, env Env) (Loss, error) {
		fn := &marginSoftmax{own: newAngularMargin(v.Number("margin")).marginAt, scale: v.Number("scale")}
		loss := newProxied("arcface", fn, env, 1)
		drawProxies(loss.p, v.Word("init"), env.Init)
		return loss, nil
	},
}

// angularSetting is m. From a right angle on, the own class would have to be closer than is possible for any
// row.
var angularSetting = Setting{Name: "margin", Symbol: "m", Default: 0.5, Min: 0, Max: 1.5,
	Doc: "angle in radians by which the own class must be nearer (other tools: 28.6 degrees)"}
