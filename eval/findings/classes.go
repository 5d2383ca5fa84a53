package findings

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/filters"
	"winnow/filters/detectors"
	"winnow/filters/leaveout"
)

// Class is what is known of one class that has two images or more.
type Class struct {
	Class  int     // its id
	Images int     // that are given it
	Kappa  float64 // concentration of what counts for it, corrected for the number of images
	Like   int     // id of the class that it is most like
	Alike  float64 // how much, see leaveout.Set.Likeness; Same or more: the two look like one class
	Groups float64 // share of the variance along its longest axis that a cut in two leaves; Two or less: it looks like two
}

const (
	// Same is the likeness from which two classes look like one.
	Same = 0.9
	// Two is the share left from which a class looks like two groups. A normal distribution leaves 1 - 2/π = 0.36, an
	// even one 0.25, two groups that are well apart nearly nothing.
	Two = 0.16
)

// smallestGroup is the least share of a class that is called a group: fewer are outliers.
const smallestGroup = 0.2

// SameAsLike says whether the class and Like look like one.
func (c Class) SameAsLike() bool { return c.Alike >= Same }

// LooksLikeTwo says whether the class looks like two groups.
func (c Class) LooksLikeTwo() bool { return c.Groups <= Two }

// Classes describes the classes of a set, in the order of its columns. Of the classes nearest by direction, the
// likeness decides; ten are asked. Time O(C²·d + n·d).
func Classes(s *leaveout.Set) []Class {
	d := s.Z.Dim()
	list := make([]Class, len(s.Classes))
	given, members := make([]int, len(s.Classes)), make([][]int, len(s.Classes))
	for i, label := range s.Z.Labels {
		y := s.Column[label]
		given[y]++
		k := member(s, i, y)
		members[k] = append(members[k], i)
	}
	row := features.NewMatrix(1, len(list))
	for k := range list {
		spread := s.Spread(k)
		r := filters.Debiased(spread.Length, max(2, int(math.Round(spread.Count))))
		c := Class{Class: s.Classes[k], Images: given[k], Groups: groups(s, members[k])}
		c.Kappa = filters.Kappa(d, r, filters.KappaBanerjee, filters.DefaultLimits())
		c.Like, c.Alike = likest(s, k, row)
		list[k] = c
	}
	return list
}

// likest is the class that class k is most like, by id.
func likest(s *leaveout.Set, k int, row blas32.General) (class int, alike float64) {
	centres := s.Centres()
	own := blas32.General{Rows: 1, Cols: centres.Cols, Stride: centres.Stride, Data: features.Row(centres, k)}
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, own, centres, 0, row)
	class, alike = -1, math.Inf(-1)
	for range min(10, row.Cols-1) {
		next := -1
		for j, v := range row.Data {
			if j != k && !math.IsInf(float64(v), -1) && (next < 0 || v > row.Data[next]) {
				next = j
			}
		}
		row.Data[next] = float32(math.Inf(-1))
		if v := s.Likeness(k, next); v > alike {
			class, alike = s.Classes[next], v
		}
	}
	return class, alike
}

// groups projects the members on their longest axis, found by power iteration, and returns the share of the variance
// there that the best cut into two leaves within them; 1 where there are fewer than eight, where all are equal, or
// where the smaller part is no group.
func groups(s *leaveout.Set, members []int) float64 {
	if len(members) < 8 {
		return 1
	}
	along := longestAxis(s, members)
	cut, ok := detectors.TwoMeans(along)
	if !ok {
		return 1
	}
	var n, sum, squares [2]float64
	for _, v := range along {
		side := 0
		if v >= cut {
			side = 1
		}
		n[side]++
		sum[side] += v
		squares[side] += v * v
	}
	all := n[0] + n[1]
	if math.Min(n[0], n[1]) < smallestGroup*all {
		return 1
	}
	within := squares[0] - sum[0]*sum[0]/n[0] + squares[1] - sum[1]*sum[1]/n[1]
	total := squares[0] + squares[1] - (sum[0]+sum[1])*(sum[0]+sum[1])/all
	return math.Max(within, 0) / total
}

// axisSteps of power iteration: an axis that stands out is found in a few.
const axisSteps = 40

// longestAxis is the members' positions along their axis of greatest variance.
func longestAxis(s *leaveout.Set, members []int) []float64 {
	d := s.Z.Dim()
	mean, axis, next := make([]float64, d), make([]float64, d), make([]float64, d)
	for _, i := range members {
		for j, v := range s.Z.Row(i) {
			mean[j] += float64(v) / float64(len(members))
		}
	}
	along, farthest, most := make([]float64, len(members)), members[0], -1.0
	for _, i := range members {
		var off float64
		for j, v := range s.Z.Row(i) {
			off += (float64(v) - mean[j]) * (float64(v) - mean[j])
		}
		if off > most {
			farthest, most = i, off
		}
	}
	for j, v := range s.Z.Row(farthest) {
		axis[j] = float64(v) - mean[j]
	}
	for range axisSteps {
		clear(next)
		var norm float64
		for at, i := range members {
			z, t := s.Z.Row(i), 0.0
			for j, v := range z {
				t += (float64(v) - mean[j]) * axis[j]
			}
			along[at] = t
			for j, v := range z {
				next[j] += t * (float64(v) - mean[j])
			}
		}
		for _, v := range next {
			norm += v * v
		}
		if norm == 0 {
			break
		}
		for j := range next {
			next[j] /= math.Sqrt(norm)
		}
		axis, next = next, axis
	}
	return along
}
