package eval

import "slices"

// ranker is one goroutine's scratch space.
type ranker struct {
	order  order
	sorted []int32   // positives, best first
	sims   []float32 // their similarities
	before []int     // number of negatives between positive j-1 and positive j
	out    []int
}

// positiveRanks returns the ranks (0 = nearest) of one query's positives that are among the first window rows,
// ascending, and the number n of all positives. r.order holds the query, and own holds the rows to leave out. window is
// at least the number of positives.
//
// Only the positives are sorted. The bar is the similarity of the last positive that may still be within the window.
// Each negative above the bar moves later positives back by one; once a positive leaves the window, the bar rises to
// the previous positive. So nearly all rows are only compared with the bar, in float32, and reading stops when all
// positives have left the window. Time O(n + R·window·log R) for R positives, usually much less.
func (r *ranker) positiveRanks(
	positives []int32,
	labels []int,
	label int,
	own []int,
	window int,
) (places []int, n int) {
	r.sortRanked(positives, own)
	s, slack := r.order.s, r.order.slack
	n = len(r.sorted)
	r.before = append(r.before[:0], make([]int, n)...)
	left, ahead := n, 0 // positives within the window; negatives before the last such positive
	for j := 0; left > 0; j++ {
		bar := r.sims[left-1] - slack
		if j += atLeast(s[j:], bar); j == len(s) {
			break
		}
		if labels[j] == label || slices.Contains(own, j) {
			continue
		}
		at := r.firstBeaten(s[j], j, left)
		if at == left {
			continue // close to the last positive, but ranked after it
		}
		r.before[at]++
		for ahead++; left > 0 && left-1+ahead >= window; {
			left--
			ahead -= r.before[left]
		}
	}
	r.out = r.out[:0]
	down := 0
	for k := range left {
		down += r.before[k]
		r.out = append(r.out, k+down)
	}
	return r.out, n
}

// sortRanked sorts the positives other than own, best first.
func (r *ranker) sortRanked(positives []int32, own []int) {
	r.sorted, r.sims = r.sorted[:0], r.sims[:0]
	for _, j := range positives {
		if !slices.Contains(own, int(j)) {
			r.sorted = append(r.sorted, j)
		}
	}
	slices.SortFunc(r.sorted, func(a, b int32) int { return r.order.compareRanked(int(a), int(b)) })
	for _, j := range r.sorted {
		r.sims = append(r.sims, r.order.s[j])
	}
}

// firstBeaten returns the first of the left best positives that row j, with similarity v, precedes; that positive and
// all later ones move down by one. It returns left if there is none.
func (r *ranker) firstBeaten(v float32, j, left int) int {
	slack := r.order.slack
	at, end := 0, left
	for at < end {
		middle := (at + end) / 2
		if d := v - r.sims[middle]; d > slack || d >= -slack && r.order.compareExactly(j, int(r.sorted[middle])) < 0 {
			end = middle
		} else {
			at = middle + 1
		}
	}
	return at
}

// atLeast returns the first index at which s is not below bar, or len(s) if there is none. It compares eight values at
// a time, with rarely taken branches, and runs at about memory speed.
func atLeast(s []float32, bar float32) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		b := (*[8]float32)(s[i:])
		if b[0] >= bar || b[1] >= bar || b[2] >= bar || b[3] >= bar ||
			b[4] >= bar || b[5] >= bar || b[6] >= bar || b[7] >= bar {
			break
		}
	}
	for ; i < len(s); i++ {
		if s[i] >= bar {
			return i
		}
	}
	return i
}
