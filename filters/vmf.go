package filters

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// VMF is vMF-Sim. It scores a label by its probability if every class is a von Mises-Fisher distribution on the sphere,
// fitted to its members in the bank, with a uniform prior over classes.
//
//	μ_k = Σv/‖Σv‖,  R_k = ‖Σv‖/M_k,  κ_k = R_k(D-R_k²)/(1-R_k²)
//	log f_k(z) = log C_D(κ_k) + κ_k μ_k·z,  P = f_y(z) / Σ_{k: M_k>0} f_k(z)
//
// A class whose members come from fewer than two images uses the pooled κ, from Σ M_k R_k / Σ M_k over the other
// classes. If no class has two images, [AvgSim] scores the row. An image is counted once even if the bank holds it once
// for each of several epochs; otherwise a class with a single image would have R_k = 1, κ at its upper limit, and would
// reject all other images forever. R_k = 0 (opposite vectors) gives μ_k = 0 and κ_k = 0, the uniform density. M_y = 0
// gives P = 1. With All, a class without members is included with the pooled κ and μ = 0.
//
// PRISM's eq. 12 and 13 contradict each other about R (the length of the sum, or of the mean), and eq. 13 prints D-R.
// Both are corrected here; KappaPrinted keeps D-R. κ_k and log C_D(κ_k) are cached for each class until its members
// change, so that a batch costs one product with the centres and one Bessel function for each changed class. Time
// O(n·C·d). Source: PRISM, eq. 10-14.
type VMF struct {
	Kappa Estimator // nil: KappaBanerjee
	All   bool

	bank    *features.Bank // the bank to which fits belongs
	fits    []fit          // per class
	sims    []float32
	classes []int
	logits  []float64
	rest    []float64 // scratch: sum of a class without one row
}

// fit holds the estimates for one class from its own members.
type fit struct {
	version uint64
	members int
	images  int
	length  float64 // ‖Σv‖/M_k as measured, neither clamped nor corrected
	spread  spread  // set if there are at least two images
	slope   float64 // κ_k/length, so that slope·T(z,k) = κ_k μ_k·z
	weight  float64 // M_k R_k, its weight in the pool; 0 for fewer than two images
}

// spread is a concentration and the logarithm of its normaliser.
type spread struct{ kappa, logC float64 }

// pool sums over the classes with at least two images.
type pool struct {
	weight  float64 // Σ M_k R_k
	members int     // Σ M_k
}

// Score returns P for each row of z.
func (v *VMF) Score(dst []float64, z features.Set, ref *features.Bank, own bool) []float64 {
	return oddsToProbs(v.LogOdds(dst, z, ref, own))
}

// LogOdds returns log(P/(1-P)) for each row of z. It also orders rows whose P rounds to 0 or 1.
func (v *VMF) LogOdds(dst []float64, z features.Set, ref *features.Bank, own bool) []float64 {
	dst = features.Grow(dst, z.Len())
	v.classes = knownClasses(v.classes, ref, v.All)
	v.logits = features.Grow(v.logits, ref.Classes())
	pool, needsPool := v.refreshFits(ref)
	var common spread
	if needsPool && pool.members > 0 {
		common = v.spreadOf(ref.Dim(), pool.weight/float64(pool.members))
	}
	eachSimBlock(&v.sims, z.X, ref.Centres(), func(from, to int, s blas32.General) {
		for i := from; i < to; i++ {
			y, t := z.Labels[i], features.Row(s, i-from)
			switch {
			case own:
				dst[i] = v.ownOdds(t, y, z.Row(i), ref, pool, needsPool)
			case ref.Count(y) == 0:
				dst[i] = Unjudged
			case pool.members == 0:
				dst[i] = avgOdds(t, v.classes, y, float64(t[y]), ref.Count(y))
			default:
				v.fillLogits(t, common)
				dst[i] = logOdds(v.logits, v.classes, y)
			}
		}
	})
	return dst
}

