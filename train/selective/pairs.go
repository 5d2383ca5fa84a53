package selective

import (
	"math"

	"winnow/features"
	"winnow/internal/spread"
)

// confidentPairs decides for pairs of rows whether they belong to the same class with confidence (see [selclDetector]).
type confidentPairs struct {
	Threshold float64 // least similarity of a confident pair of rows that are not both selected; +Inf: no selected rows

	selected []bool
	z        features.Set // unit rows
}

// isConfident reports whether two rows form a confident pair. A labelled row forms a confident pair with itself.
func (p *confidentPairs) isConfident(i, j int) bool {
	if y := p.z.Labels[i]; y < 0 || y != p.z.Labels[j] {
		return false
	}
	return i == j || p.selected[i] && p.selected[j] || features.Dot(p.z.Row(i), p.z.Row(j)) >= p.Threshold
}

// A block of similarities takes 4 MiB of float32. A histogram of similarities from -1.01 to 1.01 has bins 5·10⁻⁷ wide.
const (
	pairRows, pairCols = 256, 4096
	bins               = 1 << 22
	binFloor           = -1.01
	binWidth           = 2.02 / bins
)

// findPairs computes the threshold: the beta-quantile of the similarities of all ordered pairs of selected rows with
// the same label, accurate to the width of a bin. Time O(Σ_c n_c²·d), memory O(n·d).
func (s *selection) findPairs() *confidentPairs {
	byClass := map[int][]int{}
	for i, y := range s.z.Labels {
		if s.Selected[i] {
			byClass[y] = append(byClass[y], i)
		}
	}
	var scratch []float32
	counts, total := make([]int, bins), 0
	for _, members := range byClass {
		x := s.z.Rows(members).X
		for from := 0; from < x.Rows; from += pairRows {
			for left := 0; left < x.Rows; left += pairCols {
				sims := features.Products(&scratch, features.Part(x, from, min(pairRows, x.Rows-from)),
					features.Part(x, left, min(pairCols, x.Rows-left)))
				for i := range sims.Rows {
					for _, v := range features.Row(sims, i) {
						counts[min(max(int((float64(v)-binFloor)/binWidth), 0), bins-1)]++
					}
				}
			}
		}
		total += x.Rows * x.Rows
	}
	p := &confidentPairs{Threshold: math.Inf(1), selected: s.Selected, z: s.z}
	if total > 0 {
		at := s.beta * float64(total-1)
		lower := min(int(at), total-1)
		p.Threshold = spread.Between(binOfRank(counts, lower), binOfRank(counts, min(lower+1, total-1)),
			at-float64(lower))
	}
	return p
}

// binOfRank returns the lower edge of the bin that contains the value of the given rank, counted from 0.
func binOfRank(counts []int, rank int) float64 {
	b := 0
	for ; rank >= counts[b]; b++ {
		rank -= counts[b]
	}
	return binFloor + float64(b)*binWidth
}
