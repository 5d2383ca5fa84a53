package losses

// singles lists the positives of anchor i, each with the one negative that the selection takes, or -1 if it
// takes none. Drawn negatives come in the order of the columns, nearest ones in rising distance of the
// positive. The next anchor overwrites both slices.
func (l *triplet) singles(i int, p *pairs) (mates, negatives []int32) {
	if l.choose.draws() {
		return l.drawn(i, p)
	}
	return l.nearest(i, p)
}

// drawn draws one negative from every window.
func (l *triplet) drawn(i int, p *pairs) (mates, negatives []int32) {
	if !l.gather(i, p) {
		return nil, nil
	}
	l.first = grow(l.first, len(l.mates.members))
	for k, j := range l.mates.members {
		l.first[k] = -1
		if some := l.candidates(j); len(some) > 0 {
			l.first[k] = some[p.draw.IntN(len(some))]
		}
	}
	return l.mates.members, l.first
}

// gather sorts P(i) and the negatives in any of its windows; it reports whether there is a positive.
func (l *triplet) gather(i int, p *pairs) bool {
	n := l.mates.rank(l.delta, i, p, l.choose, l.margin)
	if n == 0 {
		return false
	}
	l.near.sort(l.delta, p.cols, p.rows[i], l.mates.low[0], l.mates.high[n-1])
	return true
}

// candidates returns the negatives in the window of a positive, nearest first.
func (l *triplet) candidates(j int32) []int32 {
	from, to := l.near.between(l.choose.window(l.delta[j]))
	return l.near.order[from:max(from, to)]
}

// nearest takes the first negative of every window, without sorting the negatives. Windows have no upper end,
// so a negative can be the first for the farthest positive that it lies beyond, and for the positives before
// that one as long as they have no nearer negative.
func (l *triplet) nearest(i int, p *pairs) (mates, negatives []int32) {
	n := l.mates.rank(l.delta, i, p, l.choose, l.margin)
	l.first = grow(l.first, n)
	for k := range l.first {
		l.first[k] = -1
	}
	if n == 0 {
		return nil, nil
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
	return l.mates.order, l.first
}

// hardest returns the farthest positive and the nearest negative of anchor i, or -1 for one that it lacks.
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
