package losses

// unhingedTriplet is the triplet loss without its hinge. It is then a sum of pair terms, as the theory of label noise
// requires.
//
//	L = mean over all (a, p, n) of  d_max + d_ap - d_an + α
//
// d = ‖z - z'‖ of unit vectors, so with d_max = 2 every term is at least α; p ∈ P(a), n ∈ N(a). The loss equals l^A(a,
// p, +1) + l^A(a, n, -1) + α with the auxiliary pair loss of 000. Without a triplet it is 0. The derivative of d at d
// = 0 is 0. Settings: d_max and margin α ≥ 0, which change only the value.
// Time O(n·r·d): the loss is linear in the distances and takes O(r) per anchor after the products; memory O(n·r).
// Source: Le & Odobez, "Theoretical guarantees of deep embedding losses under label noise" (000), Eq. 12; METHODS 4.3.
type unhingedTriplet struct {
	farthest, margin float64

	delta, slope []float64
}

var unhingedTripletEntry = Entry{
	Name:     "unhinged_triplet",
	Title:    "Unhinged triplet loss",
	Paper:    "Le & Odobez (000)",
	Equation: "Eq. 12",
	Formula:  "mean_{(a,p,n)} d_max + d_ap - d_an + α",
	Against:  Both,
	Settings: []Setting{
		largestDistance,
		{Name: "margin", Symbol: "α", Default: 0.2, Min: 0, Max: 4,
			Doc: "added to every term; changes the value, not the gradient"},
	},
	New: func(v Values, env Env) (Loss, error) {
		fn := &unhingedTriplet{farthest: v.Number("d_max"), margin: v.Number("margin")}
		return &similarity{chain{fn: fn, exact: true}}, nil
	},
}

func (l *unhingedTriplet) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	l.delta, l.slope = growSlice(l.delta, r), growSlice(l.slope, r)
	for i, y := range p.rows {
		l2.fillDistances(l.delta, nil, S[i*r:(i+1)*r])
		var near, far, pos, neg float64 // Σ d_ap, Σ d_an, |P|, |N|
		for j, c := range p.cols {
			if c != y {
				far += l.delta[j]
				neg++
			} else if p.areApart(i, j) {
				near += l.delta[j]
				pos++
			}
		}
		sum += pos*neg*(l.farthest+l.margin) + neg*near - pos*far
		terms += pos * neg
		if dS == nil {
			continue
		}
		d := dS[i*r : (i+1)*r]
		l2.distanceSlope(l.slope, l.delta)
		for j, c := range p.cols {
			switch {
			case c != y:
				d[j] = -pos * l.slope[j]
			case p.areApart(i, j):
				d[j] = neg * l.slope[j]
			default:
				d[j] = 0
			}
		}
	}
	return sum, terms
}
