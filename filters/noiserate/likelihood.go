package noiserate

import (
	"context"
	"math"

	"winnow/filters/leaveout"
)

// Calibration relates similarities to class probabilities under uniform noise. β is how sharply similarities separate
// classes, ρ is the share of wrong labels, and l_k are offsets of the classes.
//
//	P(k|x_i) = softmax_k(β s_ik + l_k),   P(y|x_i) = (1-ρ) P(y|x_i) + ρ (1 - P(y|x_i))/(C-1)
type Calibration struct {
	Beta, Rho float64
	Lean      []float64 // l_k; nil: zeros
}

const (
	sampleEntries = 1 << 22 // number of similarities used to find β and ρ
	leastRho      = 1e-4    // keeps the probability of a wrong label above 0
)

// MostOf returns the largest share of wrong labels that uniform noise can explain. With a larger share, the given label
// would be less likely right than any other label.
func MostOf(classes int) float64 { return math.Min(Most, 1-1/float64(max(classes, 2))) }

// Calibrate returns the calibration that maximises the likelihood of the given labels. Large sets are sampled.
func Calibrate(ctx context.Context, s *leaveout.Set) (Calibration, error) {
	c, _, err := calibrateSet(ctx, s)
	return c, err
}

// Explained returns how well similarities explain the given labels: the geometric mean of the labels' probabilities
// under the best calibration, 1/C by chance. It compares different vectors of the same images without true labels.
func Explained(ctx context.Context, s *leaveout.Set) (float64, error) {
	_, each, err := calibrateSet(ctx, s)
	return math.Exp(each), err
}

// calibrateSet returns the most likely calibration, and the mean log likelihood of a label.
func calibrateSet(ctx context.Context, s *leaveout.Set) (found Calibration, each float64, err error) {
	n, c := s.Z.Len(), len(s.Classes)
	step := max(1, n*c/sampleEntries)
	var rows []float32
	var labels []int
	err = s.Among(ctx, 0, n, step, func(_, y int, row []float64) {
		for _, t := range row {
			rows = append(rows, float32(t-row[y]))
		}
		labels = append(labels, y)
	})
	if err != nil {
		return Calibration{}, 0, err
	}
	p, row := make([]float64, len(labels)), make([]float64, c)
	fit := func(lean []float64) (Calibration, float64) {
		best, sum := Fit(1, 1000, 0.02, c, func(beta float64) []float64 {
			for i, y := range labels {
				if ctx.Err() != nil {
					break
				}
				for k, t := range rows[i*c : (i+1)*c] {
					row[k] = float64(t)
				}
				p[i] = Calibration{Beta: beta, Lean: lean}.givenProbability(y, row, row)
			}
			return p
		})
		best.Lean = lean
		return best, sum / float64(len(p))
	}
	images := make([]float64, c)
	for i, y := range s.Z.Labels {
		if s.Voice(i) == i {
			images[s.Column[y]]++
		}
	}
	FitLean(images, func(lean []float64) float64 {
		found, each = fit(lean)
		return each * float64(len(p))
	})
	return found, each, ctx.Err()
}

// leanings holds the values of γ to try, in this order, until the log likelihood of all labels rises by less than
// enough.
var leanings = []float64{0.25, 0.5, 1, 2, 4}

const enough = 2

// FitLean finds the offsets of the classes that maximise the log likelihood of all labels, which fit returns, and calls
// fit with these offsets last. There are none (nil) if classes have like sizes ([leaveout.Uneven]) or if none are
// better. The offsets are
//
//	l_k = γ log n_k
//
// for a class of n_k images. Wrong labels in a small class pull its centre towards the other classes, and γ moves the
// decision boundary back.
func FitLean(images []float64, fit func(lean []float64) (likelihood float64)) {
	most, lean := fit(nil), []float64(nil)
	if !leaveout.Uneven(images) {
		return
	}
	for _, gamma := range leanings {
		next := make([]float64, len(images))
		for k, n := range images {
			next[k] = gamma * math.Log(math.Max(n, 1))
		}
		v := fit(next)
		if v-most < enough {
			fit(lean)
			return
		}
		most, lean = v, next
	}
}

