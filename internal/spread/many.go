package spread

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Difference summarises the differences between two methods over common repetitions.
type Difference struct {
	N         int     // number of repetitions
	Mean      float64 // NaN without repetitions
	Low, High float64 // 95 % confidence interval of the mean (Student's t); NaN with fewer than two repetitions
	P         float64 // two-sided p-value for no difference (Student's t); NaN with fewer than two repetitions
	SD        float64 // standard deviation of the differences; NaN with fewer than two repetitions
}

// Summary is the mean and the sample standard deviation of some repetitions; each is NaN if there are too few.
type Summary struct {
	N        int
	Mean, SD float64
}

// Summarize summarises the repetitions of one method.
func Summarize(values []float64) Summary {
	s := Summary{N: len(values), Mean: math.NaN(), SD: math.NaN()}
	if s.N > 0 {
		s.Mean = stat.Mean(values, nil)
	}
	if s.N > 1 {
		s.SD = stat.StdDev(values, nil)
	}
	return s
}

// Compare summarises differences of repetitions.
func Compare(d []float64) Difference {
	out := Difference{N: len(d), Mean: math.NaN(), Low: math.NaN(), High: math.NaN(), P: math.NaN(),
		SD: math.NaN()}
	if len(d) == 0 {
		return out
	}
	if out.Mean = stat.Mean(d, nil); math.Abs(out.Mean) < Rounding {
		out.Mean = 0
	}
	if len(d) < 2 {
		return out
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(d) - 1)}
	out.SD = stat.StdDev(d, nil)
	reach := t.Quantile(0.975) * out.SD / math.Sqrt(float64(len(d)))
	out.Low, out.High = out.Mean-reach, out.Mean+reach
	less := make([]float64, len(d))
	for i, v := range d {
		less[i] = -v
	}
	out.P = min(1, 2*min(T(d), T(less)))
	return out
}

// power is the probability of finding a difference that [Difference.Needs] aims for.
const power = 0.8

// mostNeeded limits [Difference.Needs]: a difference that needs more repetitions is not worth pursuing.
const mostNeeded = 1000

// Needs returns the number of repetitions that would find a difference with this mean and spread with a probability of
// 80 %, by a two-sided t-test at the level α = alpha: the smallest n with (t(n-1, 1-α/2) + t(n-1, .8)) SD/√n ≤ |mean|,
// where t(f, p) is the p-quantile of Student's t with f degrees of freedom (Cohen 1988, section 2.4, uses the
// noncentral distribution instead). It returns 0 if more than 1,000 are needed or the spread is unknown. The mean and
// the spread of few repetitions are uncertain.
func (d Difference) Needs(alpha float64) int {
	if !(math.Abs(d.Mean) > 0) || math.IsNaN(d.SD) {
		return 0
	}
	if d.SD < Rounding {
		return int(math.Ceil(math.Log2(2 / alpha))) // the sign test of [T]
	}
	for n := 2; n <= mostNeeded; n++ {
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}
		if (t.Quantile(1-alpha/2)+t.Quantile(power))*d.SD <= math.Abs(d.Mean)*math.Sqrt(float64(n)) {
			return n
		}
	}
	return 0
}

// Holm corrects p-values for multiple comparisons (Holm 1979). NaNs stay NaN and are not counted.
func Holm(p []float64) []float64 {
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	out, least := slices.Clone(p), 0.0
	for k, i := range order {
		least = max(least, min(1, p[i]*float64(len(order)-k)))
		out[i] = least
	}
	return out
}
