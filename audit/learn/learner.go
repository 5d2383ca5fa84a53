package learn

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Learner learns from decisions about the images of one audit.
type Learner struct {
	base  *base
	model *regression
	near  *kernel
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
	if l.near == nil || !l.near.continuesLessons(taught) {
		l.near = newKernel(b)
	}
	l.near.addLessons(taught)
	l.model.fitLessons(taught, l.near)
	s.Trust = weighExperts(decisions, s.outcomes)
	for i := range n {
		s.audited[i] = line.evaluateLine(b.odds[i])
	}
	l.model.predictLogOdds(s.learned, l.near)
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

// kernel holds for each image sums over the settled images near it.
type kernel struct {
	base    *base
	taught  []lesson
	all     []float64 // Σ k·(y - p)
	allSum  []float64 // Σ k
	same    []float64 // the same over images with the same given class
	sameSum []float64
	agree   []float64 // Σ k·[true = given]
	deny    []float64 // Σ k·[true ≠ given]
	sims    []float32
}

func newKernel(b *base) *kernel {
	n := b.Len()
	list := func() []float64 { return make([]float64, n) }
	return &kernel{base: b, all: list(), allSum: list(), same: list(), sameSum: list(), agree: list(), deny: list()}
}

// continuesLessons reports whether the lessons start with the lessons that were already added.
func (k *kernel) continuesLessons(taught []lesson) bool {
	return len(taught) >= len(k.taught) && slices.Equal(taught[:len(k.taught)], k.taught)
}

// addLessons adds the new lessons with a separate matrix product for each. The last bits of a product depend on the
// matrix shapes, and the state must not depend on how many decisions arrive together. A lesson takes O(n) dot products.
func (k *kernel) addLessons(taught []lesson) {
	b := k.base
	fresh := taught[len(k.taught):]
	n := b.z.Rows
	if n > 0 {
		k.sims = features.Grow(k.sims, n)
		s := blas32.General{Rows: 1, Cols: n, Stride: n, Data: k.sims}
		for _, t := range fresh {
			if t.image >= n {
				continue
			}
			q := blas32.General{Rows: 1, Cols: b.z.Cols, Stride: b.z.Cols, Data: features.Row(b.z, t.image)}
			blas32.Gemm(blas.NoTrans, blas.Trans, 1, q, b.z, 0, s)
			k.addOne(t, features.Row(s, 0))
		}
	}
	k.taught = append(k.taught, fresh...)
}

func (k *kernel) addOne(t lesson, sims []float32) {
	b := k.base
	far := float32(1 - 8*b.width)
	for i, s := range sims {
		if s < far || i == t.image {
			continue
		}
		k.putLesson(i, t, math.Exp((float64(s)-1)/b.width))
	}
}

// putLesson adds a lesson with weight w to the sums for image i.
func (k *kernel) putLesson(i int, t lesson, w float64) {
	b := k.base
	r := w * (t.wrong - invertLogit(b.odds[t.image]))
	k.all[i] += r
	k.allSum[i] += w
	if b.Given[i] == b.Given[t.image] {
		k.same[i] += r
		k.sameSum[i] += w
	}
	switch {
	case t.label == b.Given[i]:
		k.agree[i] += w
	case t.label != None || b.Given[t.image] == b.Given[i]:
		k.deny[i] += w
	}
}

// learnt is the number of features computed by the kernel.
const learnt = 3

// writeKernelFeatures writes the features of image i that summarise the decisions about nearby images.
func (k *kernel) writeKernelFeatures(to []float64, i int) {
	to[0] = 2 * k.all[i] / (k.allSum[i] + 1)
	to[1] = 2 * k.same[i] / (k.sameSum[i] + 1)
	to[2] = math.Log((k.deny[i] + 0.5) / (k.agree[i] + 0.5))
}
