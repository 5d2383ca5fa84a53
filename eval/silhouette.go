package eval

import (
	"fmt"

	"winnow/features"
)

// Silhouettes measures how much nearer images are to their own class than to the nearest other class, as means over the
// images of each class.
//
//	s_i = (b_i - a_i)/max(a_i, b_i),   a_i the mean of 1 - z_i·z_j over the others of the class,
//	b_i the least such mean over another class
//
// s_i is in [-1, 1]: 1 if a class is a single point, 0 on the border of two classes. It is 0 for the only image of a
// class, and for a set of one class. z are unit rows, all labelled 0 … classes-1. Time O(n·classes·d). Source:
// Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of cluster analysis", 1987.
type Silhouettes struct {
	Mean    float64
	ByClass []float64 // 0 for a class without images
	Worst   int       // the class with the least mean; -1: no class has images
}

// NewSilhouettes computes the silhouettes of a set.
func NewSilhouettes(z features.Set, classes int) (Silhouettes, error) {
	s := Silhouettes{ByClass: make([]float64, classes), Worst: -1}
	sums, counts := make([]float64, classes*z.Dim()), make([]int, classes)
	for i, y := range z.Labels[:z.Len()] {
		if y < 0 || y >= classes {
			return s, fmt.Errorf("silhouettes: image %d has label %d, expected 0 to %d", i, y, classes-1)
		}
		counts[y]++
		for j, v := range z.Row(i) {
			sums[y*z.Dim()+j] += float64(v)
		}
	}
	for i, y := range z.Labels[:z.Len()] {
		v := rowSilhouette(z.Row(i), y, sums, counts)
		s.Mean += v / float64(z.Len())
		s.ByClass[y] += v / float64(counts[y])
	}
	for k, n := range counts {
		if n > 0 && (s.Worst < 0 || s.ByClass[k] < s.ByClass[s.Worst]) {
			s.Worst = k
		}
	}
	return s, nil
}

// rowSilhouette returns s_i of a row of class y from the sums of all classes.
func rowSilhouette(row []float32, y int, sums []float64, counts []int) float64 {
	own, nearest := 0.0, -1.0
	for k, n := range counts {
		if n == 0 {
			continue
		}
		var similarity, length float64
		for j, v := range row {
			similarity += float64(v) * sums[k*len(row)+j]
			length += float64(v) * float64(v)
		}
		if k == y {
			if n == 1 {
				return 0
			}
			own = 1 - (similarity-length)/float64(n-1)
		} else if far := 1 - similarity/float64(n); nearest < 0 || far < nearest {
			nearest = max(far, 0)
		}
	}
	if most := max(own, nearest); nearest >= 0 && most > 0 {
		return (nearest - own) / most
	}
	return 0
}
