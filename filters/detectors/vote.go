package detectors

// poll counts votes without a pass over all classes.
type poll struct {
	counts []int
	voted  []int // classes with a vote
}

// takeVotes counts the labels of the neighbours of row i.
func (p *poll) takeVotes(n *neighbours, i int, labels []int) {
	for _, c := range p.voted {
		p.counts[c] = 0
	}
	p.voted = p.voted[:0]
	for _, j := range n.neighboursOf(i) {
		if y := labels[j]; y >= 0 {
			if p.counts[y] == 0 {
				p.voted = append(p.voted, y)
			}
			p.counts[y]++
		}
	}
}

// findWinner returns the class with the most votes, the lowest of equals, or -1 without votes.
func (p *poll) findWinner() int {
	best := -1
	for _, c := range p.voted {
		if best < 0 || p.counts[c] > p.counts[best] || p.counts[c] == p.counts[best] && c < best {
			best = c
		}
	}
	return best
}
