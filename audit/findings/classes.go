// Package findings finds in a labelled set what a list of suspects does not show: outliers, which fit no class, and
// near-duplicates with different labels. For each class it reports the size, concentration and purity, whether another
// class looks like the same class, and whether the class looks like two.
//
// The classes are weighted by a judge (leaveout.Set): images whose label looks wrong have a smaller weight. The package
// uses given labels only, and imports eval, features, filters, filters/detectors, filters/leaveout and internal/spread.
package findings

import (
	"context"
	"math"

	"winnow/filters"
	"winnow/filters/leaveout"
)

// Class describes a class with at least two images.
type Class struct {
	Class    int     // id of the class
	Images   int     // number of images with its label
	Kappa    float64 // concentration, corrected for the number of images
	Like     int     // id of the most similar class
	Alike    float64 // 2 (1 - share of both classes' images nearer to their own class): 0 distinct, 1 indistinguishable
	Compared int     // number of images behind Alike
	Groups   float64 // similarity of its two sides, divided out of sample: 1 for one group, at most Two for two groups
}

const (
	// Same is the least Alike of two classes that look like one class, over at least fewest images.
	Same   = 0.8
	fewest = 16
	// Two is the largest similarity of the sides of a class that looks like two.
	Two = 0.15
)

// SameAsLike reports whether the class and class Like look like one class.
func (c Class) SameAsLike() bool { return c.Compared >= fewest && c.Alike >= Same }

// LooksLikeTwo reports whether the class looks like two groups.
func (c Class) LooksLikeTwo() bool { return c.Groups <= Two }

// Classes describes the classes of a set, in the order of its columns. Time O(C²·d + n·C·d).
func Classes(ctx context.Context, s *leaveout.Set) ([]Class, error) {
	d := s.Z.Dim()
	list := make([]Class, len(s.Classes))
	given, members := make([]int, len(s.Classes)), make([][]int, len(s.Classes))
	for i, label := range s.Z.Labels {
		y := s.Column[label]
		given[y]++
		k := findMemberColumn(s, i, y)
		members[k] = append(members[k], i)
	}
	for k := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		spread := s.Spread(k)
		r := filters.Debiased(spread.Length, max(2, int(math.Round(spread.Count))))
		c := Class{Class: s.Classes[k], Images: given[k], Groups: compareGroups(s, members[k])}
		c.Kappa = filters.KappaBanerjee(d, r, filters.DefaultLimits())
		list[k] = c
	}
	return list, compareClasses(ctx, s.Plain(), list)
}

// findMemberColumn returns the column in which image i has its largest share, or y if the image has no shares.
func findMemberColumn(s *leaveout.Set, i, y int) int {
	most := 0.0
	for _, p := range s.Parts(i) {
		if p.Weight > most {
			y, most = p.Column, p.Weight
		}
	}
	return y
}
