package judges

import (
	"math"

	"winnow/eval"
)

// nearest scores a label by the nearest other image: its cosine if it has the same label, else minus its cosine, so
// that the closest twin with another label is most suspect.
func (b *bench) nearest() error {
	near, err := eval.Nearest(b.ctx, b.s.Z, nil, 1, eval.Bytes(b.opts.MaxMem))
	if err != nil {
		return err
	}
	for i, list := range near {
		y, other := b.s.Column[b.s.Z.Labels[i]], b.s.Column[b.s.Z.Labels[list[0].Row]]
		cosine := (1 + float64(list[0].Similarity)) / 2 // not negative, so that the sign shows agreement
		if other == y {
			b.say(i, cosine, cosine, y, cosine)
		} else {
			b.say(i, -cosine, -cosine, other, cosine)
		}
	}
	return nil
}

// vote lets the nearest other images vote, each with (1 + cosine)/2. The score of a label is its share of the votes.
func (b *bench) vote() error {
	near, err := eval.Nearest(b.ctx, b.s.Z, nil, b.opts.Neighbours, eval.Bytes(b.opts.MaxMem))
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
