// Package spread summarises values as a box plot does. It also compares two methods by the differences of their
// repetitions, paired by seed.
package spread

import (
	"math"
	"slices"
)

// Spread holds the numbers of a box plot.
type Spread struct {
	N      int     `json:"n"`
	Least  float64 `json:"least"`
	Low    float64 `json:"low"` // the lower whisker: the smallest value within 1.5 (Q3-Q1) of Q1
	Q1     float64 `json:"q1"`
	Median float64 `json:"median"`
	Q3     float64 `json:"q3"`
	High   float64 `json:"high"` // the upper whisker
	Most   float64 `json:"most"`
}

// New returns the spread of the finite values, or NaNs if there are none. It does not change values. Source:
// Tukey, Exploratory Data Analysis, 1977, with quartiles as in [Quantile].
func New(values []float64) Spread {
	list := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return v-v != 0 })
	slices.Sort(list)
	s := Spread{
		N: len(list), Least: Quantile(list, 0), Most: Quantile(list, 1),
		Q1: Quantile(list, 0.25), Median: Quantile(list, 0.5), Q3: Quantile(list, 0.75),
	}
	s.Low, s.High = s.Q1, s.Q3
	reach := 1.5 * (s.Q3 - s.Q1)
	for _, v := range list {
		if v >= s.Q1-reach && v <= s.Q3+reach {
			s.Low, s.High = math.Min(s.Low, v), math.Max(s.High, v)
		}
	}
	return s
}

// Quantile returns the p-quantile of an ascending list, interpolated linearly at (n-1)p (Hyndman and Fan 1996, type 7,
// as in numpy and R). It is NaN for an empty list.
func Quantile(rising []float64, p float64) float64 {
	if len(rising) == 0 {
		return math.NaN()
	}
	at := p * float64(len(rising)-1)
	i := int(at)
	if i >= len(rising)-1 {
		return rising[len(rising)-1]
	}
	return Between(rising[i], rising[i+1], at-float64(i))
}

// Between returns the point a share of the way from a to b. It is exact at both ends and computed as in numpy.
func Between(a, b, share float64) float64 {
	if share >= 0.5 {
		return b - (b-a)*(1-share)
	}
	return a + (b-a)*share
}
