package judges

import (
	"cmp"
	"math"
	"slices"

	"winnow/eval"
)

const (
	rounds = 21  // of voting
	subset = 0.8 // share of the images that take part in a round; in the first, all do
)

// simifeat judges by the labels of the nearest images. In each round, the k nearest images that take part,
// including the image itself, give its soft label ŷ, the mean of their labels. A round flags the label y
//
//	by votes:  if another class has more of ŷ than y
//	by ranks:  if cos(ŷ, e_y) is among the lowest of its class, as many as are wrong by [bench.wrongShares]; ties in
//	           random order
//
// The score is the share of rounds that did not flag the label. Below 1/2 the label is called wrong, and the
// largest class of ŷ among all images is suggested. The order is the score, then the mean cos(ŷ, e_y).
//
// Differs from the paper: rounds differ only in the images that take part, while the paper also flips and crops
// images, which is impossible with stored vectors; and tied votes keep the label. The nearest in a round are
// searched among the 2k nearest of all. Time O(n²·d). Source: Zhu, Dong & Liu, "Detecting Corrupted Labels
// Without Training a Model to Predict", ICML 2022, algorithm 1.
func (b *bench) simifeat(byRank bool) error {
	near, err := b.near()
	if err != nil {
		return err
	}
	var wrong []float64
	if byRank {
		if wrong, err = b.wrongShares(near); err != nil {
			return err
		}
	}
	n := b.s.Z.Len()
	column := b.columns()
	part, agree, flagged := make([]bool, n), make([]float64, n), make([]bool, n)
	flags, cosines, in := make([]float64, n), make([]float64, n), make([]float64, n)
	most, share := make([]int, n), make([]float64, n) // with all images
	var v soft
	for round := range rounds {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		for i := range part {
			part[i] = round == 0 || b.opts.Rand.Float64() < subset
		}
		for i, y := range column {
			if !part[i] {
				continue
			}
			v.count(i, near[i], column, part, b.opts.Neighbours)
			best := v.most(y)
			agree[i], flagged[i] = v.cosine(y), best != y
			if round == 0 {
				most[i], share[i] = best, v.cosine(best)
			}
		}
		if byRank {
			b.lowest(flagged, agree, part, column, wrong)
		}
		for i := range part {
			if part[i] {
				in[i]++
				cosines[i] += agree[i]
				if flagged[i] {
					flags[i]++
				}
			}
		}
	}
	for i, y := range column {
		score := 1 - flags[i]/in[i]
		order := score + cosines[i]/in[i]/(2*rounds*rounds) // less than the difference of two shares of rounds
		if score < 0.5 && most[i] != y {
			b.say(i, order, score, most[i], share[i])
		} else {
			b.say(i, order, score, y, score)
		}
	}
	return nil
}

// near returns the nearest images of each image, enough for a round in which only some take part.
func (b *bench) near() ([][]eval.Neighbour, error) {
	return b.once.near.get(func() ([][]eval.Neighbour, error) {
		return b.nearestOf(2 * max(b.opts.Neighbours, 2))
	})
}

// columns returns the column of each image's label.
func (b *bench) columns() []int {
	column := make([]int, b.s.Z.Len())
	for i, y := range b.s.Z.Labels {
		column[i] = b.s.Column[y]
	}
	return column
}

// lowest flags in each class a share of its images that take part, those that agree least.
func (b *bench) lowest(flagged []bool, agree []float64, part []bool, column []int, share []float64) {
	members := make([][]int, len(b.s.Classes))
	for i, y := range column {
		flagged[i] = false
		if part[i] {
			members[y] = append(members[y], i)
		}
	}
	for k, list := range members {
		b.opts.Rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		slices.SortStableFunc(list, func(i, j int) int { return cmp.Compare(agree[i], agree[j]) })
		for _, i := range list[:int(math.Round(share[k]*float64(len(list))))] {
			flagged[i] = true
		}
	}
}

// soft is a soft label: classes with their numbers of images.
type soft struct {
	classes []int
	counts  []float64
}

// count sets v to the labels of image i and the first of near that take part, k images in all.
func (v *soft) count(i int, near []eval.Neighbour, column []int, part []bool, k int) {
	v.classes, v.counts = append(v.classes[:0], column[i]), append(v.counts[:0], 1)
	for _, other := range near {
		if k <= 1 {
			return
		}
		if !part[other.Row] {
			continue
		}
		k--
		at := slices.Index(v.classes, column[other.Row])
		if at < 0 {
			at = len(v.classes)
			v.classes, v.counts = append(v.classes, column[other.Row]), append(v.counts, 0)
		}
		v.counts[at]++
	}
}

// most returns the class with the largest count. Ties go to y, then to the class counted first.
func (v *soft) most(y int) int {
	best := max(slices.Index(v.classes, y), 0)
	for at, n := range v.counts {
		if n > v.counts[best] {
			best = at
		}
	}
	return v.classes[best]
}

// cosine returns the cosine to the one-hot label of y.
func (v *soft) cosine(y int) float64 {
	var squares, own float64
	for at, n := range v.counts {
		squares += n * n
		if v.classes[at] == y {
			own = n
		}
	}
	return own / math.Sqrt(squares)
}
