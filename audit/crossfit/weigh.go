package crossfit

import (
	"context"
	"math"
	"slices"

	"winnow/features"
	"winnow/filters/noiserate"
)

// weighing turns an image's similarities into class probabilities:
//
//	p_k ∝ exp(Σ_m β_m t_mk),   P(y|k) = 1 - ρ if y = k, else ρ/(C - 1)
//
// where t_m is the m-th kind of similarity, β_m ≥ 0, y is the given label and ρ is the share of wrong labels.
type weighing struct {
	beta []float64
	rho  float64
}

const (
	leastRho = 1e-4 // keeps the probability of a wrong label above 0
	mostBeta = 1000
	mostTurn = 100  // most steps of expectation maximisation
	settled  = 1e-3 // relative change of β that ends the fit
)

// fitWeighing fits the weighing that maximises the likelihood of labels, by expectation maximisation. Each step
// computes the class probabilities of every image, then takes one Newton step of β and the best ρ. rows holds for each
// image, kind by kind, C similarities. expected acts as a prior with the weight of worth labels: few labels hardly
// change it, many override it. The objective for β is
//
//	Q(β) - ½ (worth/n) (β-β₀)ᵀ H (β-β₀),   H = -∂²Q/∂β²
func fitWeighing(ctx context.Context, rows []float32, labels []int, classes int, expected weighing,
	worth float64) (weighing, error) {
	kinds := len(expected.beta)
	expected.rho = min(expected.rho, noiserate.MostOf(classes)) // a larger ρ would invert uninformative labels
	w := weighing{slices.Clone(expected.beta), expected.rho}
	if len(labels) == 0 {
		return w, nil
	}
	n := float64(len(labels))
	grad, hess := make([]float64, kinds), make([]float64, kinds*kinds)
	p, r := make([]float64, classes), make([]float64, classes)
	mean, belief := make([]float64, kinds), make([]float64, kinds)
	for range mostTurn {
		if err := ctx.Err(); err != nil {
			return w, err
		}
		clear(grad)
		clear(hess)
		var wrong float64
		for i, y := range labels {
			row := rows[i*kinds*classes : (i+1)*kinds*classes]
			w.fillProbabilities(p, row)
			wrong += 1 - w.fillPosterior(r, p, y)
			clear(mean)
			clear(belief)
			for m := range kinds {
				for k, t := range row[m*classes : (m+1)*classes] {
					mean[m] += p[k] * float64(t)
					belief[m] += r[k] * float64(t)
				}
				grad[m] += belief[m] - mean[m]
			}
			for a := range kinds {
				for b := a; b < kinds; b++ {
					var s float64
					ta, tb := row[a*classes:(a+1)*classes], row[b*classes:(b+1)*classes]
					for k, pk := range p {
						s += pk * float64(ta[k]) * float64(tb[k])
					}
					hess[a*kinds+b] += s - mean[a]*mean[b]
				}
			}
		}
		w.rho = math.Min(math.Max((wrong+worth*expected.rho)/(n+worth), leastRho), noiserate.MostOf(classes))
		if w.stepNewton(grad, hess, expected.beta, worth/n) {
			break
		}
	}
	return w, nil
}

// stepNewton takes a Newton step of β, pulled towards expected by a share of the curvature. It reports whether β has
// converged. hess is the upper half of -∂²Q/∂β².
func (w *weighing) stepNewton(grad, hess, expected []float64, share float64) bool {
	kinds := len(w.beta)
	a := make([][]float64, kinds)
	for i := range a {
		a[i] = make([]float64, kinds+1)
		a[i][kinds] = grad[i]
		for j := range kinds {
			h := hess[min(i, j)*kinds+max(i, j)]
			a[i][j] = (1 + share) * h
			a[i][kinds] -= share * h * (w.beta[j] - expected[j])
		}
		a[i][i] += 1e-6 * (hess[i*kinds+i] + 1) // kinds may be collinear
	}
	for i := range a { // Gaussian elimination: the matrix is positive definite
		for r := range a {
			if f := a[r][i] / a[i][i]; r != i {
				for j := i; j <= kinds; j++ {
					a[r][j] -= f * a[i][j]
				}
			}
		}
	}
	var moved, all float64
	for m, b := range w.beta {
		next := math.Min(math.Max(b+a[m][kinds]/a[m][m], b/4), math.Min(4*b+1, mostBeta))
		if next < 1e-3 {
			next = 0
		}
		moved += math.Abs(next - b)
		all += next
		w.beta[m] = next
	}
	return moved <= settled*(all+1)
}

// fillProbabilities fills p with an image's class probabilities by its similarities, without its given label.
func (w weighing) fillProbabilities(p []float64, row []float32) {
	clear(p)
	c := len(p)
	for m, b := range w.beta {
		for k, t := range row[m*c : (m+1)*c] {
			p[k] += b * float64(t)
		}
	}
	features.Softmax(p, p)
	for k, v := range p {
		p[k] = math.Max(v, 1e-300)
	}
}

// sumLogProbability returns the log probability of all labels; rows is laid out as in [fitWeighing].
func (w weighing) sumLogProbability(rows []float32, labels []int, classes int) (sum float64) {
	p := make([]float64, classes)
	for i, y := range labels {
		w.fillProbabilities(p, rows[i*len(w.beta)*classes:(i+1)*len(w.beta)*classes])
		sum += math.Log((1-w.rho)*p[y] + w.rho/float64(classes-1)*(1-p[y]))
	}
	return sum
}

// fillPosterior fills r with the class probabilities after the given label y is taken into account. It returns r[y].
func (w weighing) fillPosterior(r, p []float64, y int) float64 {
	other := w.rho / (1 - w.rho) / float64(len(p)-1)
	var sum float64
	for k, v := range p {
		r[k] = v * other
		if k == y {
			r[k] = v
		}
		sum += r[k]
	}
	for k := range r {
		r[k] /= sum
	}
	return r[y]
}

// computeLogOdds returns the log odds that y is right.
func (w weighing) computeLogOdds(p []float64, y int) float64 {
	var rest float64
	for k, v := range p {
		if k != y {
			rest += v
		}
	}
	return math.Log(p[y]) - math.Log(math.Max(rest, 1e-300)) - math.Log(w.rho/(1-w.rho)/float64(len(p)-1))
}
