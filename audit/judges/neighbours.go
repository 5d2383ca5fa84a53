package judges

import (
	"math"

	"winnow/eval"
	"winnow/filters/leaveout"
)

// nearestOf returns the k nearest other images of each image. Of copies, those that count are found, and none of
// the image itself.
func (b *bench) nearestOf(k int) ([][]eval.Neighbour, error) {
	if !b.s.Copied() {
		return eval.Nearest(b.ctx, b.s.Z, nil, k, eval.Bytes(b.opts.MaxMem))
	}
	var heard []int
	for i := range b.s.Z.Len() {
		if b.s.Voice(i) == i {
			heard = append(heard, i)
		}
	}
	gallery := b.s.Z.Rows(heard)
	near, err := eval.Nearest(b.ctx, b.s.Z, &gallery, k+1, eval.Bytes(b.opts.MaxMem))
	for i, list := range near {
		others := list[:0]
		for _, n := range list {
			if n.Row = heard[n.Row]; b.s.Voice(i) == leaveout.Mute || n.Row != b.s.Voice(i) {
				others = append(others, n)
			}
		}
		near[i] = others[:min(k, len(others))]
	}
	return near, err
}

// vote lets the nearest other images vote, each with (1 + cosine)/2. The score of a label is its share of the votes.
func (b *bench) vote() error {
	near, err := b.nearestOf(b.opts.Neighbours)
	if err != nil {
		return err
	}
	votes := make([]float64, len(b.s.Classes))
	for i, list := range near {
		clear(votes)
		var all float64
		for _, n := range list {
			v := (1 + float64(n.Similarity)) / 2
			votes[b.s.Column[b.s.Z.Labels[n.Row]]] += v
			all += v
		}
		for k := range votes {
			votes[k] /= math.Max(all, 1e-9)
		}
		y := b.s.Column[b.s.Z.Labels[i]]
		b.sayRow(i, y, votes[y], votes)
	}
	return nil
}
