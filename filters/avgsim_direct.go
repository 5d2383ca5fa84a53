package filters

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// AvgSimDirect is [AvgSim] without class centres: it compares a row with every member of the bank and averages the
// similarities.
//
//	T(z,k) = 1/M_k Σ_{v in class k} z·v, member by member
//
// The values equal AvgSim's up to rounding; the time is O(n·|M|·d). AvgSimDirect verifies the centres and shows how
// much time they save (PRISM's Table V, SOP: 5,000 iterations take 12,295 s without centres, 1,777 s with centres and
// 1,679 s without a filter). [Find] resolves the name avgsim_direct, for timing. [Catalog] does not list it, because it
// is only a slower AvgSim. Source: PRISM, eq. 2.
type AvgSimDirect struct {
	All bool

	sims    []float32
	classes []int
	sums    []float64
	means   []float32
}

// direct is the entry of [AvgSimDirect].
var direct = Entry{
	Name: "avgsim_direct", Title: "AvgSim without centres", Paper: prism, Equation: "Eq. 2",
	NeedsBank: true, Probability: true, Settings: []Setting{denominator},
	build: func(c Config, _ Env) Scorer { return &AvgSimDirect{All: c.Denominator == DenominatorAll} },
}

// Score returns P for each row of z.
func (a *AvgSimDirect) Score(dst []float64, z features.Set, ref *features.Bank, own bool) []float64 {
	return oddsToProbs(a.LogOdds(dst, z, ref, own))
}

// LogOdds returns log(P/(1-P)) for each row of z.
func (a *AvgSimDirect) LogOdds(dst []float64, z features.Set, ref *features.Bank, own bool) []float64 {
	dst = features.Grow(dst, z.Len())
	a.classes = knownClasses(a.classes, ref, a.All)
	a.sums = features.Grow(a.sums, ref.Classes())
	if len(a.means) != ref.Classes() {
		a.means = make([]float32, ref.Classes())
	}
	set := ref.Set()
	if set.Len() == 0 {
		for i := range dst {
			dst[i] = Unjudged
		}
		return dst
	}
	eachSimBlock(&a.sims, z.X, set.X, func(from, to int, s blas32.General) {
		for i := from; i < to; i++ {
			clear(a.sums)
			for j, v := range features.Row(s, i-from) {
				a.sums[set.Labels[j]] += float64(v)
			}
			for k, sum := range a.sums {
				a.means[k] = float32(sum / max(1, float64(ref.Count(k))))
			}
			y := z.Labels[i]
			members, sy := ref.Count(y), a.sums[y]
			if own {
				_, zz := dotProducts(ref.Sum(y), z.Row(i))
				members, sy = members-1, sy-zz
			}
			dst[i] = avgOdds(a.means, a.classes, y, sy/max(1, float64(members)), members)
		}
	})
	return dst
}
