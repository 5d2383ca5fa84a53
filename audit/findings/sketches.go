package findings

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/eval"
	"winnow/features"
)

const (
	sketchBits = 256
	tables     = 96
	bucket     = 64      // mean number of rows in a bucket
	following  = 256     // most rows of a bucket whose sketches are compared with a row's
	mostChecks = 200     // most vectors that are compared with a row's
	deviations = 4       // most standard deviations above the expected number of differing bits for sketches that agree
	missed     = 1 / 20. // largest share of missed pairs (pairs without a common bucket) at the least cosine
)

// sketch holds one bit for each of several random planes through the origin: the side on which a vector lies. Two
// vectors at an angle θ lie on different sides of a random plane with probability θ/π.
type sketch [sketchBits / 64]uint64

func (s *sketch) countDifferingBits(t *sketch) (n int) {
	for w, v := range s {
		n += bits.OnesCount64(v ^ t[w])
	}
	return n
}

// isNear reports whether the sketches differ in at most alike bits.
func (s *sketch) isNear(t *sketch, alike int) bool {
	for w, v := range s {
		if alike -= bits.OnesCount64(v ^ t[w]); alike < 0 {
			return false
		}
	}
	return true
}

// findNearCopies finds near-duplicates without comparing all pairs. Each table puts rows into buckets by some bits of
// their sketches; the vectors of rows in a bucket are compared if their whole sketches agree. A pair with a cosine of
// exactly bound shares a bucket of some table with a probability of at least 1-missed, a nearer pair with a higher
// probability. Each row has a limited number of comparisons, so the time is O(n).
//
// Source: Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002; Indyk & Motwani, STOC 1998.
func findNearCopies(ctx context.Context, z features.Set, bound float64, list [][]eval.Neighbour) error {
	const block = 4096
	rng := rand.New(rand.NewPCG(uint64(z.Dim()), 3))
	planes, marks := planesOf(z.Dim(), rng), make([]sketch, z.Len())
	var scratch []float32
	for from := 0; from < z.Len(); from += block {
		if err := ctx.Err(); err != nil {
			return err
		}
		sketchRows(marks[from:], features.Part(z.X, from, min(block, z.Len()-from)), planes, &scratch)
	}
	return checkBucketPairs(ctx, marks, finderOf(len(marks), bound), rng, func(i, j int) bool {
		if v := features.Dot(z.Row(i), z.Row(j)); v >= bound {
			noteCopy(&list[i], eval.Neighbour{Row: j, Similarity: float32(v)})
			noteCopy(&list[j], eval.Neighbour{Row: i, Similarity: float32(v)})
		}
		return true
	})
}

// finder holds the parameters of the search for pairs of sketches.
type finder struct {
	bits, width int // bits of a sketch, and of a bucket's key
	tables      int
	alike       int // most differing bits of sketches that agree
	checks      int // most pairs checked for a row
}

// finderOf returns the parameters for finding pairs of n rows with a cosine of at least bound. Sketches agree if the
// number of differing bits is at most deviations standard deviations above its expectation.
func finderOf(n int, bound float64) finder {
	// probability that a bit differs between two rows whose cosine is bound
	apart := math.Acos(math.Max(-1, math.Min(bound, 1))) / math.Pi
	alike := int(sketchBits*apart + deviations*math.Sqrt(sketchBits*apart*(1-apart)))
	sharing := 1 - math.Pow(missed, 1./tables) // required probability of sharing a bucket in one table
	width := int(math.Min(math.Log2(float64(n)/bucket), math.Log(sharing)/math.Log1p(-math.Max(apart, 1e-3))))
	return finder{sketchBits, max(width, 1), tables, alike, mostChecks}
}

// checkBucketPairs calls check for pairs of rows that share a bucket and differ in at most alike bits, perhaps several
// times for a pair. check reports whether the pair adds to the row's number of checks.
func checkBucketPairs(ctx context.Context, marks []sketch, f finder, rng *rand.Rand, check func(i, j int) bool) error {
	t := table{order: make([]int32, len(marks)), key: make([]uint32, len(marks)), marks: make([]sketch, len(marks)),
		start: make([]int32, 1<<f.width+1)}
	checks := make([]int32, len(marks))
	for range f.tables {
		if err := ctx.Err(); err != nil {
			return err
		}
		t.fillBuckets(marks, rng.Perm(f.bits)[:f.width])
		for b, from := range t.start[:len(t.start)-1] {
			rows, sides := t.order[from:t.start[b+1]], t.marks[from:t.start[b+1]]
			for a, i := range rows {
				for c := a + 1; c < min(a+1+following, len(rows)) && int(checks[i]) < f.checks; c++ {
					if sides[a].isNear(&sides[c], f.alike) && check(int(i), int(rows[c])) {
						checks[i]++
					}
				}
			}
		}
	}
	return nil
}

// planesOf returns random planes for sketches, as normal vectors.
func planesOf(dim int, rng *rand.Rand) blas32.General {
	planes := features.NewMatrix(sketchBits, dim)
	for i := range planes.Data {
		planes.Data[i] = float32(rng.NormFloat64())
	}
	return planes
}

// sketchRows sets marks to the sketches of the rows of x.
func sketchRows(marks []sketch, x, planes blas32.General, scratch *[]float32) {
	sides := features.Products(scratch, x, planes)
	for i := range sides.Rows {
		for b, v := range features.Row(sides, i) {
			if v > 0 {
				marks[i][b/64] |= 1 << (b % 64)
			}
		}
	}
}

// table holds rows in buckets.
type table struct {
	order []int32  // rows, sorted by bucket
	marks []sketch // their sketches
	start []int32  // start of each bucket in order, and the end of the last
	key   []uint32 // bucket of each row
}

// fillBuckets puts rows into buckets by some bits of their sketches.
func (t *table) fillBuckets(marks []sketch, by []int) {
	clear(t.start)
	for i := range marks {
		var key uint32
		for _, b := range by {
			key = key<<1 | uint32(marks[i][b/64]>>(b%64)&1)
		}
		t.key[i] = key
		t.start[key+1]++
	}
	for b := 1; b < len(t.start); b++ {
		t.start[b] += t.start[b-1]
	}
	next := append([]int32(nil), t.start...)
	for i, key := range t.key {
		at := next[key]
		next[key]++
		t.order[at], t.marks[at] = int32(i), marks[i]
	}
}
