// Package findings finds in a labelled set what a list of suspects does not show: strangers, which fit no class, near
// copies with different labels, and for each class its size, concentration and purity, whether another class looks
// like the same one, and whether it looks like two.
//
// The classes are weighted by a judge (leaveout.Set): images whose label looks wrong count less. The package sees given
// labels only, and imports eval, features, filters, filters/detectors, filters/leaveout and internal/spread.
package findings

import (
	"context"
	"math"

	"winnow/filters"
	"winnow/filters/leaveout"
)

// Class describes a class with at least two images.
type Class struct {
	Class    int     // its id
	Images   int     // with its label
	Kappa    float64 // concentration, corrected for the number of images
	Like     int     // id of the class that it is hardest to tell from
	Alike    float64 // 2 (1 - share of the images of both that are nearer to their own): 0 apart, 1 indistinguishable
	Compared int     // images behind Alike
	Groups   float64 // likeness of its two sides, divided out of sample: 1 one group, at most Two: it looks like two
}

const (
	// Same is the least Alike of two classes that look like one, with at least fewest images.
	Same   = 0.8
	fewest = 16
	// Two is the largest likeness of the sides of a class that looks like two.
	Two = 0.15
)

// SameAsLike reports whether the class and Like look like one.
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

// findMemberColumn returns the column of an image's largest share, or y if it has none.
func findMemberColumn(s *leaveout.Set, i, y int) int {
	most := 0.0
	for _, p := range s.Parts(i) {
		if p.Weight > most {
			y, most = p.Column, p.Weight
		}
	}
	return y
}
