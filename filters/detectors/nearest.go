package detectors

import (
	"cmp"
	"context"
	"math"
	"slices"

	"winnow/features"
	"winnow/internal/spread"
)

// Size of a block of similarities: 4 MiB of float32.
const (
	blockRows = 256
	blockCols = 4096
)

// neighbours holds the K nearest other rows of each row, by cosine.
type neighbours struct {
	K    int
	rows []int32 // n×K; each group of K is rising
}

// neighboursOf returns a view of the neighbours of row i, in rising order of row number.
func (n *neighbours) neighboursOf(i int) []int32 { return n.rows[i*n.K : (i+1)*n.K : (i+1)*n.K] }

// findNeighbours finds the k nearest other rows of each of n unit rows, or all other rows if there are fewer than k.
// Of equally near rows it takes those with lower numbers. Similarities are computed a block at a time and
// discarded, so memory is O(n·k). Time O(n²·d) for products, and one comparison for each of n² pairs. If ctx is
// cancelled it returns the error of ctx.
func findNeighbours(ctx context.Context, z features.Set, k int) (*neighbours, error) {
	n := z.Len()
	k = min(k, n-1)
	out := &neighbours{K: k, rows: make([]int32, n*k)}
	var scratch []float32
	lists := make([]shortlist, min(blockRows, n))
	for i := range lists {
		lists[i].k, lists[i].slack = k, 2*productError(z.Dim())
	}
	for from := 0; from < n; from += blockRows {
		height := min(blockRows, n-from)
		for i := range height {
			lists[i].resetShortlist(from + i)
		}
		for left := 0; left < n; left += blockCols {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			s := features.Products(&scratch, features.Part(z.X, from, height),
				features.Part(z.X, left, min(blockCols, n-left)))
			for i := range height {
				lists[i].offerBlock(features.Row(s, i), left)
			}
		}
		for i := range height {
			lists[i].decideNearest(out.neighboursOf(from+i), z)
		}
	}
	return out, nil
}

// shortlist collects the rows that may be among the k nearest of one row: those whose float32 similarity is no
// more than slack below the k-th of the rows seen so far.
type shortlist struct {
	k     int
	slack float64 // twice the precision of a product: the k-th value and the row's own may both be off by one
	self  int
	bar   float32
	sims  []float32
	list  []int32
	copy  []float32
}

func (l *shortlist) resetShortlist(self int) {
	l.self, l.bar = self, float32(math.Inf(-1))
	l.sims, l.list = l.sims[:0], l.list[:0]
	if l.sims == nil {
		l.sims, l.list = make([]float32, 0, 2*l.k+64), make([]int32, 0, 2*l.k+64)
	}
}

// offerBlock considers the similarities to the rows from left on.
func (l *shortlist) offerBlock(sims []float32, left int) {
	for j, s := range sims {
		if s < l.bar || left+j == l.self {
			continue
		}
		if len(l.sims) == cap(l.sims) {
			l.raiseBar()
			if 4*len(l.sims) > 3*cap(l.sims) { // many are as near as the k-th: make room
				l.sims, l.list = slices.Grow(l.sims, cap(l.sims)), slices.Grow(l.list, cap(l.list))
			}
			if s < l.bar {
				continue
			}
		}
		l.sims, l.list = append(l.sims, s), append(l.list, int32(left+j))
	}
}

// raiseBar raises the bar to slack below the k-th value, drops everything under it, and returns the k-th value.
func (l *shortlist) raiseBar() float64 {
	l.copy = append(l.copy[:0], l.sims...)
	kth := float64(spread.KthLargest(l.copy, l.k))
	l.bar = float32(kth - l.slack)
	if float64(l.bar) > kth-l.slack {
		l.bar = math.Nextafter32(l.bar, float32(math.Inf(-1)))
	}
	kept := 0
	for i, s := range l.sims {
		if s >= l.bar {
			l.sims[kept], l.list[kept] = s, l.list[i]
			kept++
		}
	}
	l.sims, l.list = l.sims[:kept], l.list[:kept]
	return kth
}

// decideNearest writes the k nearest rows. Rows ahead of the k-th by more than slack are in; the others are decided in
// float64.
func (l *shortlist) decideNearest(dst []int32, z features.Set) {
	if len(dst) == 0 {
		return
	}
	kth := l.raiseBar()
	type close struct {
		s   float64
		row int32
	}
	in := dst[:0]
	var rest []close
	for i, s := range l.sims {
		if float64(s) > kth+l.slack {
			in = append(in, l.list[i])
		} else {
			rest = append(rest, close{features.Dot(z.Row(l.self), z.Row(int(l.list[i]))), l.list[i]})
		}
	}
	slices.SortFunc(rest, func(a, b close) int { return cmp.Or(cmp.Compare(b.s, a.s), cmp.Compare(a.row, b.row)) })
	for _, c := range rest[:l.k-len(in)] {
		in = append(in, c.row)
	}
	slices.Sort(dst)
}
