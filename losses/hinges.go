package losses

// hingeSums is the scratch of [triplet.hinges].
type hingeSums struct {
	tail  []float64 // tail[k] = Σ_{k' ≥ k} c
	steps []float64 // slopes of the positives, as differences between neighbours
}

// start computes the tails of the reaches of n positives.
func (h *hingeSums) start(reach []float64) {
	n := len(reach)
	h.tail, h.steps = grow(h.tail, n+1), grow(h.steps, n+1)
	clear(h.steps)
	h.tail[n] = 0
	for k := n - 1; k >= 0; k-- {
		h.tail[k] = h.tail[k+1] + reach[k]
	}
}

// hinges adds all selected triplets of anchor i, one range of positives at a time. If the positives are sorted
// by distance and c = δ_ap + m, a negative at δ has terms above 0 with a contiguous range of them, where
//
//	Σ_p (c_p - δ) = Σ_p c_p - #p·δ        ∂/∂δ = -#p        ∂/∂δ_ap: one more on every p of the range
//
// so tails of c give the value, and differences at the ends of the ranges give the slopes of the positives.
func (l *triplet) hinges(t *tally, i int, p *pairs) {
	n := l.mates.rank(l.delta, i, p, l.choose, l.margin)
	if n == 0 {
		return
	}
	reach := l.mates.reach
	l.sums.start(reach)
	tail, steps := l.sums.tail, l.sums.steps
	y, farthest, before := p.rows[i], reach[n-1], t.active
	delta := l.delta[:len(p.cols)]
	for j, c := range p.cols {
		if c == y {
			continue
		}
		an := delta[j]
		from, to := l.mates.choosing(an)
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
		l.mates.add(t.d, steps)
	}
}

// add adds to every positive the running sum of the differences up to it.
func (q *positives) add(d, steps []float64) {
	var sum float64
	for k, j := range q.order {
		sum += steps[k]
		d[j] += sum
	}
}
