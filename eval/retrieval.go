// Package eval measures: retrieval, clusters, classifiers on embeddings, detection of wrong labels, audits, reports.
// [Catalog] lists the metrics. It changes nothing, and it is the room where given and true labels meet.
package eval

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// DefaultMaxMem bounds the similarities held at once, in bytes.
const DefaultMaxMem = 1 << 30

// RetrievalOptions say what to measure; the zero value takes K = 1, 2, 4, 8, 16, 32 and DefaultMaxMem.
type RetrievalOptions struct {
	K      []int
	MaxMem int64
	// CountLonely counts a query without any positive in the gallery as a miss; otherwise it is left out,
	// as pytorch-metric-learning does.
	CountLonely bool
}

// Retrieval is how well neighbours share a label. Definitions (METHODS: Musgrave et al., "A Metric Learning
// Reality Check", 2020), for a query with R positives in the gallery, ranked by cosine, ties by lower index:
//
//	Recall@K     1 if one of the first K is a positive
//	P@1          Recall@1
//	R-Precision  positives among the first R, divided by R
//	MAP@R        1/R Σ_{k ≤ R} rel_k · (positives among the first k)/k
//
// each averaged over the queries.
type Retrieval struct {
	N            int             `json:"n"` // queries that count
	Recall       map[int]float64 `json:"recall"`
	PrecisionAt1 float64         `json:"precision_at_1"`
	RPrecision   float64         `json:"r_precision"`
	MAPAtR       float64         `json:"map_at_r"`
	Lonely       int             `json:"queries_without_positive"`
}

// Retrieve ranks gallery for every query. Rows are unit vectors; a nil gallery is the queries themselves,
// each left out of its own ranking. Unlabelled queries are left out. Time O(q·n·d), through blas32 in blocks
// of at most MaxMem bytes: an n×n matrix is never held.
func Retrieve(ctx context.Context, query features.Set, gallery *features.Set, opts RetrievalOptions) (Retrieval, error) {
	if len(opts.K) == 0 {
		opts.K = []int{1, 2, 4, 8, 16, 32}
	}
	self := gallery == nil
	if self {
		gallery = &query
	}
	positives := make(map[int][]int32) // label → gallery rows, rising
	for j, label := range gallery.Labels {
		positives[label] = append(positives[label], int32(j))
	}
	first := make([]int, query.Len()) // rank of the first positive, -1: none
	rp, ap := make([]float64, query.Len()), make([]float64, query.Len())
	err := eachRow(ctx, query.X, gallery.X, opts.MaxMem, func(i int, s []float32, scratch *ranker) {
		first[i] = -1
		own := -1
		if self {
			own = i
		}
		if query.Labels[i] == features.Unlabelled {
			return
		}
		scratch.order.next(s, query.Row(i), gallery.X)
		ranks := scratch.ranks(positives[query.Labels[i]], gallery.Labels, query.Labels[i], own)
		if len(ranks) == 0 {
			return
		}
		first[i] = ranks[0]
		for j, rank := range ranks {
			if rank < len(ranks) {
				rp[i]++
				ap[i] += float64(j+1) / float64(rank+1)
			}
		}
		rp[i] /= float64(len(ranks))
		ap[i] /= float64(len(ranks))
	})
	if err != nil {
		return Retrieval{}, err
	}
	return summarise(query.Labels, first, rp, ap, opts), nil
}

func summarise(labels, first []int, rp, ap []float64, opts RetrievalOptions) Retrieval {
	r := Retrieval{Recall: make(map[int]float64)}
	for _, k := range opts.K { // each once, however often it is given
		r.Recall[k] = 0
	}
	for i, rank := range first {
		if labels[i] == features.Unlabelled {
			continue
		}
		if rank < 0 {
			r.Lonely++
			if !opts.CountLonely {
				continue
			}
		}
		r.N++
		r.RPrecision += rp[i]
		r.MAPAtR += ap[i]
		if rank == 0 {
			r.PrecisionAt1++
		}
		for k := range r.Recall {
			if rank >= 0 && rank < k {
				r.Recall[k]++
			}
		}
	}
	n := float64(max(r.N, 1))
	for k := range r.Recall {
		r.Recall[k] /= n
	}
	r.PrecisionAt1 /= n
	r.RPrecision /= n
	r.MAPAtR /= n
	return r
}

// ranker is one goroutine's scratch space.
type ranker struct {
	order  order
	sorted []int32   // positives, best first
	sims   []float32 // theirs
	before []int     // negatives that come between positive j-1 and positive j
	out    []int
}

// ranks returns the places (0 = nearest) of the positives of the order's query, rising; own is the row to leave
// out (or -1). Only the positives are sorted; a negative is looked up among them if it beats the worst.
func (r *ranker) ranks(positives []int32, labels []int, label, own int) []int {
	r.sorted = r.sorted[:0]
	for _, j := range positives {
		if int(j) != own {
			r.sorted = append(r.sorted, j)
		}
	}
	n := len(r.sorted)
	if n == 0 {
		return nil
	}
	slices.SortFunc(r.sorted, func(a, b int32) int { return r.order.compare(int(a), int(b)) })
	r.before = append(r.before[:0], make([]int, n)...)
	r.sims = r.sims[:0]
	for _, j := range r.sorted {
		r.sims = append(r.sims, r.order.s[j])
	}
	slack := r.order.slack
	least := r.sims[n-1] - slack
	for j, v := range r.order.s {
		if v < least || labels[j] == label || j == own {
			continue
		}
		// The first positive that does not beat j: it and all after it move down by one.
		at, end := 0, n
		for at < end {
			middle := (at + end) / 2
			if d := v - r.sims[middle]; d > slack || d >= -slack && r.order.closer(j, int(r.sorted[middle])) < 0 {
				end = middle
			} else {
				at = middle + 1
			}
		}
		if at < n {
			r.before[at]++
		}
	}
	r.out = r.out[:0]
	down := 0
	for k := range r.sorted {
		down += r.before[k]
		r.out = append(r.out, k+down)
	}
	return r.out
}

// eachRow calls visit with every row of the similarities q·gᵀ, on all cores, a block of queries at a time.
func eachRow(ctx context.Context, q, g blas32.General, maxMem int64, visit func(i int, s []float32, scratch *ranker)) error {
	if q.Rows == 0 || g.Rows == 0 {
		return fmt.Errorf("eval: %d queries against a gallery of %d, expected at least one of each", q.Rows, g.Rows)
	}
	if q.Cols != g.Cols {
		return fmt.Errorf("eval: queries have dimension %d, the gallery %d", q.Cols, g.Cols)
	}
	if maxMem <= 0 {
		maxMem = DefaultMaxMem
	}
	block := int(min(maxMem/(4*int64(g.Rows)), int64(q.Rows), 2048))
	if block < 1 {
		return fmt.Errorf("eval: one query against a gallery of %d needs %d bytes, --max-mem allows %d", g.Rows, 4*g.Rows, maxMem)
	}
	workers := runtime.GOMAXPROCS(0)
	scratch := make([]ranker, workers)
	s := features.NewMatrix(block, g.Rows)
	for from := 0; from < q.Rows; from += block {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(block, q.Rows-from)
		part := blas32.General{Rows: n, Cols: q.Cols, Stride: q.Stride, Data: q.Data[from*q.Stride:]}
		s.Rows = n
		blas32.Gemm(blas.NoTrans, blas.Trans, 1, part, g, 0, s)
		var group errgroup.Group
		for w := range workers {
			group.Go(func() error {
				for i := w; i < n; i += workers {
					visit(from+i, features.Row(s, i), &scratch[w])
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}
