package losses

import (
	"math"

	"winnow/features"
)

// softSums is the scratch memory of [triplet.addSoftened], for terms log(1 + e^c·e^{-δ}) of points c and negatives at
// δ. With u = e^c·e^{-δ} a term needs no exp. Logarithms are rare as well, because one logarithm is taken of a product
// of many factors 1 + u. The slope of a term is u/(1+u). Distances and margins are at most 4, so e⁻⁴ ≤ u ≤ e⁸: a
// product of perLog factors is below 1e223, and the sum of their logarithms has a relative error of 1e-14.
type softSums struct {
	rise   []float64 // e^c
	factor []float64 // Π (1 + u) since the last logarithm
	fall   []float64 // e^{-δ} of every negative
	value  []float64 // Σ log(1 + u)
	slope  []float64 // Σ u/(1+u)
	since  int       // negatives since the last logarithm
}

const perLog = 64

// loadPoints loads the points c.
func (s *softSums) loadPoints(points []float64) {
	n := len(points)
	s.rise = growSlice(s.rise, n)
	s.factor, s.value, s.slope = growSlice(s.factor, n), growSlice(s.value, n), growSlice(s.slope, n)
	s.since = 0
	for k, c := range points {
		s.rise[k] = math.Exp(c)
		s.factor[k], s.value[k], s.slope[k] = 1, 0, 0
	}
}

// addNegative adds the terms of a negative with e^{-δ} = fall and the points from … to. It returns the sum of their
// slopes.
func (s *softSums) addNegative(fall float64, from, to int) (slope float64) {
	rise := s.rise[from:to]
	factor, sum := s.factor[from:to][:len(rise)], s.slope[from:to][:len(rise)]
	for k, c := range rise {
		x := 1 + c*fall
		factor[k] *= x
		d := 1 - 1/x
		sum[k] += d
		slope += d
	}
	if s.since++; s.since == perLog {
		s.flushSlopes()
	}
	return slope
}

func (s *softSums) flushSlopes() {
	for k, x := range s.factor {
		if x != 1 {
			s.value[k] += math.Log(x)
			s.factor[k] = 1
		}
	}
	s.since = 0
}

// totalTerms returns the sum of all terms.
func (s *softSums) totalTerms() (sum float64) {
	s.flushSlopes()
	for _, v := range s.value {
		sum += v
	}
	return sum
}

// addSoftened adds all selected triplets of anchor i with softplus.
func (l *triplet) addSoftened(t *tally, i int, p *pairs) {
	n := l.mates.rankPositives(l.delta, i, p, l.choose, l.margin)
	if n == 0 {
		return
	}
	s, y, before := &l.soft, p.rows[i], t.count
	s.loadPoints(l.mates.reach)
	s.fall = growSlice(s.fall, len(l.delta))
	features.ExpSlice(s.fall, l.delta, -1, 0)
	for j, c := range p.cols {
		if c == y {
			continue
		}
		from, to := l.mates.choosingRange(l.delta[j])
		if to <= from {
			continue
		}
		t.count += to - from
		slope := s.addNegative(s.fall[j], from, to)
		if t.d != nil {
			t.d[j] -= slope
		}
	}
	t.active += t.count - before // softplus is always above 0
	s.finishTally(t, l.mates.order, s.slope)
}

// finishTally adds the value and the slopes of the positives to the tally.
func (s *softSums) finishTally(t *tally, order []int32, slopes []float64) {
	t.sum += s.totalTerms()
	if t.d == nil {
		return
	}
	t.touched = true
	for k, j := range order {
		t.d[j] += slopes[k]
	}
}
