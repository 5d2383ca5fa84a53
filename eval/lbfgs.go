package eval

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// lbfgs minimises a smooth convex function whose values are slightly noisy, like sums over float32 products. It accepts
// a step if the slope along the step has become flat enough (the approximate Wolfe conditions), because the noise would
// hide a small decrease in value. The line searches of gonum/optimize fail in this case, hence this implementation.
//
// Sources: Nocedal, Updating Quasi-Newton Matrices with Limited Storage, 1980 (the two-loop recursion, here over the
// last lbfgsMemory steps); Hager and Zhang, SIAM J. Optim. 2005, eq. 27 (the conditions).
type lbfgs struct {
	limit     int     // largest number of steps
	tolerance float64 // done when the largest gradient entry is at most this fraction of its initial value
	steps     []secant
}

// secant is one step and the change of the gradient over the step.
type secant struct {
	dx, dg []float64
	rho    float64 // 1/(dx·dg)
}

const (
	lbfgsMemory = 10
	patience    = 40   // stop after this many steps without a decrease of value or gradient
	armijo      = 0.1  // δ in eq. 27
	flat        = 0.9  // σ in eq. 27
	noise       = 1e-6 // how far a step may raise the value, relative to |value|
)

// minimiseValue minimises f, starting at x, and changes x to the result. f writes the gradient at x and returns the
// value, or an error that stops the search. minimiseValue returns the value, the largest entry of the gradient, the
// number of steps, and whether the gradient is within the tolerance. If it is not, the limit of steps was reached or
// the remaining changes were noise.
func (l *lbfgs) minimiseValue(
	x []float64, f func(x, grad []float64) (float64, error),
) (value, slope float64, steps int, done bool, err error) {
	grad, next, nextGrad, dir := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x)),
		make([]float64, len(x))
	if value, err = f(x, grad); err != nil {
		return value, 0, 0, false, err
	}
	enough := l.tolerance * floats.Norm(grad, math.Inf(1))
	// best value and gradient, and the number of steps since either improved
	lowest, flattest, since := math.Inf(1), math.Inf(1), 0
	for {
		slope = floats.Norm(grad, math.Inf(1))
		if math.IsNaN(value) || floats.HasNaN(grad) {
			return value, slope, steps, false, fmt.Errorf("step %d: value %v, largest gradient entry %v, expected "+
				"finite numbers", steps, value, slope)
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
		if !(along < 0) { // rounding has spoiled the stored steps
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
				l.steps = nil // retry along the negative gradient
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

// searchStep finds a step length that meets the conditions. It doubles the length while the slope is steep, then
// narrows the interval. next and nextGrad receive the point and its gradient.
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
		// choose the zero of the linearly interpolated slope, but not too close to the ends
		length = low + (high-low)/2
		if highSlope > 0 {
			length = low + (high-low)*math.Min(0.9, math.Max(0.1, lowSlope/(lowSlope-highSlope)))
		}
	}
	return 0, false, nil
}

// rememberStep stores a step, replacing the oldest if the memory is full. It ignores a step along which the function is
// not convex.
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
