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

// Vectors are unit rows to search.
type Vectors interface {
	Len() int
	Width() int
	// Block is the rows from, …, from+n-1, to be read only, until the next call. Rows that are absent, where absent
	// is not nil, hold zeros and are never found.
	Block(from, n int) (x blas32.General, absent []bool, err error)
}

// Hit is a row and its cosine to the query.
type Hit struct {
	Row        int
	Similarity float64
}

// blockBytes is how much of the vectors is searched at once: enough for a fast product, little beside the vectors.
const blockBytes = 32 << 20

// blockRows bounds a block of short vectors.
const blockRows = 1 << 16

// queriesAtOnce bounds the similarities in memory: of so many queries to one block.
const queriesAtOnce = 256

// Nearest finds the k rows of v most similar to each query, best first, ties by lower row; fewer where v has not so many.
// The rows of queries must be unit rows. own[i], where own is not nil, is the row that query i is itself and does not
// find, -1 where it is none.
//
// Similarities are computed in float32, block by block; whatever may be among the best is compared by its cosine in
// float64 of the stored numbers, so that neither blocks nor the order of a sum decide, and copies of an image tie.
// Time O(n·d) a query, memory a block. Measured on 2 cores with gonum's own product, vectors of 512 values in memory
// (BenchmarkNearest): among 60 000, 18 ms for one query and 0.18 s for 64; among 1 000 000 (2 GB), 0.22 s and 3.8 s. With
// ONNX Runtime's product behind blas32 many queries take a quarter of that. It grows in proportion, and vectors that must
// come from the disk first take as long as that takes: beyond some ten million, or for many queries a second among
// millions, an approximate index of other software is the better tool ([winnow/search/vectordb]).
func Nearest(ctx context.Context, v Vectors, queries blas32.General, k int, own []int) ([][]Hit, error) {
	if queries.Cols != v.Width() {
		return nil, fmt.Errorf("search: queries of %d values, expected %d", queries.Cols, v.Width())
	}
	if k < 1 {
		return nil, fmt.Errorf("search: %d neighbours asked for, expected at least 1", k)
	}
	best := make([][]Hit, queries.Rows)
	rows := min(max(blockBytes/(4*max(v.Width(), 1)), 1), blockRows)
	for from := 0; from < v.Len(); from += rows {
		x, absent, err := v.Block(from, min(rows, v.Len()-from))
		if err != nil {
			return nil, err
		}
		x, at := present(x, absent, from)
		if x.Rows == 0 {
			continue
		}
		for first := 0; first < queries.Rows; first += queriesAtOnce {
			n := min(queriesAtOnce, queries.Rows-first)
			part := features.Set{X: blas32.General{Rows: n, Cols: queries.Cols, Stride: queries.Stride, Data: queries.Data[first*queries.Stride:]}}
			lists, err := eval.Nearest(ctx, part, &features.Set{X: x}, min(k+1, x.Rows), math.MaxInt64)
			if err != nil {
				return nil, err
			}
			for i, list := range lists {
				self := -1
				if own != nil {
					self = own[first+i]
				}
				best[first+i] = merge(best[first+i], k, self, list, at, x, part.Row(i))
			}
		}
	}
	return best, nil
}

// present returns the rows that are not absent, and their numbers.
func present(x blas32.General, absent []bool, from int) (blas32.General, func(int) int) {
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

// merge adds the neighbours found in one block to the best so far.
func merge(best []Hit, k, self int, list []eval.Neighbour, at func(int) int, x blas32.General, query []float32) []Hit {
	for _, near := range list {
		if at(near.Row) != self {
			best = append(best, Hit{at(near.Row), features.Dot(query, features.Row(x, near.Row))})
		}
	}
	// Blocks come in order: equal ones stay by row.
	slices.SortStableFunc(best, func(a, b Hit) int { return cmp.Compare(b.Similarity, a.Similarity) })
	return best[:min(k, len(best))]
}

// UnitRows divides rows by their length, in place. It returns which rows are all zeros; nil: none. It is
// not [features.Normalize], which rounds otherwise: the vectors of an index that grows must have the same bits.
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
