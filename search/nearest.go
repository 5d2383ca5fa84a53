package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/eval"
	"winnow/features"
)

// Vectors are unit rows that can be searched.
type Vectors interface {
	Len() int
	Width() int
	// Block returns n consecutive rows, the first with the index from. They are read-only and valid until the next
	// call. If absent is not nil, it marks rows that hold zeros and are never found.
	Block(from, n int) (x blas32.General, absent []bool, err error)
}

// Hit is a row and its cosine with the query.
type Hit struct {
	Row        int
	Similarity float64
}

// blockBytes is the size of a block: large enough for a fast product, small next to all vectors.
const blockBytes = 32 << 20

// blockRows is the largest number of rows in a block. Blocks of short vectors reach it before they reach blockBytes.
const blockRows = 1 << 16

// queriesAtOnce is the largest number of queries that are compared with a block at once, to bound the memory.
const queriesAtOnce = 256

// Nearest finds the k rows of v most similar to each query, best first, ties by lower row; fewer if v has fewer rows.
// The rows of queries must have length 1. If own is not nil, own[i] is the row of v that holds query i itself and is
// left out of the hits, or -1.
//
// Similarities are computed in float32, block by block. Candidates for the best k are then compared by their float64
// cosine, so that the result depends neither on the blocks nor on the order of a sum, and duplicates tie. Time O(n·d)
// per query, memory one block. Measured on 2 cores with gonum's product and vectors of 512 values in memory
// (BenchmarkNearest): 18 ms for one query and 0.18 s for 64 among 60 000 vectors; 0.22 s and 3.8 s among 1 000 000 (2
// GB). With ONNX Runtime's product behind blas32, many queries take a quarter of that time. Time grows in proportion to
// n; vectors that are not in memory yet also take the time to read them. For more than about ten million vectors, or
// many queries a second among millions, use an approximate index instead.
func Nearest(ctx context.Context, v Vectors, queries features.Set, k int, own []int) ([][]Hit, error) {
	if queries.Dim() != v.Width() {
		return nil, fmt.Errorf("search: queries of %d values, expected %d", queries.Dim(), v.Width())
	}
	if k < 1 {
		return nil, fmt.Errorf("search: %d neighbours requested, expected at least 1", k)
	}
	best := make([][]Hit, queries.Len())
	rows := min(max(blockBytes/(4*max(v.Width(), 1)), 1), blockRows)
	for from := 0; from < v.Len(); from += rows {
		x, absent, err := v.Block(from, min(rows, v.Len()-from))
		if err != nil {
			return nil, err
		}
		x, at := presentRows(x, absent, from)
		if x.Rows == 0 {
			continue
		}
		for first := 0; first < queries.Len(); first += queriesAtOnce {
			n := min(queriesAtOnce, queries.Len()-first)
			part := features.Set{X: features.Part(queries.X, first, n)}
			lists, err := eval.Nearest(ctx, part, &features.Set{X: x}, min(k+1, x.Rows), math.MaxInt64)
			if err != nil {
				return nil, err
			}
			for i, list := range lists {
				self := -1
				if own != nil {
					self = own[first+i]
				}
				best[first+i] = mergeHits(best[first+i], k, self, list, at, x, part.Row(i))
			}
		}
	}
	return best, nil
}

// presentRows returns the rows that are not absent, and a function from their positions to row numbers of v.
func presentRows(x blas32.General, absent []bool, from int) (blas32.General, func(int) int) {
	if absent == nil {
		return x, func(i int) int { return from + i }
	}
	var rows []int
	for i, gone := range absent {
		if !gone {
			rows = append(rows, i)
		}
	}
	return features.Set{X: x}.Rows(rows).X, func(i int) int { return from + rows[i] }
}

// mergeHits merges the neighbours found in one block into the best so far.
func mergeHits(
	best []Hit,
	k, self int,
	list []eval.Neighbour,
	at func(int) int,
	x blas32.General,
	query []float32,
) []Hit {
	for _, near := range list {
		if at(near.Row) != self {
			best = append(best, Hit{at(near.Row), features.Dot(query, features.Row(x, near.Row))})
		}
	}
	// Blocks come in order, so ties stay sorted by row.
	slices.SortStableFunc(best, func(a, b Hit) int { return cmp.Compare(b.Similarity, a.Similarity) })
	return best[:min(k, len(best))]
}

// UnitRows divides rows by their length, in place, and marks the rows that are all zeros; nil if there are none. It
// does not use [features.Normalize], which rounds differently: rows must keep their bits when an index is extended.
func UnitRows(x blas32.General) (absent []bool) {
	for i := range x.Rows {
		row := features.Row(x, i)
		var sum float64
		for _, v := range row {
			sum += float64(v) * float64(v)
		}
		if sum == 0 {
			if absent == nil {
				absent = make([]bool, x.Rows)
			}
			absent[i] = true
			continue
		}
		scale := 1 / math.Sqrt(sum)
		for j, v := range row {
			row[j] = float32(float64(v) * scale)
		}
	}
	return absent
}

// oneRow views a vector as a matrix.
func oneRow(v []float32) blas32.General {
	return blas32.General{Rows: 1, Cols: len(v), Stride: len(v), Data: v}
}
