package judges

import (
	"math"
	"slices"
)

// channel is how labels go wrong, P(y|k) for the label y that an image of class k is given, and how sharply fits tell
// classes apart:
//
//	P(k|x_i) = softmax_k(β t_ik)
//	P(y|k) = (n_ky + a π_ky)/(n_k + a),   π_ky = 1 - ρ if y = k, else ρ/(C - 1)
//
// n_ky is how many images of class k have the label y, in expectation, and a what π counts for beside them: a Dirichlet
// prior. With a = ∞ mistakes go to all classes alike. With few, mistakes that are made again and again stand out: many
// images that look like class k are called y, few the other way.
type channel struct {
	beta, rho float64
	prior     float64   // a
	n         []float64 // n_ky by slot
	of        []float64 // n_k
}

// slots number the pairs of a given label and a candidate column that occur, so that n_ky needs no C² numbers.
type slots struct {
	of    []int32 // by image and candidate
	count int
}

func (f *field) slots() slots {
	s := slots{of: make([]int32, f.n*f.m)}
	members := make([][]int32, f.classes)
	for i := range f.n {
		y := f.column[i*f.m+int(f.given[i])]
		members[y] = append(members[y], int32(i))
	}
	number, seen := make([]int32, f.classes), make([]int32, f.classes)
	for y, list := range members {
		for _, i := range list {
			for j := range f.m {
				k := f.column[int(i)*f.m+j]
				if seen[k] != int32(y)+1 {
					seen[k], number[k] = int32(y)+1, int32(s.count)
					s.count++
				}
				s.of[int(i)*f.m+j] = number[k]
			}
		}
	}
	return s
}

// turns of expectation maximisation.
const turns = 12

// learner finds channels for a field, a fold left out at a time.
type learner struct {
	f     *field
	slots slots
	folds []int
	count int // of folds
	p     []float32
	rest  []float32
	beta  float64 // p and rest are for this
}

func newLearner(f *field, folds []int, count int) *learner {
	return &learner{f: f, slots: f.slots(), folds: folds, count: count, p: make([]float32, f.n*f.m), rest: make([]float32, f.n)}
}

// sharpen makes p those of β.
func (l *learner) sharpen(beta float64) {
	if l.beta != beta {
		l.f.soften(beta, l.p, l.rest)
		l.beta = beta
	}
}

// each calls do with the images of a fold, or with those of the others.
func (l *learner) each(fold int, others bool, do func(i int)) {
	for i, f := range l.folds {
		if (f == fold) != others {
			do(i)
		}
	}
}

// without learns the channel for β and a from the images of the other folds, by expectation maximisation.
func (l *learner) without(fold int, beta, prior float64) channel {
	l.sharpen(beta)
	c := channel{beta: beta, rho: 0.2, prior: prior}
	if math.IsInf(prior, 1) {
		c.n, c.of = nil, nil
	} else {
		c.n, c.of = make([]float64, l.slots.count), make([]float64, l.f.classes)
	}
	next, of := make([]float64, len(c.n)), make([]float64, len(c.of))
	r := make([]float64, l.f.m)
	for turn := range turns {
		clear(next)
		clear(of)
		var right, images float64
		use := c
		if turn == 0 {
			use.prior = math.Inf(1) // nothing is counted yet
		}
		l.each(fold, true, func(i int) {
			rest := use.share(l, i, r)
			total := rest
			for _, v := range r {
				total += v
			}
			if !(total > 0) {
				return
			}
			images++
			right += r[l.f.given[i]] / total
			if len(next) == 0 {
				return
			}
			for j, v := range r {
				next[l.slots.of[i*l.f.m+j]] += v / total
				of[l.f.column[i*l.f.m+j]] += v / total
			}
		})
		c.rho = math.Min(math.Max(1-right/math.Max(images, 1), leastRho), mostRho)
		c.n, next = next, c.n
		c.of, of = of, c.of
	}
	return c
}

// share fills r with P(k|x_i) P(y_i|k) for the candidates k of image i, and returns that of all other classes.
func (c channel) share(l *learner, i int, r []float64) (rest float64) {
	f := l.f
	other := c.rho / float64(f.classes-1)
	p, column, slot := l.p[i*f.m:][:f.m], f.column[i*f.m:][:f.m], l.slots.of[i*f.m:][:f.m]
	if math.IsInf(c.prior, 1) {
		for j, v := range p {
			r[j] = float64(v) * other
		}
		at := f.given[i]
		r[at] = float64(p[at]) * (1 - c.rho)
		return float64(l.rest[i]) * other
	}
	for j, v := range p {
		pi := other
		if j == int(f.given[i]) {
			pi = 1 - c.rho
		}
		r[j] = float64(v) * (c.n[slot[j]] + c.prior*pi) / (c.of[column[j]] + c.prior)
	}
	return float64(l.rest[i]) * other * c.prior / (float64(f.n)/float64(f.classes) + c.prior)
}

// likelihood is the mean log-probability of the given labels, each fold's by the channel of the others.
func (l *learner) likelihood(beta, prior float64) float64 {
	var sum float64
	r := make([]float64, l.f.m)
	for fold := range l.count {
		c := l.without(fold, beta, prior)
		l.each(fold, false, func(i int) {
			total := c.share(l, i, r)
			for _, v := range r {
				total += v
			}
			sum += math.Log(math.Max(total, 1e-300))
		})
	}
	return sum / float64(l.f.n)
}

// priors are what is tried for a.
var priors = []float64{math.Inf(1), 1000, 300, 100, 30, 10, 3}

// choose finds β and a under which the given labels are likeliest out of sample.
func (l *learner) choose() (beta, prior, likelihood float64) {
	prior = math.Inf(1)
	beta, likelihood = l.sharpest(prior)
	for range 2 {
		best := prior
		for _, a := range priors {
			if v := l.likelihood(beta, a); v > likelihood {
				best, likelihood = a, v
			}
		}
		if best == prior {
			break
		}
		prior = best
		beta, likelihood = l.sharpest(prior)
	}
	return beta, prior, likelihood
}

// sharpest finds β for a by a golden section over its logarithm.
func (l *learner) sharpest(prior float64) (beta, likelihood float64) {
	const golden = 0.6180339887498949
	low, high := math.Log(2), math.Log(300)
	a, b := high-golden*(high-low), low+golden*(high-low)
	fa, fb := l.likelihood(math.Exp(a), prior), l.likelihood(math.Exp(b), prior)
	for high-low > 0.1 {
		if fa >= fb {
			high, b, fb = b, a, fa
			a = high - golden*(high-low)
			fa = l.likelihood(math.Exp(a), prior)
		} else {
			low, a, fa = a, b, fb
			b = low + golden*(high-low)
			fb = l.likelihood(math.Exp(b), prior)
		}
	}
	if fa >= fb {
		return math.Exp(a), fa
	}
	return math.Exp(b), fb
}

// conclude calls do for every image with the log odds that its label is right, and the probability of each candidate.
func (l *learner) conclude(beta, prior float64, do func(i int, odds float64, r []float64)) {
	r := make([]float64, l.f.m)
	for fold := range l.count {
		c := l.without(fold, beta, prior)
		l.each(fold, false, func(i int) {
			rest := c.share(l, i, r)
			rivals := rest
			for j, v := range r {
				if j != int(l.f.given[i]) {
					rivals += v
				}
			}
			own := r[l.f.given[i]]
			odds := math.Log(math.Max(own, 1e-300)) - math.Log(math.Max(rivals, 1e-300))
			for j := range r {
				r[j] /= own + rivals
			}
			do(i, odds, r)
		})
	}
}

var _ = slices.Max[[]int]
