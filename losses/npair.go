package losses

import (
	"math"

	"winnow/features"
)

// nPair separates the classes of a batch using one pair per class.
//
//	L = 1/m Σ_a -log e^{s_aa} / Σ_b e^{s_ab} + λ/m Σ_a (‖z_a‖² + ‖z_{p_a}‖²),   s_ab = z_a·z_{p_b}
//
// The m classes are those with two rows of different images; a is the class's first row, p_a its next row of another
// image. Against a bank p_a is the bank's first member of the class, and there is no penalty. Setting: l2 λ ≥ 0.
// Without such a class the loss is 0; with one, it is only the penalty. The original takes unnormalised vectors, where
// λ (0.02 in common code) keeps their lengths small. On the unit rows of a batch the penalty is the constant 2λ. Its
// gradient is along the row, and the head's normalisation removes it: λ changes the value but does not affect training.
// Time O(n²·d) for the products (of all rows, so that one matrix holds all anchors), memory O(n·r).
// Source: Sohn, "Improved deep metric learning with multi-class N-pair loss objective", NIPS 2016, Eq. 5 (the
// N-pair-mc loss); future work of 000. METHODS 3.8, after pytorch-metric-learning.
type nPair struct {
	l2 float64

	anchors, positives []int32   // rows and columns of the pairs
	place              []int32   // by class: 1 + its position in anchors, or 0 if it has no pair
	e                  []float64 // exponentials of one anchor
}

var nPairEntry = Entry{
	Name:     "n_pair",
	Title:    "N-pair loss",
	Paper:    "Sohn 2016; Le & Odobez (000)",
	Equation: "Eq. 5 of Sohn; future work of 000",
	Formula:  "1/m Σ_a -log softmax_b(z_a·z_{p_b})[a], one pair (a, p_a) a class",
	Against:  Both,
	Settings: []Setting{
		{Name: "l2", Symbol: "λ", Default: 0.0, Min: 0, Max: 10,
			Doc: "weight of the squared lengths; a constant without effect on training if rows have unit length"},
	},
	New: func(v Values, env Env) (Loss, error) {
		return &similarity{chain{fn: &nPair{l2: v.Number("l2")}, whole: true}}, nil
	},
}

func (l *nPair) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	clear(dS)
	l.choosePairs(p)
	r, m := len(p.cols), len(l.anchors)
	l.e = growSlice(l.e, m)
	for k, a := range l.anchors {
		s := S[int(a)*r : int(a+1)*r]
		top := math.Inf(-1)
		for b, j := range l.positives {
			l.e[b] = s[j]
			top = max(top, s[j])
		}
		own := l.e[k]
		total := features.ExpSlice(l.e, l.e, 1, -top)
		sum += math.Log(total) + top - own
		if dS == nil {
			continue
		}
		d := dS[int(a)*r : int(a+1)*r]
		for b, j := range l.positives {
			d[j] = l.e[b] / total
		}
		d[l.positives[k]]--
	}
	if l.l2 > 0 && p.self {
		sum += l.lengthPenalty(dS, S, r)
	}
	return sum, float64(m)
}

// choosePairs chooses the pairs: the first row of each class with the first column that is a positive of it.
func (l *nPair) choosePairs(p *pairs) {
	classes := 0
	for _, y := range p.rows {
		classes = max(classes, y+1)
	}
	l.place = growSlice(l.place, classes)
	clear(l.place)
	l.anchors, l.positives = l.anchors[:0], l.positives[:0]
	for i, y := range p.rows {
		if l.place[y] == 0 {
			l.anchors, l.positives = append(l.anchors, int32(i)), append(l.positives, -1)
			l.place[y] = int32(len(l.anchors))
		}
	}
	for j, y := range p.cols {
		if y >= classes || l.place[y] == 0 {
			continue
		}
		if k := l.place[y] - 1; l.positives[k] < 0 && p.areApart(int(l.anchors[k]), j) {
			l.positives[k] = int32(j)
		}
	}
	m := 0
	for k, j := range l.positives {
		if j >= 0 {
			l.anchors[m], l.positives[m] = l.anchors[k], j
			m++
		}
	}
	l.anchors, l.positives = l.anchors[:m], l.positives[:m]
}

// lengthPenalty returns the penalty; ‖z_i‖² is the similarity of row i with itself.
func (l *nPair) lengthPenalty(dS, S []float64, r int) float64 {
	var sum float64
	for _, rows := range [2][]int32{l.anchors, l.positives} {
		for _, i := range rows {
			k := int(i) * (r + 1)
			sum += l.l2 * S[k]
			if dS != nil {
				dS[k] = l.l2
			}
		}
	}
	return sum
}
