// Package findings looks for what a list of suspects does not tell of a labelled set: images that fit no class, near
// copies with different labels, and of each class its size, concentration and purity, whether another class looks like
// the same one, and whether it looks like two.
//
// The classes are those that a judge left (leaveout.Set): images whose label looks wrong count as little for them as
// the judge thought. It sees given labels only, and imports eval, features, filters, filters/detectors and
// filters/leaveout.
package findings

import (
	"math"
	"slices"

	"winnow/filters/leaveout"
)

// Fit says how well each image fits the class that it fits best, itself left out: the largest
//
//	(s_ik - median_k)/σ
//
// over the classes k, where median_k is that of the similarities of the class's members, the images whose largest
// share is in it, to its direction, and σ the spread of all members about their class's median (1.4826 times the
// median deviation). Below [Outlying] it lies farther from every class than members do. Classes without a member count
// with the median of all members. Entries are as the set counts images.
func Fit(s *leaveout.Set) []float64 {
	c := len(s.Classes)
	own := make([]float64, s.Z.Len()) // similarity to the class of the largest share
	column := make([]int, s.Z.Len())
	s.Each(func(i, y int, row []float64) {
		column[i] = member(s, i, y)
		own[i] = row[column[i]]
	})
	of := make([][]float64, c)
	for i, k := range column {
		of[k] = append(of[k], own[i])
	}
	all := median(slices.Clone(own))
	middle := make([]float64, c)
	for k, list := range of {
		if middle[k] = all; len(list) > 0 {
			middle[k] = median(list)
		}
	}
	deviations := make([]float64, len(own))
	for i, k := range column {
		deviations[i] = math.Abs(own[i] - middle[k])
	}
	spread := math.Max(1.4826*median(deviations), 1e-6)
	fit := make([]float64, s.Z.Len())
	s.Each(func(i, _ int, row []float64) {
		best := math.Inf(-1)
		for k, v := range row {
			best = math.Max(best, (v-middle[k])/spread)
		}
		fit[i] = best
	})
	return fit
}

// Outlying is the fit below which an image fits no class.
const Outlying = -3

// member is the column of an image's largest share; y where it has none.
func member(s *leaveout.Set, i, y int) int {
	most := 0.0
	for _, p := range s.Parts(i) {
		if p.Weight > most {
			y, most = p.Column, p.Weight
		}
	}
	return y
}

// median reorders x, which is not empty.
func median(x []float64) float64 {
	slices.Sort(x)
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}
