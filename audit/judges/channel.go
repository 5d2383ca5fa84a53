package judges

import (
	"context"
	"math"
	"sync"

	"gonum.org/v1/gonum/floats"

	"winnow/filters/noiserate"
)

// channel models which labels are given by mistake, P(y|k) for the given label y of an image of class k, and the
// sharpness β of similarities:
//
//	P(k|x_i) = softmax_k(β t_ik)
//	P(y|k) = (n_ky + a π_ky)/(n_k + a),   π_ky = 1 - ρ if y = k, else ρ/(C - 1)
//
// n_ky is the expected number of images of class k with the label y, n_k its sum over y, and a the weight of π, a
// Dirichlet prior. With a = ∞, noise is uniform. With a small a, repeated mistakes stand out: many images that look
// like class k have the label y, but few images of class y have the label k.
type channel struct {
	setting
	rho   float64
	given []float64 // P(y|k) by slot; nil if a = ∞
}

// slots numbers the pairs of given label and candidate column that occur, to avoid a C×C matrix for n_ky.
type slots struct {
	of     []int32 // number of the pair, by image and candidate
	column []int32 // k of each pair
	right  []int32 // numbers of the pairs with y = k
}

func (f *field) newSlots() slots {
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
					seen[k], number[k] = int32(y)+1, int32(len(s.column))
					if int(k) == y {
						s.right = append(s.right, number[k])
					}
					s.column = append(s.column, k)
				}
				s.of[int(i)*f.m+j] = number[k]
			}
		}
	}
	return s
}

const (
	turns    = 8    // steps of expectation maximisation
	atOnce   = 2    // folds fitted concurrently: each needs memory for all slots
	leastRho = 1e-4 // keeps the probability of a wrong label above 0
)

// learner fits channels to a field, leaving out one fold at a time. Its results are invalid after ctx has ended.
type learner struct {
	ctx   context.Context
	f     *field
	slots slots
	folds []int     // fold of each image
	count int       // number of folds
	p     []float32 // n×m: P(k|x_i) of the candidates
	rest  []float32 // n: probability of all other classes
	beta  float64   // β for which p and rest were computed
	lean  []float64 // offset of each class in softenField
}

func newLearner(ctx context.Context, f *field, folds []int, count int) *learner {
	return &learner{ctx: ctx, f: f, folds: folds, count: count, p: make([]float32, f.n*f.m), rest: make([]float32, f.n)}
}

// sharpenTo computes p and rest for sharpness β.
func (l *learner) sharpenTo(beta float64) {
	if l.beta != beta && l.ctx.Err() == nil {
		l.f.softenField(beta, l.lean, l.p, l.rest)
		l.beta = beta
	}
}

// visitFold calls do with the images of a fold or, with others, with the images of all other folds.
func (l *learner) visitFold(fold int, others bool, do func(i int)) {
	if l.ctx.Err() != nil {
		return
	}
	for i, f := range l.folds {
		if (f == fold) != others {
			do(i)
		}
	}
}

// setting holds the parameters chosen by likelihood: β and a.
type setting struct{ beta, prior float64 }

// fitWithout fits the channel to the images of the other folds by expectation maximisation. Call prepareFolds first.
func (l *learner) fitWithout(fold int, set setting) channel {
	c := channel{setting: set, rho: 0.2}
	var n, of []float64 // n_ky by slot, n_k
	if !math.IsInf(set.prior, 1) {
		n, of = make([]float64, len(l.slots.column)), make([]float64, l.f.classes)
	}
	r := make([]float64, l.f.m)
	for range turns {
		clear(n)
		var right, images float64
		l.visitFold(fold, true, func(i int) {
			_, total := c.fillShares(l, i, r)
			if !(total > 0) {
				return
			}
			images++
			right += r[l.f.given[i]] / total
			if n == nil {
				return
			}
			share := 1 / total
			for j, slot := range l.slots.of[i*l.f.m:][:len(r)] {
				n[slot] += r[j] * share
			}
		})
		c.rho = math.Min(math.Max(1-right/math.Max(images, 1), leastRho), noiserate.MostOf(l.f.classes))
		if n != nil {
			c.countChannel(l.slots, n, of)
		}
	}
	return c
}

