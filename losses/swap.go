package losses

// addSwapped adds all selected triplets of all anchors, one by one. With swap the negative's distance is min(δ_an,
// δ_pn), which depends on the whole triplet.
func (l *triplet) addSwapped(t *tally, dS []float64, p *pairs) {
	r := len(p.cols)
	for i, y := range p.rows {
		own := l.matrix[i*r : (i+1)*r]
		for j := range p.cols {
			if !p.isPositive(i, j) {
				continue
			}
			low, high := l.choose.windowBounds(own[j])
			l.delta, t.d = own, rowOfBlock(dS, i, r)
			for k, c := range p.cols {
				if c != y && own[k] >= low && own[k] < high {
					l.addTriplet(t, j, k)
				}
			}
		}
	}
}
