package spread

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Rounding is how far sums of equal shares may differ by rounding: smaller differences count as none.
const Rounding = 1e-12

// T returns the one-sided p-value of a mean above 0 (Student 1908); NaN with fewer than two values. If all
// values are the same, t has no spread to work with and only the sign counts: 2^-n above 0 (sign test),
// otherwise 1.
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