// refreshFits fits the classes that changed since the last call and computes the pool. It reports whether a class in
// the denominator needs the pool.
func (v *VMF) refreshFits(ref *features.Bank) (p pool, needed bool) {
	if v.bank != ref || len(v.fits) != ref.Classes() {
		v.bank, v.fits = ref, make([]fit, ref.Classes()) // a class of version 0 never had a member
	}
	for k := range v.fits {
		f := &v.fits[k]
		if f.version != ref.Version(k) {
			*f = v.fitClass(ref.Sum(k), ref.Count(k), ref.Images(k))
			f.version = ref.Version(k)
		}
		if f.images >= leastImages {
			p.weight += f.weight
			p.members += f.members
		} else if f.members > 0 || v.All {
			needed = true
		}
	}
	return p, needed
}

// fitClass fits one class, given the sum of its members, their number, and the number of distinct images.
func (v *VMF) fitClass(sum []float64, members, images int) fit {
	f := fit{members: members, images: images}
	if members == 0 {
		return f
	}
	var norm float64
	for _, x := range sum {
		norm += x * x
	}
	f.length = math.Sqrt(norm) / float64(members)
	if images < leastImages {
		return f
	}
	f.spread = v.spreadOf(len(sum), f.length)
	f.slope = kappaSlope(f.spread.kappa, f.length)
	f.weight = float64(members) * f.length
	return f
}

func (v *VMF) spreadOf(dim int, meanLen float64) spread {
	most, estimate := DefaultLimits(), v.Kappa
	if estimate == nil {
		estimate = KappaBanerjee
	}
	kappa := math.Min(estimate(dim, meanLen, most), most.Kappa)
	return spread{kappa, logNormalizer(dim, kappa)}
}

// kappaSlope returns κ/length, or 0 where the direction is undefined.
func kappaSlope(kappa, length float64) float64 {
	if length == 0 {
		return 0
	}
	return kappa / length
}

// fillLogits computes log f_k(z) for the classes of the denominator from the mean similarities t. common is used for
// classes without a spread of their own.
func (v *VMF) fillLogits(t []float32, common spread) {
	for _, k := range v.classes {
		f := &v.fits[k]
		if f.images >= leastImages {
			v.logits[k] = f.spread.logC + f.slope*float64(t[k])
		} else {
			v.logits[k] = common.logC + kappaSlope(common.kappa, f.length)*float64(t[k])
		}
	}
}

// ownOdds returns the log odds of a member z of class y as if z were not in the bank: class and pool are fitted without
// z.
func (v *VMF) ownOdds(t []float32, y int, z []float32, ref *features.Bank, p pool, needsPool bool) float64 {
	mean, members := withoutSelf(ref.Sum(y), ref.Count(y), z)
	if members == 0 {
		return Unjudged
	}
	v.rest = features.Grow(v.rest, len(z))
	for j, x := range ref.Sum(y) {
		v.rest[j] = x - float64(z[j])
	}
	rest := v.fitClass(v.rest, members, ref.Images(y)-1)
	p.weight += rest.weight - v.fits[y].weight
	if ref.Images(y) >= leastImages {
		p.members -= ref.Count(y)
	}
	if rest.images >= leastImages {
		p.members += members
	}
	if p.members == 0 {
		return avgOdds(t, v.classes, y, mean, members)
	}
	var common spread
	if needsPool || rest.images < leastImages {
		common = v.spreadOf(len(z), p.weight/float64(p.members))
	}
	v.fillLogits(t, common)
	if rest.images < leastImages {
		rest.spread, rest.slope = common, kappaSlope(common.kappa, rest.length)
	}
	v.logits[y] = rest.spread.logC + rest.slope*mean
	return logOdds(v.logits, v.classes, y)
}

// leastImages is the number of images from which a class has a spread of its own.
const leastImages = 2

// hasSpread reports whether vMF-Sim can score: whether some class has enough images.
func hasSpread(bank *features.Bank) bool {
	for k := range bank.Classes() {
		if bank.Images(k) >= leastImages {
			return true
		}
	}
	return false
}
