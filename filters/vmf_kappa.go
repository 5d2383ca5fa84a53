package filters

import "math"

// The ways to estimate the concentration κ of a von Mises-Fisher distribution on the unit sphere of R^D
// from R, the length of the mean of unit vectors.
const (
	KappaBanerjee = "banerjee" // R(D-R²)/(1-R²): Banerjee et al. 2005, what PRISM's eq. 13 means
	KappaPrinted  = "printed"  // R(D-R)/(1-R²): PRISM's eq. 13 as printed
	KappaSra      = "sra"      // two Newton steps from Banerjee's value towards A_D(κ) = R: Sra 2012
)

// What an estimate cannot exceed: R = 1, one vector or copies of it, would mean κ = ∞.
const (
	maxMeanLength = 1 - 1e-6
	maxKappa      = 1e5
)

// Kappa estimates the concentration from the mean length R in [0, 1]; method is one of the names above. R
// is clamped to 1-1e-6 and the closed forms to 1e5, which is also where Sra's steps then start; R = 0 gives
// 0, the uniform distribution.
func Kappa(dim int, meanLen float64, method string) float64 {
	d, r := float64(dim), math.Min(meanLen, maxMeanLength)
	if !(r > 0) {
		return 0
	}
	if method == KappaPrinted {
		return math.Min(r*(d-r)/(1-r*r), maxKappa)
	}
	kappa := math.Min(r*(d-r*r)/(1-r*r), maxKappa)
	if method == KappaSra {
		for range 2 {
			a := meanLength(dim, kappa)
			kappa -= (a - r) / (1 - a*a - (d-1)*a/kappa)
		}
	}
	return math.Max(0, kappa)
}

// debiased takes from R what chance alone adds: R'² = max(0, (M R² - 1)/(M-1)) for M ≥ 2 members.
func debiased(meanLen float64, members int) float64 {
	m := float64(members)
	return math.Sqrt(math.Max(0, (m*meanLen*meanLen-1)/(m-1)))
}
