package losses

import "math"

// softSums is the scratch of [triplet.addSoftened] and of swap: terms log(1 + e^c·e^{-δ}) of points c and
// negatives at δ, where points have weights. With u = e^c·e^{-δ} a term needs no exp. It needs hardly a log
// either, because one logarithm is taken of a product of many factors 1 + u; its slope is u/(1+u). Distances
// and margins are at most 4, so e⁻⁴ ≤ u ≤ e⁸: a product of perLog factors is below 1e223, and the sum of their
// logarithms has a relative error of 1e-14.
type softSums struct {
	nodes  nodes
	rise   []float64 // e^c
	weight []float64
	factor []float64 // Π (1 + u) since the last logarithm
	fall   []float64 // of every negative
	back   []float64
	value  []float64 // Σ log(1 + u)
	slope  []float64 // Σ u/(1+u)
	since  int       // negatives since the last logarithm
}

const perLog = 64

// loadPoints loads points; without weights each counts once.
func (s *softSums) loadPoints(points, weight []float64) {
	n := len(points)
	s.rise, s.weight = growSlice(s.rise, n), growSlice(s.weight, n)
	s.factor, s.value, s.slope = growSlice(s.factor, n), growSlice(s.value, n), growSlice(s.slope, n)
	s.since = 0
	for k, c := range points {
		s.rise[k], s.weight[k] = math.Exp(c), 1
		s.factor[k], s.value[k], s.slope[k] = 1, 0, 0
	}
	copy(s.weight, weight)
}

// addWholeTerms adds the terms of all points with negatives of e^{-δ} = fall; back receives the weighted sums of
// slopes.
func (s *softSums) addWholeTerms(back, fall []float64) {
	clear(back)
	for first := 0; first < len(fall); first += perLog {
		part := fall[first:min(first+perLog, len(fall))]
		out := back[first : first+len(part)]
		for k, c := range s.rise {
			w, factor, sum := s.weight[k], 1.0, 0.0
			for i, f := range part {
				x := 1 + c*f
				factor *= x
				d := 1 - 1/x
				sum += d
				out[i] += w * d
			}
			s.value[k] += math.Log(factor)
			s.slope[k] += sum
		}
	}
}

// addNegative adds the terms of a negative with e^{-δ} = fall and the points from … to. It returns the weighted
// sum of their slopes.
func (s *softSums) addNegative(fall float64, from, to int) (slope float64) {
	rise := s.rise[from:to]
	factor, sum, weight := s.factor[from:to], s.slope[from:to], s.weight[from:to]
	factor, sum, weight = factor[:len(rise)], sum[:len(rise)], weight[:len(rise)]
	for k, c := range rise {
		x := 1 + c*fall
		factor[k] *= x
		d := 1 - 1/x
		sum[k] += d
		slope += weight[k] * d
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

// totalTerms returns the weighted sum of all terms.
func (s *softSums) totalTerms() (sum float64) {
	s.flushSlopes()
	for k, v := range s.value {
		sum += s.weight[k] * v
	}
	return sum
}

// addSoftened adds all selected triplets of anchor i with softplus.
func (l *triplet) addSoftened(t *tally, i int, p *pairs) {
	n := l.mates.rankPositives(l.delta, i, p, l.choose, l.margin)
	if n == 0 {
		return
	}
	if l.mates.whole {
		l.softenedAll(t, i, p)
		return
	}
	s, y, before := &l.soft, p.rows[i], t.count
	s.loadPoints(l.mates.reach, nil)
	s.fall = growSlice(s.fall, len(l.delta))
	expSlice(s.fall, l.delta, -1, 0)
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

// softenedAll is softened for all triplets. If there are many positives, nodes replace them.
func (l *triplet) softenedAll(t *tally, i int, p *pairs) {
	s, y, n := &l.soft, p.rows[i], len(l.mates.order)
	s.fall = s.fall[:0]
	for j, c := range p.cols {
		if c != y {
			s.fall = append(s.fall, l.delta[j])
		}
	}
	expSlice(s.fall, s.fall, -1, 0)
	s.back = growSlice(s.back, len(s.fall))
	fewer := s.nodes.placeNodes(l.mates.reach, len(s.fall))
	if fewer {
		s.loadPoints(s.nodes.at, s.nodes.weight)
	} else {
		s.loadPoints(l.mates.reach, nil)
	}
	s.addWholeTerms(s.back, s.fall)
	t.count += n * len(s.fall)
	t.active += n * len(s.fall)
	slopes := s.slope
	if t.d != nil {
		k := 0
		for j, c := range p.cols {
			if c != y {
				t.d[j] -= s.back[k]
				k++
			}
		}
		if fewer {
			slopes = s.nodes.interpolateNodes(slopes)
		}
	}
	s.finishTally(t, l.mates.order, slopes)
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
