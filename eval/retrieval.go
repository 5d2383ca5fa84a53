// Package eval computes metrics of retrieval, clusters, classifiers on embeddings, and the detection of label errors.
// [Catalog] lists the metrics. It modifies no input, and only this package compares given labels with true labels.
package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Bytes is an amount of memory. As a limit of the similarities held in memory at once, 0 means [DefaultMaxMem].
type Bytes int64

// DefaultMaxMem is the default limit of the similarities held in memory at once, in bytes.
const DefaultMaxMem = 1 << 30

// RetrievalOptions set what to measure; the zero value means K = 1, 2, 4, 8, 16, 32 and DefaultMaxMem.
type RetrievalOptions struct {
	K      []int
	MaxMem Bytes
	// CountLonely counts a query without any positive in the gallery as a miss. Otherwise such a query is left out, as
	// in pytorch-metric-learning.
	CountLonely bool
	// Queries, if above 0 and below the number of queries, is the size of a random sample of the queries, drawn by
	// Seed. The gallery stays whole, so the numbers are estimates with a standard error of √(p(1-p)/Queries).
	Queries int
	Seed    uint64
	Same    Same // gallery images to leave out for each query
}

// Same maps a query's ID to the IDs of the gallery rows that show the same image. These rows are left out for that
// query, as the query itself is left out if the queries are the gallery.
type Same map[int][]int

// leaveOut returns a function that lists the gallery rows to leave out for the i-th query. at(i) is that query's row.
func (s Same) leaveOut(query features.Set, gallery *features.Set, at func(int) int) func(i int) []int {
	if gallery == nil {
		return func(i int) []int { return []int{at(i)} }
	}
	if len(s) == 0 {
		return func(int) []int { return nil }
	}
	row := make(map[int]int, gallery.Len())
	for j, id := range gallery.IDs {
		row[id] = j
	}
	return func(i int) (rows []int) {
		for _, id := range s[query.IDs[i]] {
			if j, ok := row[id]; ok {
				rows = append(rows, j)
			}
		}
		return rows
	}
}

// Retrieval measures how often neighbours share a label. Definitions (METHODS: Musgrave et al., "A Metric Learning
// Reality Check", 2020), for a query with R positives in the gallery, ranked by cosine, ties by lower index:
//
//	Recall@K     1 if one of the first K is a positive
//	P@1          Recall@1
//	R-Precision  positives among the first R, divided by R
//	MAP@R        1/R Σ_{k ≤ R} rel_k · (positives among the first k)/k
//
// each averaged over the queries.
type Retrieval struct {
	N            int             `json:"n"` // number of queries with a result
	Recall       map[int]float64 `json:"recall"`
	PrecisionAt1 float64         `json:"precision_at_1"`
	RPrecision   float64         `json:"r_precision"`
	MAPAtR       float64         `json:"map_at_r"`
	Lonely       int             `json:"queries_without_positive"`
	// DrawnFrom is the number of all queries; 0 if all were used.
	DrawnFrom int `json:"queries_drawn_from,omitempty"`
	// Hits reports for each of the N queries, in order, whether the nearest row is a positive.
	Hits []bool `json:"-"`
	// Precisions holds the average precision at R of each of the N queries; MAPAtR is their mean.
	Precisions []float64 `json:"-"`
}

// Retrieve ranks the gallery for every query. Rows are unit vectors. If gallery is nil, the queries are compared with
// each other, and each query is left out of its own ranking. Unlabelled queries are ignored. Time O(q·n·d), through
// blas32 in blocks of at most MaxMem bytes: the n×n matrix is never stored.
func Retrieve(
	ctx context.Context, query features.Set, gallery *features.Set, opts RetrievalOptions,
) (Retrieval, error) {
	found, err := askQueries(ctx, query, gallery, opts)
	return found.sumAnswers(opts), err
}

// answers holds the results of the queries.
type answers struct {
	from   int       // number of queries before sampling
	labels []int     // label of each query
	rank   []int     // rank of the first positive, or a rank beyond every K; -1: no positive
	rp, ap []float64 // R-Precision and average precision at R
}

// recallDepths returns the values K of Recall@K.
func (o RetrievalOptions) recallDepths() []int {
	if len(o.K) == 0 {
		return []int{1, 2, 4, 8, 16, 32}
	}
	return o.K
}

