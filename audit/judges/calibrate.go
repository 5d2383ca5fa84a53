package judges

import (
	"context"
	"math"

	"winnow/filters/leaveout"
)

// calibration says what a fit to the classes means: β, how sharply it tells classes apart, and ρ, the share of wrong
// labels.
type calibration struct{ beta, rho float64 }

const (
	sampleEntries = 1 << 22 // fits that β and ρ are found from
	leastRho      = 1e-4    // no label is beyond doubt
	mostRho       = 0.95
)

// calibrate maximises the likelihood of the given labels over β and ρ:
//
//	Σ_i log[(1-ρ) p_iy + ρ (1-p_iy)/(C-1)],   p_i = softmax(β t_i)
//
// by a golden section over log β, with ρ by expectation maximisation for each. Where images are many, every so many
// of them are asked.
func calibrate(ctx context.Context, s *leaveout.Set) (calibration, error) {
	n, c := s.Z.Len(), len(s.Classes)
	step := max(1, n*c/sampleEntries)
	var rows []float32
	var labels []int
	err := s.Among(ctx, 0, n, step, func(_, y int, row []float64) {
		for _, t := range row {
			rows = append(rows, float32(t-row[y]))
		}
		labels = append(labels, y)
	})
	if err != nil {
		return calibration{}, err
	}
	p := make([]float64, len(labels))
	at := func(logBeta float64) (likelihood, rho float64) {
		beta := math.Exp(logBeta)
		for i := range p {
			var rivals float64
			for k, t := range rows[i*c : (i+1)*c] {
				if k != labels[i] {
					rivals += math.Exp(math.Min(beta*float64(t), 700))
				}
			}
			p[i] = 1 / (1 + rivals)
		}
		return mixed(p, c)
	}
	logBeta, _ := highest(math.Log(1), math.Log(1000), 0.02, func(x float64) float64 {
		if ctx.Err() != nil {
			return 0
		}
		v, _ := at(x)
		return v
	})
	_, rho := at(logBeta)
	return calibration{math.Exp(logBeta), rho}, ctx.Err()
}

// highest finds where f, which rises and then falls between low and high, is highest, by a golden section down to an
// interval of width.
func highest(low, high, width float64, f func(float64) float64) (x, most float64) {
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

// mixed finds the ρ under which labels of probability p are likeliest, and that likelihood's logarithm.
func mixed(p []float64, classes int) (likelihood, rho float64) {
	others := float64(classes - 1)
	rho = 0.2
	for range 30 {
		var wrong float64
		for _, v := range p {
			a, b := (1-rho)*v, rho*(1-v)/others
			wrong += b / (a + b)
		}
		rho = math.Min(math.Max(wrong/float64(len(p)), leastRho), mostRho)
	}
	for _, v := range p {
		likelihood += math.Log((1-rho)*v + rho*(1-v)/others)
	}
	return likelihood, rho
}

// posterior turns a row of fits into the probability that each class is the image's, given the label y, and returns
// the log odds of y.
func (c calibration) posterior(row []float64, y int) float64 {
	other := math.Log(c.rho / (1 - c.rho) / float64(len(row)-1))
	rival := math.Inf(-1)
	for k := range row {
		row[k] *= c.beta
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
