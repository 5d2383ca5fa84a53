package filters

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// blockEntries limits the size of the similarity matrix in a scorer to 4 MiB of float32. An audit of a whole training
// set with ten thousand classes then needs no n×C matrix.
const blockEntries = 1 << 20

// eachSimBlock calls do with S = z[from:to]·refᵀ for consecutive ranges of rows. S is stored in scratch, which grows
// to the size of one block.
func eachSimBlock(scratch *[]float32, z, ref blas32.General, do func(from, to int, s blas32.General)) {
	step := max(1, blockEntries/max(1, ref.Rows))
	for from := 0; from < z.Rows; from += step {
		to := min(z.Rows, from+step)
		do(from, to, features.Products(scratch, features.Part(z, from, to-from), ref))
	}
}

// logOdds returns log(P/(1-P)) of class y under the softmax of l, restricted to the listed classes:
//
//	l_y - log Σ_{k≠y} e^{l_k}
//
// It shifts by the largest rival to avoid overflow, and returns +Inf if y has no rival.
func logOdds(l []float64, classes []int, y int) float64 {
	rival := math.Inf(-1)
	for _, k := range classes {
		if k != y && l[k] > rival {
			rival = l[k]
		}
	}
	if math.IsInf(rival, -1) {
		return math.Inf(1)
	}
	var sum float64
	for _, k := range classes {
		if d := l[k] - rival; k != y && d > negligible {
			sum += math.Exp(d)
		}
	}
	return l[y] - rival - math.Log(sum)
}

// negligible is the d below which e^d is negligible next to 1, even summed over a million classes.
const negligible = -45

// oddsToProbs turns log odds into P, in place.
func oddsToProbs(odds []float64) []float64 {
	for i, o := range odds {
		odds[i] = oddsToProb(o)
	}
	return odds
}

// replaceUnjudged replaces [Unjudged] by 1, in place.
func replaceUnjudged(marked []float64) []float64 {
	for i, s := range marked {
		if s == Unjudged {
			marked[i] = 1
		}
	}
	return marked
}

func oddsToProb(odds float64) float64 { return 1 / (1 + math.Exp(-odds)) }

// knownClasses appends the classes of the denominator to dst, ascending: those with members or, with every, all
// classes.
func knownClasses(dst []int, ref *features.Bank, every bool) []int {
	dst = dst[:0]
	for k := range ref.Classes() {
		if every || ref.Count(k) > 0 {
			dst = append(dst, k)
		}
	}
	return dst
}

// dotProducts returns sum·z and z·z in float64.
func dotProducts(sum []float64, z []float32) (sz, zz float64) {
	sum = sum[:len(z)]
	for j, v := range z {
		w := float64(v)
		sz += sum[j] * w
		zz += w * w
	}
	return sz, zz
}
