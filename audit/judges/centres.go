package judges

import (
	"winnow/filters/leaveout"
	"winnow/filters/noiserate"
)

const (
	mostPart = 4    // most classes among which an image is divided
	leastOf  = 0.02 // smaller shares are ignored
)

// judgeByCentres scores labels by the cosines t_ik of image i to the class centres k, which leave the image out:
//
//	P(k|x_i) = softmax_k(β t_ik),   P(y|k) = 1 - ρ if y = k, else ρ/(C - 1)
//
// with β and ρ from [noiserate.Calibrate]. The score of a label is P(y_i|x_i), which is a probability under uniform
// noise; the order is its log odds. In the verdict's classes, images are weighted by P(k|x_i).
func (b *bench) judgeByCentres() error {
	final := make([][]leaveout.Part, b.s.Z.Len())
	c, err := noiserate.Calibrate(b.ctx, b.s)
	if err != nil {
		return err
	}
	if err := b.s.Each(b.ctx, func(i, y int, row []float64) {
		b.sayRow(i, y, c.Posterior(row, y), row)
		final[i] = listLargestShares(row)
	}); err != nil {
		return err
	}
	b.s.Share(final)
	return nil
}

// listLargestShares returns the largest entries of a row, sorted by column.
func listLargestShares(row []float64) []leaveout.Part {
	var list []leaveout.Part
	for k, v := range row {
		list = addShare(list, k, v)
	}
	return list
}

// addShare adds the share v for column k. In a full list, v replaces the smallest share if v is larger.
func addShare(list []leaveout.Part, k int, v float64) []leaveout.Part {
	if v < leastOf {
		return list
	}
	if len(list) < mostPart {
		return append(list, leaveout.Part{Column: k, Weight: v})
	}
	least := 0
	for j, p := range list {
		if p.Weight < list[least].Weight {
			least = j
		}
	}
	if v > list[least].Weight {
		list = append(append(list[:least:least], list[least+1:]...), leaveout.Part{Column: k, Weight: v})
	}
	return list
}
