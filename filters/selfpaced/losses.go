package selfpaced

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Losses holds the multi-similarity losses of every sample against the training set,
//
//	ξ⁺_i = 1/α · log[1 + Σ_{p of the class of i, p≠i} e^{-α(s_ip-ρ)}]
//	ξ⁻_i = 1/β · log[1 + Σ_{n of other classes} e^{β(s_in-ρ)}]
//
// with s = z·zᵀ in float32 and everything else in float64. The only member of a class has ξ⁺ = 0, and a single class
// has ξ⁻ = 0. Source: BSPML eq. 3, with sums over the whole training set as in eq. 6.
type Losses struct{ Pos, Neg []float64 }

func (g grouping) computeLosses(c Config, z features.Set, rng *rand.Rand) Losses {
	if z.Len() <= c.Complete {
		return completeLosses(c, z.X, g)
	}
	return sampleLosses(c, z.X, g, rng)
}

// blockEntries limits the number of similarities in memory: 4 MiB of float32.
const blockEntries = 1 << 20

// kernel computes the sums of [Losses] from similarities.
type kernel struct {
	alike, apart exponential
	powers       *powers
}

func newKernel(c Config) kernel {
	return kernel{alike: newExponential(-c.Alpha, c.Base), apart: newExponential(c.Beta, c.Base), powers: newPowers()}
}

// addSamplePairs adds the pairs of sample i with sample first and its successors to both samples' sums. row holds the
// similarities of i to these samples, and mates the members of i's class among them, ascending.
func addSamplePairs[T float32 | float64](k kernel, sums Losses, i, first int, row []T, mates []int) {
	var pos, neg float64
	at := 0
	for _, mate := range mates {
		j := mate - first
		neg += addExponentials(k.apart, k.powers, sums.Neg[first+at:], row[at:j])
		pos += addExponentials(k.alike, k.powers, sums.Pos[first+j:], row[j:j+1])
		at = j + 1
	}
	neg += addExponentials(k.apart, k.powers, sums.Neg[first+at:], row[at:])
	sums.Pos[i] += pos
	sums.Neg[i] += neg
}

// finishLosses converts the sums into losses.
func (l Losses) finishLosses(c Config) {
	for i := range l.Pos {
		l.Pos[i] = math.Log1p(l.Pos[i]) / c.Alpha
		l.Neg[i] = math.Log1p(l.Neg[i]) / c.Beta
	}
}

// completeLosses compares every pair of samples once. Time O(N²·d/2); memory O(N) and one block of similarities.
func completeLosses(c Config, z blas32.General, g grouping) Losses {
	n := z.Rows
	sums, k := Losses{make([]float64, n), make([]float64, n)}, newKernel(c)
	var scratch []float32
	var to int
	for from := 0; from < n; from = to {
		rest := n - from
		to = min(n, from+max(1, blockEntries/rest))
		s := features.Products(&scratch, features.Part(z, from, to-from), features.Part(z, from, n-from))
		for i := from; i < to; i++ {
			mates := g.members[g.class[i]][g.place[i]+1:]
			addSamplePairs(k, sums, i, i+1, features.Row(s, i-from)[i+1-from:], mates)
		}
	}
	sums.finishLosses(c)
	return sums
}

// sampleLosses approximates the losses of many samples. Each block of samples is compared with c.References randomly
// drawn rows, without a sample's own class, and the sum is scaled to all samples of other classes. Members of the same
// class are all compared, unless the class has more members than c.References. Time O(N·References·d + Σ N_c²·d). A
// class so large that the references contain no other class gets ξ⁻ = 0.
func sampleLosses(c Config, z blas32.General, g grouping, rng *rand.Rand) Losses {
	sums := Losses{make([]float64, z.Rows), make([]float64, z.Rows)}
	s := newSampler(c, z, g)
	s.estimateOthers(sums.Neg, rng)
	s.estimateMates(sums.Pos, rng)
	sums.finishLosses(c)
	return sums
}

// sampler is the state shared by estimateOthers and estimateMates.
type sampler struct {
	kernel
	grouping
	z             blas32.General
	width, height int // number of references, and of samples per block
	products      []float32
	refs, anchors blas32.General
	chosen        []int
	unused        []float64 // scratch for the sums that are not used
}

func newSampler(c Config, z blas32.General, g grouping) *sampler {
	width := min(c.References, z.Rows)
	height := min(z.Rows, max(1, blockEntries/width))
	return &sampler{
		kernel: newKernel(c), grouping: g, z: z, width: width, height: height,
		products: make([]float32, height*width), unused: make([]float64, width),
		refs: features.NewMatrix(width, z.Cols), anchors: features.NewMatrix(height, z.Cols),
	}
}

// estimateOthers estimates Σ e^{β(s-ρ)} over the samples of other classes. The references are sorted by class, so that
// a sample's own class is a single range to leave out.
func (s *sampler) estimateOthers(sums []float64, rng *rand.Rand) {
	n := s.z.Rows
	order, begin := s.classOrder()
	for from := 0; from < n; from += s.height {
		block := features.Part(s.z, from, min(s.height, n-from))
		places := drawDistinct(nil, n, s.width, rng)
		s.chosen = s.chosen[:0]
		for _, place := range places {
			s.chosen = append(s.chosen, order[place])
		}
		sims := features.Products(&s.products, block, gatherRows(s.refs, s.z, s.chosen))
		for a := range block.Rows {
			own := s.class[from+a]
			first, _ := slices.BinarySearch(places, begin[own])
			last, _ := slices.BinarySearch(places, begin[own+1])
			row := features.Row(sims, a)
			sum := addExponentials(
				s.apart,
				s.powers,
				s.unused,
				row[:first],
			) + addExponentials(
				s.apart,
				s.powers,
				s.unused,
				row[last:],
			)
			sums[from+a] = scaleSum(sum, n-len(s.members[own]), len(row)-(last-first))
		}
	}
}

// estimateMates estimates Σ e^{-α(s-ρ)} over the other members of the same class.
func (s *sampler) estimateMates(sums []float64, rng *rand.Rand) {
	for _, members := range s.members {
		s.chosen = drawDistinct(s.chosen[:0], len(members), s.width, rng)
		for j, place := range s.chosen {
			s.chosen[j] = members[place]
		}
		refs := gatherRows(s.refs, s.z, s.chosen)
		for from := 0; from < len(members); from += s.height {
			part := members[from:min(len(members), from+s.height)]
			sims := features.Products(&s.products, gatherRows(s.anchors, s.z, part), refs)
			for a, i := range part {
				row, count := features.Row(sims, a), len(s.chosen)
				at, itself := slices.BinarySearch(s.chosen, i)
				sum := addExponentials(s.alike, s.powers, s.unused, row[:at])
				if itself {
					at, count = at+1, count-1
				}
				sum += addExponentials(s.alike, s.powers, s.unused, row[at:])
				sums[i] = scaleSum(sum, len(members)-1, count)
			}
		}
	}
}

// scaleSum scales a sum of count terms to the full number of terms.
func scaleSum(sum float64, all, count int) float64 {
	return sum * float64(all) / float64(max(1, count))
}

// gatherRows copies the chosen rows of z to the start of dst.
func gatherRows(dst, z blas32.General, chosen []int) blas32.General {
	dst.Rows = len(chosen)
	for to, from := range chosen {
		copy(features.Row(dst, to), features.Row(z, from))
	}
	return dst
}
