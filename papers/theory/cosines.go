package theory

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Bins is the number of bins from -1 to 1 with which distributions are drawn and compared.
const Bins = 100

// blockBytes is the largest memory for similarities.
const blockBytes = 32 << 20

// Cosines holds the distributions of the cosines of all pairs of rows under one labelling.
type Cosines struct {
	Kinds []Distribution // in the order of [Kinds]

	// Overlap is Σ_b min(p_b, q_b), where p and q are the shares of false and of true positives in the bins: 1 for
	// equal distributions, 0 if no bin has both. OverlapNegatives is the overlap of false positives and true negatives.
	Overlap          float64
	OverlapNegatives float64
}

// Distribution is the distribution of the cosines of one kind of pairs. Without pairs all its numbers are 0.
type Distribution struct {
	Kind   Kind
	Pairs  int // number of unordered pairs
	Mean   float64
	Counts []int // counts of [Bins] equal bins over -1 … 1
}

// computePairShares returns the counts as shares of all pairs of the kind.
func (d Distribution) computePairShares() []float64 {
	shares := make([]float64, len(d.Counts))
	for b, n := range d.Counts {
		shares[b] = float64(n) / float64(max(d.Pairs, 1))
	}
	return shares
}

// tally counts the cosines of one labelling.
type tally struct {
	of  [kinds][Bins]int
	sum [kinds]float64
}

// measureCosines computes the cosines of all pairs of rows of x once and counts them for each labelling. x has n ≥ 2
// unit rows. Similarities are computed in blocks of at most 32 MiB (or one row, if a row needs more). Time O(n²d).
func measureCosines(ctx context.Context, x blas32.General, labellings ...Labels) ([]Cosines, error) {
	if x.Rows < 2 {
		return nil, fmt.Errorf("theory: found %d images, expected at least 2", x.Rows)
	}
	return measureBlocks(ctx, x, max(1, min(x.Rows, blockBytes/4/x.Rows)), labellings)
}

// measureBlocks does the work of measureCosines with blocks of high rows.
func measureBlocks(ctx context.Context, x blas32.General, high int, labellings []Labels) ([]Cosines, error) {
	n := x.Rows
	tallies := make([]tally, len(labellings))
	s := features.NewMatrix(high, n)
	for from := 0; from < n; from += high {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		block := blas32.General{Rows: min(high, n-from), Cols: n - from, Stride: n - from, Data: s.Data}
		blas32.Gemm(blas.NoTrans, blas.Trans, 1, features.Part(x, from, block.Rows), features.Part(x, from, n-from),
			0, block)
		for i := range block.Rows {
			row := features.Row(block, i)
			for k := range tallies {
				tallies[k].addPairs(row[i+1:], from+i, labellings[k])
			}
		}
	}
	out := make([]Cosines, len(tallies))
	for k := range tallies {
		out[k] = tallies[k].compareKinds()
	}
	return out, nil
}

// addPairs counts the pairs of row i with all rows after it.
func (t *tally) addPairs(cosines []float32, i int, l Labels) {
	for j, s := range cosines {
		kind := l.Kind(i, i+1+j)
		t.of[kind][findBin(float64(s))]++
		t.sum[kind] += float64(s)
	}
}

func findBin(s float64) int { return max(0, min(Bins-1, int(math.Floor((s+1)*(Bins/2))))) }

// compareKinds returns the distributions and their overlaps.
func (t *tally) compareKinds() Cosines {
	var c Cosines
	for _, kind := range Kinds() {
		c.Kinds = append(c.Kinds, t.newDistribution(kind))
	}
	c.Overlap = computeOverlap(c.Kinds[FalsePositive], c.Kinds[TruePositive])
	c.OverlapNegatives = computeOverlap(c.Kinds[FalsePositive], c.Kinds[TrueNegative])
	return c
}

func (t *tally) newDistribution(kind Kind) Distribution {
	d := Distribution{Kind: kind, Counts: t.of[kind][:]}
	for _, n := range d.Counts {
		d.Pairs += n
	}
	d.Mean = t.sum[kind] / float64(max(d.Pairs, 1))
	return d
}

// computeOverlap returns the overlap of two distributions, or 0 if one of them has no pair.
func computeOverlap(a, b Distribution) (sum float64) {
	if a.Pairs == 0 || b.Pairs == 0 {
		return 0
	}
	other := b.computePairShares()
	for i, share := range a.computePairShares() {
		sum += math.Min(share, other[i])
	}
	return sum
}
