package judges

import (
	"context"
	"math"

	"winnow/filters/noiserate"
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
	setting
	rho float64
	n   []float64 // n_ky by slot
	of  []float64 // n_k
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

const (
	turns    = 8    // of expectation maximisation
	leastRho = 1e-4 // no label is beyond doubt
)

// learner finds channels for a field, a fold left out at a time. What it finds after ctx has ended means nothing.
type learner struct {
	ctx   context.Context
	f     *field
	slots slots
	folds []int
	count int // of folds
	p     []float32
	rest  []float32
	beta  float64 // p and rest are for this
}

func newLearner(ctx context.Context, f *field, folds []int, count int) *learner {
	return &learner{ctx: ctx, f: f, folds: folds, count: count, p: make([]float32, f.n*f.m), rest: make([]float32, f.n)}
}

// sharpen makes p those of β.
func (l *learner) sharpen(beta float64) {
	if l.beta != beta && l.ctx.Err() == nil {
		l.f.soften(beta, l.p, l.rest)
		l.beta = beta
	}
}

// each calls do with the images of a fold, or with those of the others.
func (l *learner) each(fold int, others bool, do func(i int)) {
	if l.ctx.Err() != nil {
		return
	}
	for i, f := range l.folds {
		if (f == fold) != others {
			do(i)
		}
	}
}

// setting is what is chosen by likelihood: β and a.
type setting struct{ beta, prior float64 }

// without learns the channel from the images of the other folds, by expectation maximisation.
func (l *learner) without(fold int, set setting) channel {
	l.sharpen(set.beta)
	c := channel{setting: set, rho: 0.2}
	if !math.IsInf(set.prior, 1) {
		if l.slots.of == nil {
			l.slots = l.f.slots()
		}
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
		c.rho = math.Min(math.Max(1-right/math.Max(images, 1), leastRho), noiserate.MostOf(l.f.classes))
		c.n, next = next, c.n
		c.of, of = of, c.of
	}
	return c
}

// share fills r with P(k|x_i) P(y_i|k) for the candidates k of image i, and returns that of all other classes.
func (c channel) share(l *learner, i int, r []float64) (rest float64) {
	f := l.f
	other := c.rho / float64(f.classes-1)
	p := l.p[i*f.m:][:f.m]
	if math.IsInf(c.prior, 1) {
		for j, v := range p {
			r[j] = float64(v) * other
		}
		at := f.given[i]
		r[at] = float64(p[at]) * (1 - c.rho)
		return float64(l.rest[i]) * other
	}
	column, slot := f.column[i*f.m:][:f.m], l.slots.of[i*f.m:][:f.m]
	for j, v := range p {
		pi := other
		if j == int(f.given[i]) {
			pi = 1 - c.rho
		}
		r[j] = float64(v) * (c.n[slot[j]] + c.prior*pi) / (c.of[column[j]] + c.prior)
	}
	return float64(l.rest[i]) * other * c.prior / (float64(f.n)/float64(f.classes) + c.prior)
}

// likelihood returns the mean log probability of the given labels, each fold's by the channel of the others.
func (l *learner) likelihood(set setting) float64 {
	var sum float64
	l.posteriors(set, func(i int, r []float64, rest float64) {
		for _, v := range r {
			rest += v
		}
		sum += math.Log(math.Max(rest, 1e-300))
	})
	return sum / float64(l.f.n)
}

// posteriors calls do for every image with P(k|x_i) P(y_i|k) of each candidate k and of all other classes, by the
// channel of the other folds.
func (l *learner) posteriors(set setting, do func(i int, r []float64, rest float64)) {
	r := make([]float64, l.f.m)
	for fold := range l.count {
		c := l.without(fold, set)
		l.each(fold, false, func(i int) { do(i, r, c.share(l, i, r)) })
	}
}

// sharpest finds β where mistakes go to all classes alike. That ρ is of all images, one number, flatters none.
func (l *learner) sharpest() (set setting, likelihood float64) {
	own := make([]float64, l.f.n)
	c, v := noiserate.Fit(2, 300, 0.1, l.f.classes, func(beta float64) []float64 {
		l.sharpen(beta)
		for i := range own {
			own[i] = float64(l.p[i*l.f.m+int(l.f.given[i])])
		}
		return own
	})
	return setting{c.Beta, math.Inf(1)}, v / float64(l.f.n)
}

var (
	// priors and sharper are what is tried for a, and for β as a multiple of what it is without a channel: what is a
	// mistake need not be a doubt.
	priors  = []float64{1000, 100, 30, 10, 3}
	sharper = []float64{1, 1.4, 2}
)

// choose finds the channel under which the given labels are likeliest out of sample, from the setting without one, of
// the likelihood that is given with it.
func (l *learner) choose(plain setting, without float64) (best setting, likelihood float64) {
	best, likelihood = plain, without
	for _, factor := range sharper {
		before, last := likelihood, math.Inf(-1)
		for _, a := range priors {
			set := setting{plain.beta * factor, a}
			v := l.likelihood(set)
			if v > likelihood {
				best, likelihood = set, v
			}
			if v < last {
				break
			}
			last = v
		}
		if factor > 1 && likelihood == before {
			break
		}
	}
	return best, likelihood
}
