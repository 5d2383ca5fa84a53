package eval

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Difference is the difference between two embeddings' P@1 on the same queries, with a 95 % interval.
type Difference struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
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
