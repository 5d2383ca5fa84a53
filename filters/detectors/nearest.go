package detectors

import (
	"context"
	"slices"

	"winnow/eval"
	"winnow/features"
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
// Of equally near rows it takes those with lower numbers. Time O(n²·d), memory O(n·k).
func findNeighbours(ctx context.Context, z features.Set, k int) (*neighbours, error) {
	k = min(k, z.Len()-1)
	out := &neighbours{K: k, rows: make([]int32, 0, z.Len()*k)}
	const most = 4096 // rows at a time, so that the lists take no more memory than their numbers
	for from := 0; from < z.Len(); from += most {
		part := features.Set{X: features.Part(z.X, from, min(most, z.Len()-from))}
		lists, err := eval.Nearest(ctx, part, &z, k+1, 0)
		if err != nil {
			return nil, err
		}
		for i, list := range lists {
			list = slices.DeleteFunc(list, func(n eval.Neighbour) bool { return n.Row == from+i })
			for _, n := range list[:k] { // as many, or one more if others are as near as the row itself
				out.rows = append(out.rows, int32(n.Row))
			}
			slices.Sort(out.neighboursOf(from + i))
		}
	}
	return out, nil
}
