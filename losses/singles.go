package losses

// drawn takes one negative for every positive, in the order of the columns.
func (l *triplet) drawn(t *tally, i int, p *pairs) {
	if !l.gather(i, p) {
		return
	}
	for _, j := range l.mates.members {
		if some := l.candidates(j); len(some) > 0 {
			l.add(t, int(j), int(some[p.draw.IntN(len(some))]))
		}
	}
}

// gather sorts P(i) and the negatives that any window of it holds; it reports whether there is a positive.
func (l *triplet) gather(i int, p *pairs) bool {
	n := l.mates.rank(l.delta, i, p, l.choose, l.margin)
	if n == 0 {
		return false
	}
	l.near.sort(l.delta, p.cols, p.rows[i], l.mates.low[0], l.mates.high[n-1])
	return true
}

// candidates are the negatives in the window of a positive, nearest first.
func (l *triplet) candidates(j int32) []int32 {
	from, to := l.near.between(l.choose.window(l.delta[j]))
	return l.near.order[from:max(from, to)]
}

// nearest takes the first negative of every window, without sorting the negatives: windows have no upper end, so
// that a negative can be the first of the farthest positive that it is beyond, and of those before that one as
// long as they have no nearer.
func (l *triplet) nearest(t *tally, i int, p *pairs) {
	l.findNearest(i, p)
	for k, j := range l.mates.order {
		if n := l.first[k]; n >= 0 {
			l.add(t, int(j), int(n))
		}
	}
}

// findNearest fills first, in the order of l.mates; -1 where there is none.
func (l *triplet) findNearest(i int, p *pairs) {
	n := l.mates.rank(l.delta, i, p, l.choose, l.margin)
	l.first = grow(l.first, n)
	for k := range l.first {
		l.first[k] = -1
	}
	if n == 0 {
		return
	}
	for j, y := range p.cols {
		if y == p.rows[i] {
			continue
		}
		if _, to := l.mates.choosing(l.delta[j]); to > 0 {
			if f := l.first[to-1]; f < 0 || l.delta[j] < l.delta[f] {
				l.first[to-1] = int32(j)
			}
		}
	}
	for k := n - 2; k >= 0; k-- {
		if l.first[k] < 0 {
			l.first[k] = l.first[k+1]
		}
	}
}

// hardest is the farthest positive and the nearest negative of anchor i, -1 where it has none.
func (l *triplet) hardest(i int, p *pairs) (far, near int) {
	far, near = -1, -1
	for j, y := range p.cols {
		if y != p.rows[i] {
			if near < 0 || l.delta[j] < l.delta[near] {
				near = j
			}
		} else if p.apart(i, j) && (far < 0 || l.delta[j] > l.delta[far]) {
			far = j
		}
	}
	return far, near
}
