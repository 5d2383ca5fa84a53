package losses

import "math"

// nodes replace many points by a few in sums of a smooth function, with an error far below that of the
// distances themselves. If ℓ_k are the Lagrange polynomials of K Chebyshev nodes t_k on [min c, max c], then
//
//	Σ_p f(c_p - δ) ≈ Σ_k w_k f(t_k - δ),  w_k = Σ_p ℓ_k(c_p)        f(c_p - δ) ≈ Σ_k ℓ_k(c_p) f(t_k - δ)
//
// for f = softplus and its slope. Both are analytic for |Im c| < π and bounded by 14 in the ellipse of height 3
// around the interval of length L: ρ - 1/ρ = 12/L. Chebyshev interpolation is then off by at most
// 4·14·ρ^{1-K}/(ρ-1) (Trefethen, "Approximation theory and approximation practice", theorem 8.2) for any δ. K
// is the smallest with an error ≤ nodeError: 31 for L = 4, 21 for L = 2, 13 for L = 0.7, 8 for L = 0.1. |P|
// positives and |N| negatives thus cost K·(|N| + 2|P|) instead of |P|·|N|.
type nodes struct {
	at, weight []float64 // t_k and w_k
	points     []float64 // c_p, scaled to [-1, 1]
	x          []float64 // t_k, scaled to [-1, 1]
	coef       []float64 // of Chebyshev polynomials
	now, last  []float64 // T_j and T_{j-1} at every point
	out        []float64
}

const nodeError = 1e-14

// nodeCount returns K for an interval of the given length.
func nodeCount(length float64) int {
	h := 6 / max(length, 1e-3)
	rho := h + math.Sqrt(h*h+1)
	return 1 + int(math.Ceil(max(1, math.Log(56/(nodeError*(rho-1)))/math.Log(rho))))
}

// placeNodes puts nodes on the interval of the sorted points, for sums over others further points, and reports
// whether that saves time.
func (q *nodes) placeNodes(points []float64, others int) bool {
	n := len(points)
	low, high := points[0], points[n-1]
	k := nodeCount(high - low)
	if n*others <= k*(others+2*n) {
		return false
	}
	q.at, q.x, q.weight, q.coef = growSlice(q.at, k), growSlice(q.x, k), growSlice(q.weight, k), growSlice(q.coef, k)
	middle, half := (low+high)/2, (high-low)/2
	for i := range q.x {
		q.x[i] = math.Cos((float64(i) + 0.5) * math.Pi / float64(k))
		q.at[i] = middle + half*q.x[i]
	}
	q.points, q.out = growSlice(q.points, n), growSlice(q.out, n)
	for i, c := range points {
		q.points[i] = 0
		if half > 0 {
			q.points[i] = (c - middle) / half
		}
	}
	// w_k = 1/K [M_0 + 2 Σ_j M_j T_j(x_k)] with M_j = Σ_p T_j(c_p).
	q.eachChebyshev(q.points, func(j int, t []float64) {
		q.coef[j] = 0
		for _, v := range t {
			q.coef[j] += v
		}
	})
	q.sumSeries(q.weight, q.x, q.coef)
	return true
}

// interpolateNodes returns the values at the points, interpolated from those at the nodes.
func (q *nodes) interpolateNodes(values []float64) []float64 {
	q.eachChebyshev(q.x, func(j int, t []float64) {
		q.coef[j] = 0
		for i, v := range t {
			q.coef[j] += v * values[i]
		}
	})
	q.sumSeries(q.out, q.points, q.coef)
	return q.out
}

// sumSeries returns 1/K [c_0 + 2 Σ_j c_j T_j(x)] at every x.
func (q *nodes) sumSeries(dst, x, coef []float64) {
	k := float64(len(coef))
	clear(dst)
	q.eachChebyshev(x, func(j int, t []float64) {
		c := 2 * coef[j] / k
		if j == 0 {
			c /= 2
		}
		for i, v := range t {
			dst[i] += c * v
		}
	})
}

// eachChebyshev calls use with T_0 … T_{K-1} at x, computed by T_{j+1} = 2x·T_j - T_{j-1}.
func (q *nodes) eachChebyshev(x []float64, use func(j int, t []float64)) {
	q.now, q.last = growSlice(q.now, len(x)), growSlice(q.last, len(x))
	for i := range x {
		q.now[i], q.last[i] = 1, x[i] // T_0, T_{-1}
	}
	for j := range q.coef {
		use(j, q.now)
		for i, v := range x {
			q.now[i], q.last[i] = 2*v*q.now[i]-q.last[i], q.now[i]
		}
	}
}
