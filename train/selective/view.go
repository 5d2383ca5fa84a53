package selective

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// View describes how to draw a view of an image from stored features; the published methods take a random crop
// instead. x is the image's stored feature, or one of its stored views, all equally likely:
//
//	x' = m∘(x + Noise·σ∘ε)/(1 - Dropout)      σ_j the standard deviation of feature j over the training set
//
// ε is uniform with variance 1, and the mask m drops each number with probability Dropout. These views are winnow's
// choice, because no paper trains Sel-CL or TCL on features.
type View struct {
	Noise   float64 `yaml:"noise"`
	Dropout float64 `yaml:"dropout"`
}

// views draws views of rows of a set.
type views struct {
	View
	set       features.Set
	stored    blas32.General // all stored views of set's rows, view below view, or only set's rows
	deviation []float32      // √3·Noise·σ_j: half the width of the uniform noise
}

func newViews(v View, set features.Set, stored blas32.General) *views {
	d := set.Dim()
	sum, squares := make([]float64, d), make([]float64, d)
	for i := range set.Len() {
		for j, x := range set.Row(i) {
			sum[j] += float64(x)
		}
	}
	n := float64(max(set.Len(), 1))
	for i := range set.Len() {
		for j, x := range set.Row(i) {
			gap := float64(x) - sum[j]/n
			squares[j] += gap * gap
		}
	}
	out := &views{View: v, set: set, stored: stored, deviation: make([]float32, d)}
	for j := range squares {
		out.deviation[j] = float32(math.Sqrt(3*squares[j]/n) * v.Noise)
	}
	return out
}

// drawViews overwrites the rows of dst with views of the listed rows. It draws four numbers from 64 random bits.
func (v *views) drawViews(dst blas32.General, named []int, rng *rand.Rand) error {
	n := v.set.Len()
	several := v.stored.Rows / max(n, 1)
	drop, scale := uint64(v.Dropout*0x10000), float32(1/(1-v.Dropout))
	for to, from := range named {
		row := features.Row(dst, to)
		if several > 1 {
			from += n * rng.IntN(several)
		}
		copy(row, features.Row(v.stored, from))
		if v.Noise > 0 {
			v.addNoise(row, rng)
		}
		if drop == 0 {
			continue
		}
		var bits uint64
		for j := range row {
			if j%4 == 0 {
				bits = rng.Uint64()
			}
			if bits&0xffff < drop {
				row[j] = 0
			} else {
				row[j] *= scale
			}
			bits >>= 16
		}
	}
	return nil
}

// copyPlainViews overwrites the rows of dst with the listed rows, unchanged.
func (v *views) copyPlainViews(dst blas32.General, named []int) error {
	for to, from := range named {
		copy(features.Row(dst, to), v.set.Row(from))
	}
	return nil
}

func (v *views) addNoise(row []float32, rng *rand.Rand) {
	var bits uint64
	for j := range row {
		if j%4 == 0 {
			bits = rng.Uint64()
		}
		row[j] += v.deviation[j] * (float32(bits&0xffff)*(2./0xffff) - 1)
		bits >>= 16
	}
}

// mixture mixes a batch with a permutation of itself: share·x + (1 - share)·x[partner]. The share is at least ½, so
// that a row's own image has the larger part.
type mixture struct {
	share   float64
	partner []int
}

// drawMixture draws a random permutation of n rows, and one share for the whole batch from Beta(a, a).
func drawMixture(a float64, n int, rng *rand.Rand) mixture {
	m := mixture{share: 1, partner: rng.Perm(n)}
	if a > 0 {
		x, y := drawGamma(a, rng), drawGamma(a, rng)
		if m.share = x / (x + y); !(m.share >= 0 && m.share <= 1) { // both underflowed
			m.share = float64(rng.IntN(2))
		}
	}
	m.share = max(m.share, 1-m.share)
	return m
}

// mixRows overwrites dst with the mixtures of x.
func (m mixture) mixRows(dst, x blas32.General) {
	a, b := float32(m.share), float32(1-m.share)
	for i, p := range m.partner {
		to, own, other := features.Row(dst, i), features.Row(x, i), features.Row(x, p)
		for j := range to {
			to[j] = a*own[j] + b*other[j]
		}
	}
}

// drawGamma draws from the gamma distribution of shape a and scale 1.
// Source: Marsaglia & Tsang, A Simple Method for Generating Gamma Variables, ACM TOMS 26, 2000.
func drawGamma(a float64, rng *rand.Rand) float64 {
	if a < 1 {
		return drawGamma(a+1, rng) * math.Pow(1-rng.Float64(), 1/a)
	}
	d := a - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(1-rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
