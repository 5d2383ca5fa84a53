package eval

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// lbfgs minimises a smooth convex function whose values are slightly noisy, like sums over float32 products. It
// accepts a step if the slope along it has become flat enough, instead of requiring a fall in value that the
// noise would hide (the approximate Wolfe conditions). That is why it is our own: the line searches of
// gonum/optimize give up there.
//
// Sources: Nocedal, Updating Quasi-Newton Matrices with Limited Storage, 1980 (the two-loop recursion, here
// over the last `memory` steps); Hager and Zhang, SIAM J. Optim. 2005, eq. 27 (the conditions).
type lbfgs struct {
	limit     int     // largest number of steps
	tolerance float64 // done when no entry of the gradient is larger than this fraction of the largest one at the start
	steps     []secant
}

// secant is one step and the change of the gradient along it.
type secant struct {
	dx, dg []float64
	rho    float64 // 1/(dx·dg)
}

const (
	lbfgsMemory = 10
	patience    = 40   // stop after this many steps without a fall in value or gradient: the rest is noise
	armijo      = 0.1  // δ
	flat        = 0.9  // σ
	noise       = 1e-6 // relative to |value|: how far a step may raise it
)

// minimiseValue changes x. f writes the gradient at x and returns the value, or an error that stops the search.
// minimise returns the value, the largest entry of the gradient, the number of steps, and whether the gradient
// is within the tolerance. If it is not, the limit of steps was reached or only noise was left.
func (l *lbfgs) minimiseValue(
	x []float64, f func(x, grad []float64) (float64, error),
) (value, slope float64, steps int, done bool, err error) {
	grad, next, nextGrad, dir := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x)),
		make([]float64, len(x))
	if value, err = f(x, grad); err != nil {
		return value, 0, 0, false, err
	}
	enough := l.tolerance * floats.Norm(grad, math.Inf(1))
	// best value and gradient, and the number of steps without a better one
	lowest, flattest, since := math.Inf(1), math.Inf(1), 0
	for {
		slope = floats.Norm(grad, math.Inf(1))
		if math.IsNaN(value) || floats.HasNaN(grad) {
			return value, slope, steps, false, fmt.Errorf("step %d: the function is %v, its gradient up to %v", steps,
				value, slope)
		}
		if since++; value < lowest-math.Abs(lowest)*1e-8 || math.IsInf(lowest, 1) {
			lowest, since = value, 0
		}
		if slope < 0.9*flattest {
			flattest, since = slope, 0
		}
		if slope <= enough || steps == l.limit || since == patience {
			return value, slope, steps, slope <= enough, nil
		}
		l.descentDirection(dir, grad)
		along := floats.Dot(dir, grad)
		if !(along < 0) { // the memory is corrupted by rounding
			l.steps = nil
			floats.ScaleTo(dir, -1, grad)
			along = -floats.Dot(grad, grad)
		}
		length := 1.0
		if len(l.steps) == 0 {
			length = 1 / math.Max(1, math.Sqrt(-along))
		}
		to, ok, err := l.searchStep(x, dir, value, along, length, next, nextGrad, f)
		if err != nil {
			return value, slope, steps, false, err
		}
		if !ok {
			if len(l.steps) > 0 {
				l.steps = nil // retry straight downhill
				continue
			}
			return value, slope, steps, false, nil
		}
		l.rememberStep(x, next, grad, nextGrad)
		steps++
		value = to
		copy(x, next)
		copy(grad, nextGrad)
	}
}

// descentDirection writes -H·grad, where H approximates the inverse Hessian from the stored steps.
func (l *lbfgs) descentDirection(dir, grad []float64) {
	floats.ScaleTo(dir, -1, grad)
	alpha := make([]float64, len(l.steps))
	for i := len(l.steps) - 1; i >= 0; i-- {
		s := l.steps[i]
		alpha[i] = s.rho * floats.Dot(s.dx, dir)
		floats.AddScaled(dir, -alpha[i], s.dg)
	}
	if n := len(l.steps); n > 0 {
		s := l.steps[n-1]
		floats.Scale(1/(s.rho*floats.Dot(s.dg, s.dg)), dir)
	}
	for i, s := range l.steps {
		beta := s.rho * floats.Dot(s.dg, dir)
		floats.AddScaled(dir, alpha[i]-beta, s.dx)
	}
}

// searchStep finds a step length that meets the conditions: it doubles the length while the slope is steep, then
// narrows the interval. next and nextGrad are the point found and its gradient.
func (l *lbfgs) searchStep(
	x, dir []float64, value, along, length float64, next, nextGrad []float64,
	f func(x, grad []float64) (float64, error),
) (float64, bool, error) {
	low, high := 0.0, math.Inf(1)
	lowSlope, highSlope := along, math.NaN()
	for range 30 {
		floats.AddScaledTo(next, x, length, dir)
		v, err := f(next, nextGrad)
		if err != nil {
			return 0, false, err
		}
		slope := floats.Dot(dir, nextGrad)
		bound := value + noise*math.Abs(value)
		falls := v <= value+armijo*length*along || v <= bound && slope <= (2*armijo-1)*along
		switch {
		case falls && slope >= flat*along && !math.IsNaN(v):
			return v, true, nil
		case falls && slope < 0: // too short
			low, lowSlope = length, slope
		default: // too long, or beyond the range of a float
			high, highSlope = length, slope
		}
		if math.IsInf(high, 1) {
			length *= 2
			continue
		}
		// Where a linear interpolation of the slope is 0, but not too close to the ends.
		length = low + (high-low)/2
		if highSlope > 0 {
			length = low + (high-low)*math.Min(0.9, math.Max(0.1, lowSlope/(lowSlope-highSlope)))
		}
	}
	return 0, false, nil
}

// rememberStep stores a step, replacing the oldest when the memory is full. It ignores a step along which the
// function does not curve upwards.
func (l *lbfgs) rememberStep(x, next, grad, nextGrad []float64) {
	var s secant
	if len(l.steps) == lbfgsMemory {
		s = l.steps[0]
		l.steps = append(l.steps[:0], l.steps[1:]...)
	} else {
		s.dx, s.dg = make([]float64, len(x)), make([]float64, len(x))
	}
	floats.SubTo(s.dx, next, x)
	floats.SubTo(s.dg, nextGrad, grad)
	curve := floats.Dot(s.dx, s.dg)
	if !(curve > 1e-12*floats.Dot(s.dg, s.dg)) {
		return
	}
	s.rho = 1 / curve
	l.steps = append(l.steps, s)
}
