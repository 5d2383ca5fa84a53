package losses

import (
	"math"
	"slices"
)

// distance is a decreasing function of the similarity of unit vectors.
//
//	l2  δ = √(2 - 2s), dδ/ds = -1/δ, and 0 where δ = 0      l2sq  δ = 2 - 2s      cosine  δ = 1 - s
type distance uint8

const (
	noDistance distance = iota
	l2
	l2sq
	cosine
)

// distances lists the names of the distances, in the order of the constants.
var distances = []string{"l2", "l2sq", "cosine"}

func asDistance(word string) distance { return l2 + distance(slices.Index(distances, word)) }

const distancesDoc = "√(2 - 2s), 2 - 2s or 1 - s"

// fillDistances fills delta with the distances of s, and slope (unless nil) with their derivatives.
func (m distance) fillDistances(delta, slope, s []float64) {
	delta = delta[:len(s)]
	switch m {
	case l2:
		for j, v := range s {
			delta[j] = math.Sqrt(max(0, 2-2*v))
		}
	case l2sq:
		for j, v := range s {
			delta[j] = max(0, 2-2*v)
		}
	default:
		for j, v := range s {
			delta[j] = 1 - v
		}
	}
	if slope != nil {
		m.distanceSlope(slope, delta)
	}
}

// chainDistance converts derivatives with respect to distances into derivatives with respect to similarities.
func (m distance) chainDistance(d, delta []float64) {
	delta = delta[:len(d)]
	for j, v := range d {
		switch {
		case v == 0:
		case m == cosine:
			d[j] = -v
		case m == l2sq:
			d[j] = -2 * v
		case delta[j] > 0:
			d[j] = -v / delta[j]
		default:
			d[j] = 0
		}
	}
}

func (m distance) distanceSlope(slope, delta []float64) {
	slope = slope[:len(delta)]
	for j, d := range delta {
		switch {
		case m == cosine:
			slope[j] = -1
		case m == l2sq:
			slope[j] = -2
		case d > 0:
			slope[j] = -1 / d
		default:
			slope[j] = 0
		}
	}
}
