package losses

// listSingles lists the positives of anchor i, each with the one negative that the selection takes, or -1 if there is
// none. Drawn negatives are in the order of the columns, nearest negatives in ascending distance of the positive. The
// next anchor overwrites both slices.
func (l *triplet) listSingles(i int, p *pairs) (mates, negatives []int32) {
	if l.choose.drawsOne() {
		return l.drawSingles(i, p)
	}
	return l.takeNearest(i, p)
}

// drawSingles draws one negative from the window of each positive.
func (l *triplet) drawSingles(i int, p *pairs) (mates, negatives []int32) {
	if !l.gatherWindows(i, p) {
		return nil, nil
	}
	l.first = growSlice(l.first, len(l.mates.members))
	for k, j := range l.mates.members {
		l.first[k] = -1
		if some := l.windowNegatives(j); len(some) > 0 {
			l.first[k] = some[p.draw.IntN(len(some))]
		}
	}
	return l.mates.members, l.first
}

// gatherWindows sorts P(i) and the negatives in any of its windows. It reports whether there is a positive.
func (l *triplet) gatherWindows(i int, p *pairs) bool {
	n := l.mates.rankPositives(l.delta, i, p, l.choose, l.margin)
	if n == 0 {
		return false
	}
	l.near.loadBand(l.delta, p.cols, p.rows[i], l.mates.low[0], l.mates.high[n-1])
	return true
}

// windowNegatives returns the negatives in the window of a positive, nearest first.
func (l *triplet) windowNegatives(j int32) []int32 {
	from, to := l.near.bandRange(l.choose.windowBounds(l.delta[j]))
	return l.near.order[from:max(from, to)]
}

// takeNearest takes the first negative of every window, without sorting the negatives. Windows have no upper end. So a
// negative is first assigned to the farthest positive nearer than it, and then to the positives before that one that
// have no nearer negative.
func (l *triplet) takeNearest(i int, p *pairs) (mates, negatives []int32) {
	n := l.mates.rankPositives(l.delta, i, p, l.choose, l.margin)
	l.first = growSlice(l.first, n)
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
		if _, to := l.mates.choosingRange(l.delta[j]); to > 0 {
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

// findHardest returns the farthest positive and the nearest negative of anchor i; -1 means that there is none.
func (l *triplet) findHardest(i int, p *pairs) (far, near int) {
	far, near = -1, -1
	for j, y := range p.cols {
		if y != p.rows[i] {
			if near < 0 || l.delta[j] < l.delta[near] {
				near = j
			}
		} else if p.areApart(i, j) && (far < 0 || l.delta[j] > l.delta[far]) {
			far = j
		}
	}
	return far, near
}
