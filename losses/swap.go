package losses

import (
	"math"
	"slices"
)

// exchange holds what triplets with swap need beyond the row of their anchor: the distances from positives to
// negatives. In a batch these are other rows of the same matrix, against a bank similarities of constants.
type exchange struct {
	width int
	delta []float64 // of the batch
	dS    []float64 // ∂sum/∂δ of the batch, nil if there is none
	amid  amid      // of a bank, else nil
	dist  distance
	s, d  [1]float64

	fall    []float64 // e^{-δ} of the rows, if smooth
	members []int32   // members of the bank with the current label
	rows    []float64 // δ from some of them to the bank
	falls   []float64 // e^{-δ} of rows
}

func (x *exchange) takeExchange(l *triplet, dS []float64, p *pairs) {
	x.width, x.amid, x.dist = len(p.cols), p.amid, l.distance
	x.delta, x.dS = l.matrix, dS
	if !p.self {
		x.delta, x.dS = nil, nil
	}
}

// columnDistance returns δ of two columns.
func (x *exchange) columnDistance(j, k int) float64 {
	if x.delta != nil {
		return x.delta[j*x.width+k]
	}
	x.s[0] = x.amid.pairSimilarity(j, k)
	x.dist.fillDistances(x.d[:], nil, x.s[:])
	return x.d[0]
}

// outlook holds the values of an anchor or a positive for all columns: δ, e^{-δ} if smooth, and where its
// slopes are added (nil: nowhere).
type outlook struct{ delta, fall, d []float64 }

// addExchanged adds all selected triplets of all anchors, one by one.
func (l *triplet) addExchanged(t *tally, dS []float64, p *pairs) {
	x, r := &l.cross, len(p.cols)
	if l.smooth {
		x.fall = growSlice(x.fall, len(l.matrix))
		expSlice(x.fall, l.matrix, -1, 0)
	}
	view := func(i int) outlook {
		s := outlook{delta: l.matrix[i*r : (i+1)*r], d: rowOfBlock(dS, i, r)}
		if l.smooth {
			s.fall = x.fall[i*r : (i+1)*r]
		}
		return s
	}
	if p.self {
		for i := range p.rows {
			for j := range p.cols {
				if p.isPositive(i, j) {
					l.exchangedPair(t, p, p.rows[i], j, view(i), view(j))
				}
			}
		}
		return
	}
	for i, y := range p.rows {
		if !slices.Contains(p.rows[:i], y) {
			l.exchangedClass(t, p, y, view)
		}
	}
}

// rowsAtOnce limits the memory for distances within a bank: the number computed at a time.
const rowsAtOnce = 1 << 19

// exchangedClass adds the triplets of all anchors of one label against a bank, some positives at a time.
func (l *triplet) exchangedClass(t *tally, p *pairs, y int, view func(i int) outlook) {
	x, r := &l.cross, len(p.cols)
	x.members = x.members[:0]
	for j, c := range p.cols {
		if c == y {
			x.members = append(x.members, int32(j))
		}
	}
	if len(x.members) == r {
		return
	}
	step := max(1, rowsAtOnce/r)
	for some := range slices.Chunk(x.members, step) {
		x.rows = growSlice(x.rows, len(some)*r)
		p.amid.rowSimilarities(x.rows, some)
		l.distance.fillDistances(x.rows, nil, x.rows)
		if l.smooth {
			x.falls = growSlice(x.falls, len(x.rows))
			expSlice(x.falls, x.rows, -1, 0)
		}
		for i, label := range p.rows {
			if label != y {
				continue
			}
			for k, j := range some {
				other := outlook{delta: x.rows[k*r : (k+1)*r]}
				if l.smooth {
					other.fall = x.falls[k*r : (k+1)*r]
				}
				l.exchangedPair(t, p, y, int(j), view(i), other)
			}
		}
	}
}

// exchangedPair adds the triplets of an anchor with label y and its positive j.
func (l *triplet) exchangedPair(t *tally, p *pairs, y, j int, anchor, positive outlook) {
	low, high := l.choose.windowBounds(anchor.delta[j])
	reach := anchor.delta[j] + l.margin
	before := t.active
	var pull float64
	if l.smooth {
		pull = exchangedSoft(t, p.cols, y, low, high, math.Exp(reach), anchor, positive)
	} else {
		pull = exchangedHinges(t, p.cols, y, low, high, reach, anchor, positive)
	}
	if anchor.d != nil && t.active > before {
		anchor.d[j] += pull
	}
}

// exchangedHinges returns the slope of δ_ap.
func exchangedHinges(t *tally, cols []int, y int, low, high, reach float64, anchor, positive outlook) (pull float64) {
	own, other := anchor.delta[:len(cols)], positive.delta[:len(cols)]
	for k, c := range cols {
		an := own[k]
		if c == y || an < low || an >= high {
			continue
		}
		t.count++
		near := min(an, other[k])
		if near >= reach {
			continue
		}
		t.sum += reach - near
		t.active++
		pull++
		d := anchor.d
		if near < an {
			d = positive.d
		}
		if d != nil {
			d[k]--
		}
	}
	return pull
}

// exchangedSoft is exchangedHinges with softplus; rise is e^c.
func exchangedSoft(t *tally, cols []int, y int, low, high, rise float64, anchor, positive outlook) (pull float64) {
	own, other := anchor.delta[:len(cols)], positive.delta[:len(cols)]
	ownFall, otherFall := anchor.fall[:len(cols)], positive.fall[:len(cols)]
	factor, factors := 1.0, 0
	for k, c := range cols {
		an := own[k]
		if c == y || an < low || an >= high {
			continue
		}
		t.count++
		t.active++
		d, fall := anchor.d, ownFall[k]
		if other[k] < an {
			d, fall = positive.d, otherFall[k]
		}
		x := 1 + rise*fall
		slope := 1 - 1/x
		pull += slope
		if d != nil {
			d[k] -= slope
		}
		factor *= x
		if factors++; factors == perLog {
			t.sum += math.Log(factor)
			factor, factors = 1, 0
		}
	}
	t.sum += math.Log(factor)
	return pull
}
