package filters

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// VMF is vMF-Sim: the probability of the given label if every class is a von Mises-Fisher distribution on the
// sphere, fitted to its members in the bank, with a uniform prior over classes.
//
//	μ_k = Σv/‖Σv‖,  R_k = ‖Σv‖/M_k,  κ_k = R_k(D-R_k²)/(1-R_k²)
//	log f_k(z) = log C_D(κ_k) + κ_k μ_k·z,  P = f_y(z) / Σ_{k: M_k>0} f_k(z)
//
// A class whose members come from fewer than two images uses the pooled κ, from Σ M_k R_k / Σ M_k
// over the other classes. If no class has that many images, [AvgSim] judges the row. An image counts once even
// if the bank holds it once per epoch: otherwise a class reduced to copies of one image would have R_k = 1 and
// κ at its ceiling, and would reject all others for good. R_k = 0 (opposite vectors) gives μ_k = 0, κ_k = 0,
// the uniform density. M_y = 0 gives P = 1. With All, a class without
// members counts with the pooled κ and μ = 0.
//
// The paper's eq. 12 and 13 contradict each other about R (length of the sum, or of the mean) and eq. 13 prints
// D-R. Both are corrected here; KappaPrinted keeps the latter. κ_k and log C_D(κ_k) are cached per class until
// its members change, so a batch costs one product with the centres and one Bessel function per changed class.
// Time O(n·C·d). Source: PRISM, eq. 10-14.
type VMF struct {
	Kappa Estimator // nil: KappaBanerjee
	All   bool

	bank    *features.Bank // the bank that fits belong to
	fits    []fit          // per class
	sims    []float32
	classes []int
	logits  []float64
	rest    []float64 // a class's sum without one row
}

// fit holds the estimates of one class from its own members.
type fit struct {
	version uint64
	members int
	images  int
	length  float64 // ‖Σv‖/M_k as measured, neither clamped nor corrected
	spread  spread  // for at least two images
	slope   float64 // κ_k/length, so that slope·T(z,k) = κ_k μ_k·z
	weight  float64 // M_k R_k, its part in the pool; 0 for fewer than two images
}

// spread is a concentration with the logarithm of its normaliser.
type spread struct{ kappa, logC float64 }

// pool adds up the classes with at least two images.
type pool struct {
	weight  float64 // Σ M_k R_k
	members int     // Σ M_k
}

// Score returns P for each row of z.
func (v *VMF) Score(dst []float64, z features.Set, ref *features.Bank, own bool) []float64 {
	return oddsToProbs(v.LogOdds(dst, z, ref, own))
}

// LogOdds returns log(P/(1-P)) for each row of z. It still orders rows whose P rounds to 0 or 1.
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

// refreshFits fits the classes that changed since the last call, computes the pool, and reports whether a class of
// the denominator needs it.
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

// fitClass estimates one class from the sum of its members, their number, and the number of images they come from.
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

// fillLogits computes log f_k(z) for the classes of the denominator from the mean similarities t; common is
// used for classes without their own spread.
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

// ownOdds judges a member z of class y as if it were not in the bank: its class and the pool are fitted without
// it.
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

// leastImages is the number of images from which a class has its own spread.
const leastImages = 2

// hasSpread reports whether vMF-Sim can judge: whether some class has members of enough images.
func hasSpread(bank *features.Bank) bool {
	for k := range bank.Classes() {
		if bank.Images(k) >= leastImages {
			return true
		}
	}
	return false
}