// Fit maximises the likelihood of labels over β, between least and most, and ρ:
//
//	Σ_i log[(1-ρ) p_i + ρ (1-p_i)/(C-1)],   p = at(β)
//
// by golden-section search over log β down to an interval of the given width; ρ is found for each β by expectation
// maximisation. Fit also returns the log likelihood.
func Fit(least, most, width float64, classes int, at func(beta float64) []float64) (c Calibration, likelihood float64) {
	logBeta, _ := findHighest(math.Log(least), math.Log(most), width, func(x float64) float64 {
		_, v := maximizeRho(at(math.Exp(x)), classes)
		return v
	})
	c.Beta = math.Exp(logBeta)
	c.Rho, likelihood = maximizeRho(at(c.Beta), classes)
	return c, likelihood
}

// findHighest finds the maximum of f, which rises and then falls between low and high, by golden-section search down to
// an interval of the given width.
func findHighest(low, high, width float64, f func(float64) float64) (x, most float64) {
	const golden = 0.6180339887498949
	a, b := high-golden*(high-low), low+golden*(high-low)
	fa, fb := f(a), f(b)
	for high-low > width {
		if fa >= fb {
			high, b, fb = b, a, fa
			a = high - golden*(high-low)
			fa = f(a)
		} else {
			low, a, fa = a, b, fb
			b = low + golden*(high-low)
			fb = f(b)
		}
	}
	if fa >= fb {
		return a, fa
	}
	return b, fb
}

// maximizeRho returns the ρ that maximises the likelihood of labels with probabilities p, and the log likelihood.
func maximizeRho(p []float64, classes int) (rho, likelihood float64) {
	others := float64(classes - 1)
	rho = 0.2
	for range 30 {
		var wrong float64
		for _, v := range p {
			a, b := (1-rho)*v, rho*(1-v)/others
			wrong += b / (a + b)
		}
		rho = math.Min(math.Max(wrong/float64(len(p)), leastRho), MostOf(classes))
	}
	return rho, likelihoodOf(rho, p, classes)
}

// likelihoodOf returns the log likelihood of labels with probabilities p.
func likelihoodOf(rho float64, p []float64, classes int) (sum float64) {
	for _, v := range p {
		sum += math.Log((1-rho)*v + rho*(1-v)/float64(classes-1))
	}
	return sum
}

// profileBounds returns the bounds of a 95 % interval: the values of ρ at which the log likelihood of labels with
// probabilities p is 1.92 below its maximum at rho. Unlike a bootstrap interval, it is not empty if rho is 0.
func profileBounds(rho float64, p []float64, classes int) (low, high float64) {
	const fall = 1.92
	least := likelihoodOf(rho, p, classes) - fall
	end := func(inside, outside float64) float64 {
		if likelihoodOf(outside, p, classes) >= least {
			return outside
		}
		for range 20 {
			if middle := (inside + outside) / 2; likelihoodOf(middle, p, classes) >= least {
				inside = middle
			} else {
				outside = middle
			}
		}
		return inside
	}
	return end(rho, 0), end(rho, MostOf(classes))
}

// Posterior turns similarities into the probability of each class, given the label y, and returns the log odds of y.
func (c Calibration) Posterior(row []float64, y int) float64 {
	other := math.Log(c.Rho / (1 - c.Rho) / float64(len(row)-1))
	rival := math.Inf(-1)
	for k := range row {
		row[k] *= c.Beta
		if c.Lean != nil {
			row[k] += c.Lean[k]
		}
		if k != y {
			row[k] += other
			rival = math.Max(rival, row[k])
		}
	}
	var rivals float64
	for k, l := range row {
		if k != y {
			rivals += math.Exp(l - rival)
		}
	}
	odds := row[y] - rival - math.Log(rivals)
	top := math.Max(row[y], rival)
	sum := math.Exp(row[y]-top) + math.Exp(rival-top)*rivals
	for k, l := range row {
		row[k] = math.Exp(l-top) / sum
	}
	return odds
}
