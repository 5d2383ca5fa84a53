package learn

import (
	"context"
	"math"
)

// Learner learns from decisions about the images of one audit.
type Learner struct {
	base  *base
	model *regression
	known *experience
}

// New returns a learner for the given evidence. It takes O(n·d·min(n, d)) time for principal components and O(n·min(n,
// 20000)) products of vectors for neighbours.
func New(ctx context.Context, e Evidence) (*Learner, error) {
	if err := e.checkEvidence(); err != nil {
		return nil, err
	}
	b, err := prepareBase(ctx, e)
	if err != nil {
		return nil, err
	}
	return &Learner{base: b, model: newRegression(b)}, nil
}

// State holds the predictions after the decisions so far. Its lists have an entry for each image. Do not modify them.
type State struct {
	// Wrong is the probability that the given label is wrong; 0 or 1 if reviewers settled the label.
	Wrong []float64
	// Settled is the reviewers' verdict; Unsure if they have not decided or disagree.
	Settled []Verdict
	// Suggested is the class that reviewers chose, or the likeliest class; the given class if no other is likelier.
	Suggested []int
	// Trust is the weight of the expert that learns from decisions, 0 to 1. The rest is the weight of the audit's list.
	Trust float64

	base             *base
	audited, learned []float64
	outcomes         map[int]*outcome
}

// Learn returns the state after the given decisions, in their order.
func (l *Learner) Learn(decisions []Decision) *State {
	b := l.base
	n := b.Len()
	s := &State{
		Wrong: make([]float64, n), Settled: make([]Verdict, n), Suggested: make([]int, n), base: b,
		audited: make([]float64, n), learned: make([]float64, n),
	}
	var order []int
	s.outcomes, order = sumOutcomes(decisions, n)
	var taught []lesson
	for _, i := range order {
		o := s.outcomes[i]
		s.Settled[i] = o.verdict
		switch o.verdict {
		case Wrong:
			taught = append(taught, lesson{i, 1, o.label})
		case Right:
			taught = append(taught, lesson{i, 0, b.Given[i]})
		}
	}
	line := fitLine(b.odds, taught)
	if l.known == nil || !l.known.continuesLessons(taught) {
		l.known = newExperience(b)
	}
	l.known.addLessons(taught)
	l.model.fitLessons(taught, l.known)
	s.Trust = weighExperts(decisions, s.outcomes)
	for i := range n {
		s.audited[i] = line.evaluateLine(b.odds[i])
	}
	l.model.predictLogOdds(s.learned, l.known)
	for i := range n {
		switch s.Settled[i] {
		case Wrong:
			s.Wrong[i] = 1
		case Right:
		default:
			s.Wrong[i] = invertLogit(s.Trust*s.learned[i] + (1-s.Trust)*s.audited[i])
		}
		s.Suggested[i] = s.findLikeliestClass(i)
	}
	return s
}

// findLikeliestClass returns the likeliest class of an image.
func (s *State) findLikeliestClass(i int) int {
	b := s.base
	o := s.outcomes[i]
	switch {
	case s.Settled[i] == Right:
		return b.Given[i]
	case s.Settled[i] == Wrong && o.label != None:
		return o.label
	case s.Wrong[i] < 0.5:
		return b.Given[i]
	case b.Suggested[i] != b.Given[i]:
		return b.Suggested[i]
	}
	return b.other[i]
}

// weighExperts returns the weight of the expert that learns, by how well each expert predicted the decisions before
// they were made.
func weighExperts(decisions []Decision, by map[int]*outcome) float64 {
	gain, seen := 0.0, map[int]bool{}
	for i := range decisions {
		d := &decisions[i]
		o := by[d.Image]
		if o == nil || o.verdict == Unsure || seen[d.Image] || d.audited == d.learned {
			continue
		}
		seen[d.Image] = true
		loss := func(v float64) float64 {
			if o.verdict == Wrong {
				v = -v
			}
			return math.Max(v, 0) + math.Log1p(math.Exp(-math.Abs(v)))
		}
		gain += loss(d.audited) - loss(d.learned)
	}
	return invertLogit(min(max(gain, -30), 30))
}

// lesson is an image whose label is settled.
type lesson struct {
	image int
	wrong float64 // 1 or 0
	label int     // the right class; None: unknown
}

// line is the expert that follows the audit's list: log odds a + b·s, b > 0.
type line struct{ a, b float64 }

func (l line) evaluateLine(s float64) float64 { return l.a + l.b*s }

// fitLine fits the line by Newton's method, with the prior a ~ N(0, 2²), log b ~ N(0, ½²).
func fitLine(odds []float64, taught []lesson) line {
	a, c := 0.0, 0.0 // b = e^c
	for range 30 {
		b := math.Exp(c)
		ga, gc := a/4, c*4
		haa, hac, hcc := 0.25, 0.0, 4.0
		for _, t := range taught {
			x := b * odds[t.image]
			p := invertLogit(a + x)
			r, w := p-t.wrong, p*(1-p)
			ga += r
			gc += r * x
			haa += w
			hac += w * x
			hcc += w * x * x
		}
		det := haa*hcc - hac*hac
		if det <= 0 {
			break
		}
		da, dc := (hcc*ga-hac*gc)/det, (haa*gc-hac*ga)/det
		da, dc = min(max(da, -1), 1), min(max(dc, -0.5), 0.5)
		a, c = a-da, min(max(c-dc, -3), 2)
		if math.Abs(da)+math.Abs(dc) < 1e-9 {
			break
		}
	}
	return line{a, math.Exp(c)}
}
