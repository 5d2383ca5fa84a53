package eval

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Difference is by how much one embedding's P@1 is above another's on the same queries, with an interval of 95 %.
type Difference struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// pairedResamples of the queries, for the interval of [Paired].
const pairedResamples = 2000

// Paired returns the difference of P@1, a's less b's, whose Hits are of the same queries, and the middle 95 % over queries
// drawn again with replacement: a query that both or neither answer right says nothing of the difference. How many of n
// drawn queries are answered by a alone and by b alone is multinomial. Source: Efron & Tibshirani, "An Introduction to the
// Bootstrap", 1993, chapter 13.
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
