package losses

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// band holds columns of one anchor (its positives, or its negatives within a range of distances) sorted by distance,
// so that the columns between two distances are contiguous. It uses a bucket sort: O(r) for evenly spread distances,
// O(r log r) in the worst case.
type band struct {
	order   []int32 // the columns, nearest first; ties in column order
	delta   []float64
	members []int32 // the same columns in column order
	starts  []int32 // bucket k is order[starts[k]:starts[k+1]]; buckets have equal widths
	cursors []int32
	lowest  float64
	scale   float64 // buckets per unit of distance
}

// perBucket is the average number of columns in a bucket.
const perBucket = 4

// loadBand loads the negatives of an anchor with label y and low ≤ δ < high. delta holds the distances to all columns.
func (b *band) loadBand(delta []float64, cols []int, y int, low, high float64) {
	b.delta, b.members = delta, b.members[:0]
	lowest, highest := high, low
	delta = delta[:len(cols)]
	for j, c := range cols {
		if d := delta[j]; c != y && d >= low && d < high {
			b.members = append(b.members, int32(j))
			lowest, highest = min(lowest, d), max(highest, d)
		}
	}
	b.arrangeBand(lowest, highest)
}

// sortPositives loads P(i).
func (b *band) sortPositives(delta []float64, i int, p *pairs) {
	b.delta, b.members = delta, b.members[:0]
	lowest, highest := math.Inf(1), math.Inf(-1)
	y := p.rows[i]
	for j, c := range p.cols {
		if c == y && p.areApart(i, j) {
			b.members = append(b.members, int32(j))
			lowest, highest = min(lowest, delta[j]), max(highest, delta[j])
		}
	}
	b.arrangeBand(lowest, highest)
}

// arrangeBand sorts the members by distance. All distances must be between lowest and highest.
func (b *band) arrangeBand(lowest, highest float64) {
	buckets := len(b.members)/perBucket + 1
	b.lowest, b.scale = lowest, 0
	if highest > lowest {
		b.scale = float64(buckets) / (highest - lowest)
	}
	b.order = growSlice(b.order, len(b.members))
	b.starts, b.cursors = growSlice(b.starts, buckets+1), growSlice(b.cursors, buckets)
	b.fillBandBuckets()
	for k := range buckets {
		b.sortBucket(b.order[b.starts[k]:b.starts[k+1]])
	}
}

// bucketOf returns the bucket of distance d, which may be infinite. It never decreases as d grows.
func (b *band) bucketOf(d float64) int {
	last := len(b.starts) - 2
	k := (d - b.lowest) * b.scale
	if !(k > 0) {
		return 0
	}
	if k >= float64(last) {
		return last
	}
	return int(k)
}

// fillBandBuckets counts the members of each bucket, then distributes them.
func (b *band) fillBandBuckets() {
	clear(b.starts)
	for _, j := range b.members {
		b.starts[b.bucketOf(b.delta[j])+1]++
	}
	for k := range b.cursors {
		b.starts[k+1] += b.starts[k]
		b.cursors[k] = b.starts[k]
	}
	for _, j := range b.members {
		k := b.bucketOf(b.delta[j])
		b.order[b.cursors[k]] = j
		b.cursors[k]++
	}
}

func (b *band) sortBucket(part []int32) {
	if len(part) > 8*perBucket {
		slices.SortFunc(part, func(i, j int32) int {
			return cmp.Or(cmp.Compare(b.delta[i], b.delta[j]), cmp.Compare(i, j))
		})
		return
	}
	for i := 1; i < len(part); i++ {
		j, d := part[i], b.delta[part[i]]
		k := i
		for ; k > 0 && b.delta[part[k-1]] > d; k-- {
			part[k] = part[k-1]
		}
		part[k] = j
	}
}

// bandRange returns the range of order with low ≤ δ < high. Both bounds must be within the sorted range.
func (b *band) bandRange(low, high float64) (from, to int) {
	return b.countBelow(low), b.countBelow(high)
}

// countBelow returns the number of members at a distance below d.
func (b *band) countBelow(d float64) int {
	k := b.bucketOf(d)
	first, part := int(b.starts[k]), b.order[b.starts[k]:b.starts[k+1]]
	return first + sort.Search(len(part), func(i int) bool { return b.delta[part[i]] >= d })
}
