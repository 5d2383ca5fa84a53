package findings

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"winnow/features"
	"winnow/filters"
	"winnow/filters/leaveout"
)

// smallestGroup is the least share of a class that is a group rather than outliers.
const smallestGroup = 0.2

// parts is the number of parts of a class; each part is divided by a cut fitted to the other parts.
const parts = 5

// compareGroups returns the similarity of the two sides of a class. Each fifth of its members is divided by a cut
// fitted to the other four: the best cut along their axis of greatest variance gives two groups, and each held-out
// image joins the side of the nearer group. Sides a and b are compared by the mean similarities s of distinct images:
//
//	s_ab / √(s_aa s_bb)
//
// In many dimensions a few images always have a long axis, but held-out images then fall on its sides at random, so
// that the two sides are similar and the result is near 1. Two classes under one name score as low as any two classes.
// compareGroups returns 1 for fewer than ten members, for equal members, and if the smaller side is not a group.
func compareGroups(s *leaveout.Set, members []int) float64 {
	if len(members) < 2*parts {
		return 1
	}
	order := rand.New(rand.NewPCG(uint64(len(members)), 2)).Perm(len(members)) // the order of files may alternate
	var first []float64
	var sides [2][]int
	for part := range parts {
		var in, out []int
		for at, to := range order {
			if to%parts == part {
				out = append(out, members[at])
			} else {
				in = append(in, members[at])
			}
		}
		line, middle, ok := fitGroupLine(s, in)
		if !ok {
			return 1
		}
		if first == nil {
			first = line
		}
		turned := floats.Dot(first, line) < 0
		for _, i := range out {
			t := -middle
			for j, v := range s.Z.Row(i) {
				t += float64(v) * line[j]
			}
			if (t > 0) != turned {
				sides[1] = append(sides[1], i)
			} else {
				sides[0] = append(sides[0], i)
			}
		}
	}
	return compareTwoSides(s, sides)
}

// compareTwoSides returns the similarity of two sides.
func compareTwoSides(s *leaveout.Set, sides [2][]int) float64 {
	if float64(min(len(sides[0]), len(sides[1]))) < math.Max(2, smallestGroup*float64(len(sides[0])+len(sides[1]))) {
		return 1
	}
	var sum [2][]float64
	var within [2]float64
	for side, rows := range sides {
		sum[side] = make([]float64, s.Z.Dim())
		for _, i := range rows {
			for j, v := range s.Z.Row(i) {
				sum[side][j] += float64(v)
			}
		}
		n := float64(len(rows))
		within[side] = (floats.Dot(sum[side], sum[side]) - n) / (n * (n - 1)) // rows have unit length
	}
	if within[0] <= 0 || within[1] <= 0 {
		return 1
	}
	across := floats.Dot(sum[0], sum[1]) / float64(len(sides[0])*len(sides[1]))
	return math.Max(across/math.Sqrt(within[0]*within[1]), 0)
}

// fitGroupLine returns the direction from one group of the members to the other, scaled so that the groups' means are 1
// apart, and the position halfway between the means.
func fitGroupLine(s *leaveout.Set, members []int) (line []float64, middle float64, ok bool) {
	along := longestAxis(s, members)
	cut, ok := filters.TwoMeans(along)
	if !ok {
		return nil, 0, false
	}
	d := s.Z.Dim()
	var mean [2][]float64
	var n [2]float64
	mean[0], mean[1] = make([]float64, d), make([]float64, d)
	for at, i := range members {
		side := 0
		if along[at] >= cut {
			side = 1
		}
		n[side]++
		for j, v := range s.Z.Row(i) {
			mean[side][j] += float64(v)
		}
	}
	line = make([]float64, d)
	var square float64
	for j := range line {
		a, b := mean[0][j]/n[0], mean[1][j]/n[1]
		line[j] = b - a
		square += line[j] * line[j]
		middle += (b*b - a*a) / 2
	}
	if square == 0 {
		return nil, 0, false
	}
	for j := range line {
		line[j] /= square
	}
	return line, middle / square, true
}

// axisSteps is the largest number of steps of power iteration, which ends if the unit axis moves by less than
// axisStill.
const axisSteps, axisStill = 20, 1e-3

// longestAxis returns the coordinates of the members along their axis of greatest variance.
func longestAxis(s *leaveout.Set, members []int) []float64 {
	x := s.Z.Rows(members).X
	mean := make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range features.Row(x, i) {
			mean[j] += float64(v) / float64(x.Rows)
		}
	}
	farthest, most := 0, -1.0
	for i := range x.Rows {
		row, off := features.Row(x, i), 0.0
		for j, v := range row {
			t := float64(v) - mean[j]
			row[j] = float32(t)
			off += t * t
		}
		if off > most {
			farthest, most = i, off
		}
	}
	vector := func(n int) blas32.Vector { return blas32.Vector{N: n, Inc: 1, Data: make([]float32, n)} }
	along, axis, next := vector(x.Rows), vector(x.Cols), vector(x.Cols)
	copy(axis.Data, features.Row(x, farthest))
	for range axisSteps {
		blas32.Gemv(blas.NoTrans, 1, x, axis, 0, along)
		blas32.Gemv(blas.Trans, 1, x, along, 0, next)
		norm := blas32.Nrm2(next)
		if norm == 0 {
			break
		}
		blas32.Scal(1/norm, next)
		blas32.Axpy(-1, next, axis)
		if axis, next = next, axis; blas32.Nrm2(next) < axisStill {
			break
		}
	}
	positions := make([]float64, x.Rows)
	for i, t := range along.Data {
		positions[i] = float64(t)
	}
	return positions
}
