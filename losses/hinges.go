package losses

// hingeSums is the scratch memory of [triplet.addHinges].
type hingeSums struct {
	tail  []float64 // tail[k] = Σ_{k' ≥ k} c
	steps []float64 // slopes of the positives, as differences between neighbours
}

// startTails computes the tails of the n positives' reaches.
func (h *hingeSums) startTails(reach []float64) {
	n := len(reach)
	h.tail, h.steps = growSlice(h.tail, n+1), growSlice(h.steps, n+1)
	clear(h.steps)
	h.tail[n] = 0
	for k := n - 1; k >= 0; k-- {
		h.tail[k] = h.tail[k+1] + reach[k]
	}
}

// addHinges adds all selected triplets of anchor i, one range of positives at a time. With the positives sorted by
// distance and c = δ_ap + m, a negative at δ has terms above 0 for a contiguous range of positives. In this range
//
//	Σ_p (c_p - δ) = Σ_p c_p - #p·δ        ∂/∂δ = -#p        ∂/∂δ_ap = 1 for every p of the range
//
// Tails of c therefore give the value, and differences at the ends of the ranges give the slopes of the positives.
func (l *triplet) addHinges(t *tally, i int, p *pairs) {
	n := l.mates.rankPositives(l.delta, i, p, l.choose, l.margin)
	if n == 0 {
		return
	}
	reach := l.mates.reach
	l.sums.startTails(reach)
	tail, steps := l.sums.tail, l.sums.steps
	y, farthest, before := p.rows[i], reach[n-1], t.active
	delta := l.delta[:len(p.cols)]
	for j, c := range p.cols {
		if c == y {
			continue
		}
		an := delta[j]
		from, to := l.mates.choosingRange(an)
		t.count += to - from
		if an >= farthest {
			continue
		}
		from = max(from, upTo(reach, an))
		if from >= to {
			continue
		}
		m := float64(to - from)
		t.active += to - from
		t.sum += tail[from] - tail[to] - m*an
		if t.d != nil {
			t.d[j] -= m
			steps[from]++
			steps[to]--
		}
	}
	t.touched = t.active > before
	if t.d != nil && t.touched {
		l.mates.addRunning(t.d, steps)
	}
}

// addRunning adds to the slope of every positive the running sum of the differences up to it.
func (q *positives) addRunning(d, steps []float64) {
	var sum float64
	for k, j := range q.order {
		sum += steps[k]
		d[j] += sum
	}
}
