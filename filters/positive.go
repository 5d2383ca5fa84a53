package filters

import "winnow/features"

// BatchPositive scores a row by its mean similarity to the other rows of its batch with the same label.
//
//	score = 1/(K-1) Σ_{j≠i, y_j=y_i} z_i·z_j, in [-1, 1]
//
// A row without another row of its label scores 1. The score uses neither the bank nor other classes. It is not a
// probability, so use a threshold by rank. The paper's sum includes j = i but divides by K-1; here, j = i is left out.
// Duplicates are left out, too: if an image occurs several times in the batch (a class has fewer than K images), as its
// ID shows, it is used once. Computed from class sums in O(n·d). Source: PRISM, eq. 20 (ablation).
type BatchPositive struct{}

// Score returns the mean similarity for each row of z; it does not use the bank.
func (b BatchPositive) Score(dst []float64, z features.Set, ref *features.Bank, own bool) []float64 {
	return replaceUnjudged(b.scoreMarked(dst, z, ref, own))
}

func (BatchPositive) scoreMarked(dst []float64, z features.Set, _ *features.Bank, _ bool) []float64 {
	dst = features.Grow(dst, z.Len())
	sums, counts, seen := map[int][]float64{}, map[int]int{}, map[int]bool{}
	for i, k := range z.Labels[:z.Len()] {
		if z.IDs != nil {
			if seen[z.IDs[i]] {
				continue // the same image again
			}
			seen[z.IDs[i]] = true
		}
		sum := sums[k]
		if sum == nil {
			sum = make([]float64, z.Dim())
			sums[k] = sum
		}
		for j, v := range z.Row(i) {
			sum[j] += float64(v)
		}
		counts[k]++
	}
	for i, k := range z.Labels[:z.Len()] {
		mean, others := withoutSelf(sums[k], counts[k], z.Row(i))
		if others == 0 {
			mean = Unjudged
		}
		dst[i] = mean
	}
	return dst
}

// MemoryPositive scores a row by its mean similarity to the members of its class in the bank.
//
//	score = 1/M_y Σ_{v in class y} z·v, in [-1, 1]
//
// A row whose class has no members scores 1. The score is not a probability, so use a threshold by rank. Time O(n·d).
// Source: PRISM, eq. 21 (ablation).
type MemoryPositive struct{}

// Score returns the mean similarity for each row of z.
func (m MemoryPositive) Score(dst []float64, z features.Set, ref *features.Bank, own bool) []float64 {
	return replaceUnjudged(m.scoreMarked(dst, z, ref, own))
}

func (MemoryPositive) scoreMarked(dst []float64, z features.Set, ref *features.Bank, own bool) []float64 {
	dst = features.Grow(dst, z.Len())
	for i, k := range z.Labels[:z.Len()] {
		members := ref.Count(k)
		var score float64
		if own {
			score, members = withoutSelf(ref.Sum(k), members, z.Row(i))
		} else if members > 0 {
			score, _ = dotProducts(ref.Sum(k), z.Row(i))
			score /= float64(members)
		}
		if members == 0 {
			score = Unjudged
		}
		dst[i] = score
	}
	return dst
}
