package filters

import "math"

// Estimator estimates the concentration κ of a von Mises-Fisher distribution on the unit sphere of R^D from R in [0,
// 1], the length of the mean of unit vectors. R and the results of closed forms are clamped to the limits, and KappaSra
// starts from the clamped value. R = 0 gives 0, the uniform distribution.
type Estimator func(dim int, meanLen float64, most Limits) float64

// estimators holds the estimators that can be named in a configuration.
var estimators = map[string]Estimator{"banerjee": KappaBanerjee, "sra": KappaSra}

// Limits bounds an estimate. Without bounds, R = 1, from a single vector or its duplicates, would give κ = ∞.
type Limits struct {
	Length float64 // largest R, below 1
	Kappa  float64 // largest κ of the closed forms
}

// DefaultLimits returns the limits of the golden set.
func DefaultLimits() Limits { return Limits{Length: 1 - 1e-6, Kappa: 1e5} }

// KappaBanerjee returns R(D-R²)/(1-R²) of Banerjee et al. 2005, the intended form of PRISM's eq. 13.
func KappaBanerjee(dim int, meanLen float64, most Limits) float64 {
	d, r := float64(dim), math.Min(meanLen, most.Length)
	if !(r > 0) {
		return 0
	}
	return math.Min(r*(d-r*r)/(1-r*r), most.Kappa)
}

// KappaPrinted returns R(D-R)/(1-R²), PRISM's eq. 13 as printed, for Config.Printed and for comparing estimators.
func KappaPrinted(dim int, meanLen float64, most Limits) float64 {
	d, r := float64(dim), math.Min(meanLen, most.Length)
	if !(r > 0) {
		return 0
	}
	return math.Min(r*(d-r)/(1-r*r), most.Kappa)
}

// KappaSra takes two Newton steps from Banerjee's value towards A_D(κ) = R (Sra 2012).
func KappaSra(dim int, meanLen float64, most Limits) float64 {
	d, r := float64(dim), math.Min(meanLen, most.Length)
	kappa := KappaBanerjee(dim, r, most)
	if kappa == 0 {
		return 0
	}
	for range 2 {
		a := meanLength(dim, kappa)
		kappa -= (a - r) / (1 - a*a - (d-1)*a/kappa)
	}
	return math.Max(0, kappa)
}

// Debiased removes from R the part expected by chance: R'² = max(0, (M R² - 1)/(M-1)) for M ≥ 2 members.
func Debiased(meanLen float64, members int) float64 {
	m := float64(members)
	return math.Sqrt(math.Max(0, (m*meanLen*meanLen-1)/(m-1)))
}
