// Package paired compares two ways of doing something by the differences of their repetitions, seed by seed.
package paired

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Rounding is how far sums of equal shares may be apart: differences below it are none.
const Rounding = 1e-12

// T returns the one-sided p-value of a mean above 0 (Student 1908); NaN with fewer than two values. Values all alike
// have no spread for t to go by, and say no more than their signs: 2^-n above 0 (sign test), 1 otherwise.
func T(d []float64) float64 {
	if len(d) < 2 {
		return math.NaN()
	}
	mean, sd := stat.MeanStdDev(d, nil)
	if sd < Rounding {
		if mean > Rounding {
			return math.Pow(0.5, float64(len(d)))
		}
		return 1
	}
	t := mean / (sd / math.Sqrt(float64(len(d))))
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(d) - 1)}.Survival(t)
}
