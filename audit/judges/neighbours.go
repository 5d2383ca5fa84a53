package judges

import (
	"math"
	"math/rand/v2"
	"slices"

	"winnow/eval"
	"winnow/filters/leaveout"
)

// nearestOf returns the k nearest other images of each image. Duplicates are represented by a single image, and no
// image finds its own duplicates.
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

const (
	voters         = 10      // nearest images that vote
	mostNeighbours = 1 << 12 // most images that are compared with each other
	shuffles       = 199
)

// neighboursTell reports whether the nearest neighbour shares the label of an image more often than with any of the
// shuffled labels. Every class has the same weight, whatever its size. So a small class whose images find each other is
// detected, although the likelihood of all labels hardly gains from it.
func (b *bench) neighboursTell() (bool, error) {
	var rows []int
	step := max(1, b.s.Z.Len()/mostNeighbours)
	for i := range b.s.Z.Len() {
		if b.s.Voice(i) == i && i%step == 0 {
			rows = append(rows, i)
		}
	}
	some := b.s.Z.Rows(rows)
	near, err := eval.Nearest(b.ctx, some, nil, 1, eval.Bytes(b.opts.MaxMem))
	if err != nil {
		return false, err
	}
	count := make(map[int]float64)
	for _, y := range some.Labels {
		count[y]++
	}
	shared := func(labels []int) (share float64) {
		for i, list := range near {
			if len(list) > 0 && labels[i] == labels[list[0].Row] {
				share += 1 / count[labels[i]]
			}
		}
		return share
	}
	told, labels := shared(some.Labels), slices.Clone(some.Labels)
	rng := rand.New(rand.NewPCG(uint64(len(labels)), shuffles))
	for range shuffles {
		rng.Shuffle(len(labels), func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
		if shared(labels) >= told {
			return false, b.ctx.Err()
		}
	}
	return true, b.ctx.Err()
}

// voteByNeighbours scores a label by its share of the votes of the nearest other images, weighted by (1 + cosine)/2.
func (b *bench) voteByNeighbours() error {
	near, err := b.nearestOf(voters)
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
