// Package findings finds in a labelled set what a list of suspects does not show: images that fit no class, near
// copies with different labels, and for each class its size, concentration and purity, whether another class looks
// like the same one, and whether it looks like two.
//
// The classes are weighted by a judge (leaveout.Set): images whose label looks wrong count less. The package sees given
// labels only, and imports eval, features, filters, filters/detectors and filters/leaveout.
package findings

import (
	"context"
	"math"
	"slices"

	"winnow/filters/leaveout"
)

// Fit returns how well each image fits the class that it fits best, itself left out:
//
//	f_i = max_k (s_ik - median_k)
//
// over the classes k, standardised by the median of all f and their spread σ, 1.4826 times the median distance of those
// below. median_k is the median similarity of the class's members, the images whose largest share is in it, to its
// direction; a class without members has the median of all members. Among many classes one is near by chance, so an
// image is compared with what others reach. Below [Outlying] it fits no class. Entries are numbered as in the set.
func Fit(ctx context.Context, s *leaveout.Set) ([]float64, error) {
	_, fit, err := NewReach(ctx, s)
	return fit, err
}

// Reach standardises the fit of an image, for images that are judged apart from others.
type Reach struct {
	Middle         []float64 // median similarity of each column's members
	Centre, Spread float64   // of the fits of all images
}

// NewReach returns the reach of the images of s, and their fits.
func NewReach(ctx context.Context, s *leaveout.Set) (r Reach, fit []float64, err error) {
	c := len(s.Classes)
	own := make([]float64, s.Z.Len()) // similarity to the class of the largest share
	column := make([]int, s.Z.Len())
	err = s.Each(ctx, func(i, y int, row []float64) {
		column[i] = member(s, i, y)
		own[i] = row[column[i]]
	})
	if err != nil {
		return r, nil, err
	}
	of := make([][]float64, c)
	for i, k := range column {
		of[k] = append(of[k], own[i])
	}
	all := median(slices.Clone(own))
	r.Middle = make([]float64, c)
	for k, list := range of {
		if r.Middle[k] = all; len(list) > 0 {
			r.Middle[k] = median(list)
		}
	}
	fit = make([]float64, s.Z.Len())
	r.Spread = 1 // not yet known
	if err := s.Each(ctx, func(i, _ int, row []float64) { fit[i] = r.Fit(row) }); err != nil {
		return r, nil, err
	}
	r.Centre = median(slices.Clone(fit))
	var below []float64
	for _, v := range fit {
		if v < r.Centre {
			below = append(below, r.Centre-v)
		}
	}
	r.Spread = 1e-6
	if len(below) > 0 {
		r.Spread = math.Max(1.4826*median(below), r.Spread)
	}
	for i := range fit {
		fit[i] = (fit[i] - r.Centre) / r.Spread
	}
	return r, fit, nil
}

// Fit returns the fit of an image from its similarities.
func (r Reach) Fit(row []float64) float64 {
	best := math.Inf(-1)
	for k, v := range row {
		best = math.Max(best, v-r.Middle[k])
	}
	return (best - r.Centre) / r.Spread
}

// Outlying is the fit below which an image fits no class. 2 % of normally distributed fits are below, fewer of
// those measured (experiments/audit).
const Outlying = -2

// member returns the column of an image's largest share, or y if it has none.
func member(s *leaveout.Set, i, y int) int {
	most := 0.0
	for _, p := range s.Parts(i) {
		if p.Weight > most {
			y, most = p.Column, p.Weight
		}
	}
	return y
}

// median returns the median of x, which is not empty. It sorts x.
func median(x []float64) float64 {
	slices.Sort(x)
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}