func askQueries(
	ctx context.Context, query features.Set, gallery *features.Set, opts RetrievalOptions,
) (answers, error) {
	from, among := query.Len(), gallery
	if gallery == nil {
		whole := query
		gallery = &whole
	}
	query, at := opts.sampleQueries(query)
	leaveOut := opts.Same.leaveOut(query, among, at)
	positives := make(map[int][]int32) // label → gallery rows, ascending
	for j, label := range gallery.Labels {
		positives[label] = append(positives[label], int32(j))
	}
	deepest := slices.Max(opts.recallDepths())
	out := answers{from, query.Labels, make([]int, query.Len()), make([]float64, query.Len()),
		make([]float64, query.Len())}
	err := eachRow(ctx, query.X, gallery.X, opts.MaxMem, func(i int, s []float32, scratch *ranker) {
		out.rank[i] = -1
		if query.Labels[i] == features.Unlabelled {
			return
		}
		window := max(deepest, len(positives[query.Labels[i]]))
		scratch.order.setQuery(s, query.Row(i), gallery.X)
		ranks, n := scratch.positiveRanks(positives[query.Labels[i]], gallery.Labels, query.Labels[i],
			leaveOut(i), window)
		if n == 0 {
			return
		}
		out.rank[i] = window
		if len(ranks) > 0 {
			out.rank[i] = ranks[0]
		}
		for j, rank := range ranks {
			if rank < n {
				out.rp[i]++
				out.ap[i] += float64(j+1) / float64(rank+1)
			}
		}
		out.rp[i] /= float64(n)
		out.ap[i] /= float64(n)
	})
	return out, err
}

// sampleQueries returns the queries to use; at maps the index of each of them to its original index.
func (o RetrievalOptions) sampleQueries(query features.Set) (asking features.Set, at func(int) int) {
	if o.Queries <= 0 || o.Queries >= query.Len() {
		return query, func(i int) int { return i }
	}
	rows := rand.New(rand.NewPCG(o.Seed, 0x71756572)).Perm(query.Len())[:o.Queries] // "quer"
	slices.Sort(rows)
	return query.Rows(rows), func(i int) int { return rows[i] }
}

// sumAnswers returns the means over the queries that have a result.
func (a answers) sumAnswers(opts RetrievalOptions) Retrieval {
	r := Retrieval{Recall: make(map[int]float64)}
	for _, k := range opts.recallDepths() { // a repeated K is used once
		r.Recall[k] = 0
	}
	if len(a.labels) < a.from {
		r.DrawnFrom = a.from
	}
	for i, rank := range a.rank {
		if a.labels[i] == features.Unlabelled {
			continue
		}
		if rank < 0 {
			r.Lonely++
			if !opts.CountLonely {
				continue
			}
		}
		r.N++
		r.Hits, r.Precisions = append(r.Hits, rank == 0), append(r.Precisions, a.ap[i])
		r.RPrecision += a.rp[i]
		r.MAPAtR += a.ap[i]
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

// eachRow calls visit with every row of the similarities q·gᵀ, on all cores, a block of queries at a time.
func eachRow(
	ctx context.Context, q, g blas32.General, maxMem Bytes, visit func(i int, s []float32, scratch *ranker),
) error {
	if q.Rows == 0 || g.Rows == 0 {
		return fmt.Errorf("eval: %d queries against a gallery of %d, expected at least one of each", q.Rows, g.Rows)
	}
	if q.Cols != g.Cols {
		return fmt.Errorf("eval: queries have dimension %d, the gallery %d", q.Cols, g.Cols)
	}
	block, err := blockRows(q.Rows, g.Rows, maxMem)
	if err != nil {
		return err
	}
	workers := runtime.GOMAXPROCS(0)
	scratch := make([]ranker, workers)
	var products []float32
	for from := 0; from < q.Rows; from += block {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(block, q.Rows-from)
		s := features.Products(&products, features.Part(q, from, n), g)
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

// blockRows returns how many queries are compared with the gallery at once.
func blockRows(queries, gallery int, maxMem Bytes) (int, error) {
	if maxMem <= 0 {
		maxMem = DefaultMaxMem
	}
	block := int(min(maxMem/(4*Bytes(gallery)), Bytes(queries), 2048))
	if block < 1 {
		return 0, fmt.Errorf("eval: one query against a gallery of %d needs %d bytes, but --max-mem is %d", gallery,
			4*gallery, maxMem)
	}
	return block, nil
}
