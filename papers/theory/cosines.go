package theory

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Bins is the number of bins over -1 … 1 in which distributions are drawn and compared.
const Bins = 100

// blockBytes is the largest size of the similarities in memory.
const blockBytes = 32 << 20

// Cosines are the distributions of the cosines of all pairs of some rows under one labelling.
type Cosines struct {
	Kinds []Distribution // in the order of [Kinds]

	// Overlap is Σ_b min(p_b, q_b) of the shares in the bins of false and true positives: 1 for equal distributions,
	// 0 if no bin has both. OverlapNegatives is the same of false positives and true negatives.
	Overlap          float64
	OverlapNegatives float64
}

// Distribution is the distribution of the cosines of one kind; all is 0 without pairs.
type Distribution struct {
	Kind   Kind
	Pairs  int // unordered
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

// measureCosines compares all rows of x, n×d unit rows with n ≥ 2, with each other, once for all labellings.
// Similarities are computed in blocks of at most 32 MiB (a row, if that is more): O(n²d) time.
func measureCosines(ctx context.Context, x blas32.General, labellings ...Labels) ([]Cosines, error) {
	if x.Rows < 2 {
		return nil, fmt.Errorf("theory: found %d images, expected at least 2", x.Rows)
	}
	return measureBlocks(ctx, x, max(1, min(x.Rows, blockBytes/4/x.Rows)), labellings)
}

// measureBlocks is measureCosines with blocks of high rows.
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

// addPairs counts the pairs of row i with all later rows.
func (t *tally) addPairs(cosines []float32, i int, l Labels) {
	for j, s := range cosines {
		kind := l.Kind(i, i+1+j)
		t.of[kind][findBin(float64(s))]++
		t.sum[kind] += float64(s)
	}
}

func findBin(s float64) int { return max(0, min(Bins-1, int(math.Floor((s+1)*(Bins/2))))) }

// compareKinds returns the distributions and their comparisons.
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

// computeOverlap returns the overlap of two distributions; 0 if a kind has no pair.
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
