package filters

import "math"

// LogBesselI returns log I_ν(x) for the modified Bessel function of the first kind, ν ≥ 0 and x ≥ 0. It computes
// neither I nor e^x, so that it cannot overflow.
//
//	x ≤ 60:  ν log(x/2) - log Γ(ν+1) + log Σ_m (x²/4)^m / (m! (ν+1)_m)
//	x > 60:  r + ν log(x/(ν+r)) - ½ log(2πr) + log(1 + Σ_{j=1..8} u_j(t)/ν^j),  r = √(ν²+x²), t = ν/r
//
// The second formula is Debye's uniform expansion. u_j(t)/ν^j is written as p_j(t²)/r^j, which also holds at ν = 0,
// where the expansion is Hankel's series. At x = 0 the result is -Inf, or 0 for ν = 0. The error is below 1e-11 for ν
// up to 255 and x up to 1e5. Source: NIST Digital Library of Mathematical Functions, 10.25.2 and 10.41.3.
func LogBesselI(nu, x float64) float64 {
	switch {
	case x == 0 && nu == 0:
		return 0
	case x == 0:
		return math.Inf(-1)
	case x <= 60:
		gamma, _ := math.Lgamma(nu + 1)
		return nu*math.Log(x/2) - gamma + math.Log(besselSeries(nu, x))
	}
	r := math.Hypot(nu, x)
	return r + nu*math.Log(x/(nu+r)) - 0.5*math.Log(2*math.Pi*r) + math.Log1p(debyeSum(nu/r, r))
}

// besselSeries returns Σ_m (x²/4)^m / (m! (ν+1)_m); all terms are positive.
func besselSeries(nu, x float64) float64 {
	q := x * x / 4
	sum, term := 1.0, 1.0
	for m := 1.0; term > 1e-17*sum; m++ {
		term *= q / (m * (nu + m))
		sum += term
	}
	return sum
}

// debyeSum returns Σ_{j=1..8} p_j(t²)/r^j.
func debyeSum(t, r float64) float64 {
	var sum float64
	for j := debyeOrder; j >= 1; j-- {
		p := debye[j]
		value := p[j]
		for i := j - 1; i >= 0; i-- {
			value = value*t*t + p[i]
		}
		sum = (sum + value) / r
	}
	return sum
}

const debyeOrder = 8

// debye[j][i] is the coefficient of t^(j+2i) in u_j(t), from
//
//	u_0 = 1,  u_{j+1}(t) = t²(1-t²)/2 u_j'(t) + 1/8 ∫_0^t (1-5s²) u_j(s) ds   (DLMF 10.41.9)
var debye = func() (u [debyeOrder + 1][debyeOrder + 1]float64) {
	u[0][0] = 1
	for j := range debyeOrder {
		for i := 0; i <= j; i++ {
			n := float64(j + 2*i)
			u[j+1][i] += u[j][i] * (n/2 + 1/(8*(n+1)))
			u[j+1][i+1] -= u[j][i] * (n/2 + 5/(8*(n+3)))
		}
	}
	return u
}()

// logNormalizer returns log C_D(κ), the normaliser of the von Mises-Fisher density C_D(κ) e^{κ μ·z} on the unit
// sphere of R^D, D ≥ 2 (PRISM, eq. 11).
//
//	log C_D(κ) = (D/2-1) log κ - (D/2) log 2π - log I_{D/2-1}(κ),  log C_D(0) = log Γ(D/2) - log 2 - (D/2) log π
func logNormalizer(dim int, kappa float64) float64 {
	half := float64(dim) / 2
	nu := half - 1
	gamma, _ := math.Lgamma(half)
	switch {
	case kappa == 0:
		return gamma - math.Ln2 - half*math.Log(math.Pi)
	case kappa <= 60: // powers of κ cancel analytically, so that a tiny κ is safe
		return gamma + nu*math.Ln2 - half*math.Log(2*math.Pi) - math.Log(besselSeries(nu, kappa))
	}
	return nu*math.Log(kappa) - half*math.Log(2*math.Pi) - LogBesselI(nu, kappa)
}

// meanLength returns A_D(κ) = I_{D/2}(κ)/I_{D/2-1}(κ), the expected length of the mean of vMF vectors. The two
// logarithms are subtracted term by term, because subtracting the complete logarithms would lose five digits at κ =
// 1e5.
func meanLength(dim int, kappa float64) float64 {
	if kappa == 0 {
		return 0
	}
	nu := float64(dim)/2 - 1
	if kappa <= 60 {
		return kappa / (2 * (nu + 1)) * besselSeries(nu+1, kappa) / besselSeries(nu, kappa)
	}
	r0, r1 := math.Hypot(nu, kappa), math.Hypot(nu+1, kappa)
	// log(x/(ν+r)) = -asinh(ν/x)
	d := (2*nu+1)/(r1+r0) - (nu+1)*math.Asinh((nu+1)/kappa) + nu*math.Asinh(nu/kappa) - 0.5*math.Log(r1/r0)
	return math.Exp(d + math.Log1p(debyeSum((nu+1)/r1, r1)) - math.Log1p(debyeSum(nu/r0, r0)))
}
