package spread

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Rounding is the largest rounding error of sums of equal shares; smaller differences are treated as 0.
const Rounding = 1e-12

// T returns the one-sided p-value of a mean above 0 (Student 1908), NaN with fewer than two values. If all values are
// equal, the t statistic is undefined; T then uses the sign test and returns 2^-n for values above 0, else 1.
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
