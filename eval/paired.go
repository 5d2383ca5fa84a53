package eval

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Difference is the difference between a metric of two embeddings on the same queries, or the value of one, with its
// 95 % interval.
type Difference struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Share estimates a share p from w of n observations, n above 0, with Wilson's 95 % interval (Probable inference, the
// law of succession, and statistical inference, JASA 22, 1927).
//
//	(p̂ + z²/2n ± z·√(p̂(1-p̂)/n + z²/4n²)) / (1 + z²/n),  p̂ = w/n, z = 1.96
func Share(w, n int) Difference {
	const z = 1.959963984540054
	p, m := float64(w)/float64(n), float64(n)
	middle := p + z*z/(2*m)
	wide := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return Difference{p, max((middle-wide)/(1+z*z/m), 0), min((middle+wide)/(1+z*z/m), 1)}
}

// pairedResamples is the number of bootstrap samples of the queries for the interval of [Paired].
const pairedResamples = 2000

// Paired returns the difference in P@1 of a minus b, given their Hits on the same queries, with its 95 % bootstrap
// interval over queries. Queries that both or neither answer correctly do not affect the difference. Among n drawn
// queries, the numbers of queries that only a and only b answers correctly are multinomial. Source: Efron & Tibshirani,
// "An Introduction to the Bootstrap", 1993, chapter 13.
func Paired(a, b []bool) Difference {
	n, more, less := float64(len(a)), 0.0, 0.0
	for i := range a {
		switch {
		case a[i] && !b[i]:
			more++
		case b[i] && !a[i]:
			less++
		}
	}
	if n == 0 {
		return Difference{}
	}
	source := rand.NewPCG(1, 0x70616972) // "pair"
	drawn := make([]float64, pairedResamples)
	for r := range drawn {
		plus := distuv.Binomial{N: n, P: more / n, Src: source}.Rand()
		minus := 0.0
		if more < n {
			minus = distuv.Binomial{N: n - plus, P: less / (n - more), Src: source}.Rand()
		}
		drawn[r] = (plus - minus) / n
	}
	slices.Sort(drawn)
	const tail = pairedResamples / 40
	return Difference{(more - less) / n, drawn[tail], drawn[pairedResamples-1-tail]}
}

// PairedMeans returns the difference of the means of a minus b, values of the same queries such as
// [Retrieval].Precisions, with the 95 % interval of a normal distribution. If b is nil, it returns the mean of a.
func PairedMeans(a, b []float64) Difference {
	if len(a) == 0 {
		return Difference{}
	}
	d := slices.Clone(a)
	for i := range b {
		d[i] -= b[i]
	}
	mean, deviation := stat.MeanStdDev(d, nil)
	if len(d) == 1 {
		return Difference{mean, mean, mean}
	}
	half := 1.96 * deviation / math.Sqrt(float64(len(d)))
	return Difference{mean, mean - half, mean + half}
}
