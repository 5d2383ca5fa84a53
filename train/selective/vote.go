package selective

import (
	"context"
	"slices"

	"winnow/eval"
	"winnow/features"
)

// neighbours holds the K nearest other rows of each row, by cosine.
type neighbours struct {
	K    int
	rows []int32 // n×K; the K neighbours of a row are in rising order
}

// neighboursOf returns a view of the neighbours of row i, in rising order of row number.
func (n *neighbours) neighboursOf(i int) []int32 { return n.rows[i*n.K : (i+1)*n.K : (i+1)*n.K] }

// findNeighbours finds the k nearest other rows of each of n unit rows, or all other rows if there are fewer than k.
// Of equally near rows it takes the rows with lower numbers. Time O(n²·d), memory O(n·k).
func findNeighbours(z features.Set, k int) (*neighbours, error) {
	k = min(k, z.Len()-1)
	out := &neighbours{K: k, rows: make([]int32, 0, z.Len()*k)}
	const most = 4096 // rows per search, which limits the memory of the search's result
	for from := 0; from < z.Len(); from += most {
		part := features.Set{X: features.Part(z.X, from, min(most, z.Len()-from))}
		lists, err := eval.Nearest(context.Background(), part, &z, k+1, 0)
		if err != nil {
			return nil, err
		}
		for i, list := range lists {
			list = slices.DeleteFunc(list, func(n eval.Neighbour) bool { return n.Row == from+i })
			for _, n := range list[:k] { // the list has one more entry if the row itself is not in it
				out.rows = append(out.rows, int32(n.Row))
			}
			slices.Sort(out.neighboursOf(from + i))
		}
	}
	return out, nil
}

// poll counts votes. Its time depends on the number of voters, not on the number of classes.
type poll struct {
	counts []int
	voted  []int // classes with a vote
}

// takeVotes counts the labels of the neighbours of row i.
func (p *poll) takeVotes(n *neighbours, i int, labels []int) {
	for _, c := range p.voted {
		p.counts[c] = 0
	}
	p.voted = p.voted[:0]
	for _, j := range n.neighboursOf(i) {
		if y := labels[j]; y >= 0 {
			if p.counts[y] == 0 {
				p.voted = append(p.voted, y)
			}
			p.counts[y]++
		}
	}
}

// findWinner returns the class with the most votes (ties: the lowest), or -1 without votes.
func (p *poll) findWinner() int {
	best := -1
	for _, c := range p.voted {
		if best < 0 || p.counts[c] > p.counts[best] || p.counts[c] == p.counts[best] && c < best {
			best = c
		}
	}
	return best
}