// countChannel computes P(y|k) of every pair from n_ky; of is scratch for n_k.
func (c *channel) countChannel(s slots, n, of []float64) {
	clear(of)
	for slot, k := range s.column {
		of[k] += n[slot]
	}
	if c.given == nil {
		c.given = make([]float64, len(n))
	}
	other := c.rho / float64(len(of)-1)
	for slot, k := range s.column {
		c.given[slot] = (n[slot] + c.prior*other) / (of[k] + c.prior)
	}
	for _, slot := range s.right {
		c.given[slot] = (n[slot] + c.prior*(1-c.rho)) / (of[s.column[slot]] + c.prior)
	}
}

// fillShares fills r with P(k|x_i) P(y_i|k) for the candidates k of image i. It returns the sum of this product over
// all classes that are not candidates, and over all classes.
func (c channel) fillShares(l *learner, i int, r []float64) (rest, total float64) {
	f := l.f
	other := c.rho / float64(f.classes-1)
	p := l.p[i*f.m:][:len(r)]
	rest = float64(l.rest[i]) * other
	if c.given == nil {
		for j, v := range p {
			r[j] = float64(v) * other
		}
		at := f.given[i]
		r[at] = float64(p[at]) * (1 - c.rho)
	} else {
		for j, slot := range l.slots.of[i*f.m:][:len(r)] {
			r[j] = float64(p[j]) * c.given[slot]
		}
		rest *= c.prior / (float64(f.n)/float64(f.classes) + c.prior)
	}
	return rest, rest + floats.Sum(r)
}

// computeMeanLog returns the mean log probability of the given labels, by the channels fitted to the other folds.
func (l *learner) computeMeanLog(set setting) float64 {
	var sum float64
	l.visitPosteriors(set, func(_ int, _ []float64, _, total float64) { sum += math.Log(math.Max(total, 1e-300)) })
	return sum / float64(l.f.n)
}

// visitPosteriors calls do for every image i with r[j] = P(k|x_i) P(y_i|k) for each candidate k, with the sum of this
// product over all other classes, and with its sum over all classes. The channel is fitted to the other folds.
func (l *learner) visitPosteriors(set setting, do func(i int, r []float64, rest, total float64)) {
	l.prepareFolds(set)
	r := make([]float64, l.f.m)
	for from := 0; from < l.count; from += atOnce {
		channels := make([]channel, min(atOnce, l.count-from))
		var all sync.WaitGroup
		for at := range channels {
			all.Go(func() { channels[at] = l.fitWithout(from+at, set) })
		}
		all.Wait()
		for at, c := range channels {
			l.visitFold(from+at, false, func(i int) {
				rest, total := c.fillShares(l, i, r)
				do(i, r, rest, total)
			})
		}
	}
}

// prepareFolds computes the probabilities and slots that fitWithout reads.
func (l *learner) prepareFolds(set setting) {
	l.sharpenTo(set.beta)
	if l.slots.of == nil && !math.IsInf(set.prior, 1) {
		l.slots = l.f.newSlots()
	}
}

// sharpest fits β under uniform noise, with the offsets of the classes by [noiserate.FitLean]. ρ is a single number for
// all images, so no fold needs to be left out.
func (l *learner) sharpest() (set setting, likelihood float64) {
	noiserate.FitLean(l.f.countImages(), func(lean []float64) float64 {
		set, likelihood = l.fitSharpness(lean)
		return likelihood * float64(l.f.n)
	})
	return set, likelihood
}

// fitSharpness fits β with the given offset of each class (nil: none).
func (l *learner) fitSharpness(lean []float64) (set setting, likelihood float64) {
	l.lean, l.beta = lean, 0
	own := make([]float64, l.f.n)
	c, v := noiserate.Fit(2, 300, 0.1, l.f.classes, func(beta float64) []float64 {
		l.sharpenTo(beta)
		for i := range own {
			own[i] = float64(l.p[i*l.f.m+int(l.f.given[i])])
		}
		return own
	})
	return setting{c.Beta, math.Inf(1)}, v / float64(l.f.n)
}

var (
	// priors holds the values to try for a. sharper holds the values to try for β, as multiples of its value without a
	// channel: that fit treats repeated mistakes as uncertainty, so its β is too small.
	priors  = []float64{1000, 100, 30, 10, 3}
	sharper = []float64{1, 1.4, 2}
)

// chooseChannel finds the channel that maximises the likelihood of the given labels out of sample. It starts from the
// best setting without a channel and the likelihood of that setting.
func (l *learner) chooseChannel(plain setting, without float64) (best setting, likelihood float64) {
	best, likelihood = plain, without
	for _, factor := range sharper {
		before, last := likelihood, math.Inf(-1)
		for _, a := range priors {
			set := setting{plain.beta * factor, a}
			v := l.computeMeanLog(set)
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
