package filters

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// AvgSim scores a label by its probability under a softmax of mean similarities to the classes.
//
//	T(z,k) = 1/M_k Σ_{v in class k} z·v = z·w_k, w_k the class mean (not renormalised)
//	P = e^{T(z,y)} / Σ_{k: M_k>0} e^{T(z,k)}
//
// With All, the denominator runs over all classes; classes without members add e^0, as in the authors' code. P = 1 if
// M_y = 0 or there is no other class. A row that is a member itself is removed from its class: (M_y T(z,y) -
// z·z)/(M_y-1). P lies in a narrow band around 1/C, so use a threshold by rank. Time O(n·C·d). Source: PRISM, eq. 2-7.
type AvgSim struct {
	All bool

	sims    []float32
	classes []int
}

// Score returns P for each row of z.
func (a *AvgSim) Score(dst []float64, z features.Set, ref *features.Bank, own bool) []float64 {
	return oddsToProbs(a.LogOdds(dst, z, ref, own))
}

// LogOdds returns log(P/(1-P)) for each row of z.
func (a *AvgSim) LogOdds(dst []float64, z features.Set, ref *features.Bank, own bool) []float64 {
	dst = features.Grow(dst, z.Len())
	a.classes = knownClasses(a.classes, ref, a.All)
	eachSimBlock(&a.sims, z.X, ref.Centres(), func(from, to int, s blas32.General) {
		for i := from; i < to; i++ {
			y, t := z.Labels[i], features.Row(s, i-from)
			ty, members := float64(t[y]), ref.Count(y)
			if own {
				ty, members = withoutSelf(ref.Sum(y), members, z.Row(i))
			}
			dst[i] = avgOdds(t, a.classes, y, ty, members)
		}
	})
	return dst
}

// withoutSelf returns the mean similarity of z to the other members of its class, and the number of these members.
func withoutSelf(sum []float64, members int, z []float32) (float64, int) {
	if members < 2 {
		return 0, 0
	}
	sz, zz := dotProducts(sum, z)
	return (sz - zz) / float64(members-1), members - 1
}

// avgOdds returns the log odds of class y against the listed classes. t holds the mean similarities to all classes; ty
// replaces the entry of y. Similarities are in [-1, 1], so the sum of exponentials cannot overflow.
func avgOdds(t []float32, classes []int, y int, ty float64, members int) float64 {
	if members == 0 {
		return Unjudged
	}
	var rivals float64
	for _, k := range classes {
		if k != y {
			rivals += expUnit(float64(t[k]))
		}
	}
	return ty - math.Log(rivals)
}

// expUnit returns e^x for |x| ≤ 1.1 with an error of 1e-13: the fourth power of the Taylor polynomial of e^{x/4}. It
// takes half the time of math.Exp, which would otherwise dominate the time of a batch with thousands of classes.
func expUnit(x float64) float64 {
	x *= 0.25
	x2 := x * x
	x4 := x2 * x2
	low := (1 + x) + x2*(1.0/2+x*(1.0/6))
	high := (1.0/24 + x*(1.0/120)) + x2*(1.0/720+x*(1.0/5040)) + x4*(1.0/40320+x*(1.0/362880)+x2*(1.0/3628800))
	p := low + x4*high
	p *= p
	return p * p
}
