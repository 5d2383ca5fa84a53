package findings

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/eval"
	"winnow/features"
	"winnow/internal/spread"
)

const (
	// company is the share of the other images that must be near: an image's distance to the set is its distance to
	// the last of these. Fewer, and strangers of one kind would be company for each other; more, and every small
	// class would look strange.
	company      = 0.03
	leastCompany = 3
	// mostReferences bounds the images that each image is compared with, so that time is O(n·d).
	mostReferences = 2048
	atOnce         = 1 << 13 // images read and compared at a time
	leastSpread    = 1e-3    // of distances, for sets of images that are all the same
	mostStrangers  = 20      // more than one in this many images is a kind of its own
)

// Outlying is the fit below which an image is a stranger: it fits no class. Of the ordinary images of eleven sets at
// most 1 in 200 are below (experiments/strangers).
const Outlying = -2.75

// references are rows of a set that each image of it is compared with.
type references struct {
	x    blas32.General // rows of unit length, or 0
	rows []int          // in the set, rising
}

// Fits returns how near each image of x is to the set, without labels: images from another world are far from all but
// a few; NaN if there is nothing to compare with. The distance of an image x to the set is
//
//	d(x) = 1 − the k-th largest cosine of x and the references,  k = max(3, ⌈0.03·m⌉)
//
// where m is the number of references, without x itself and its copies. Its fit is
//
//	f(x) = (q50 − d(x)) / max(q90 − q50, 8/11 · (q95 − q50))
//
// with percentiles of the distances of the set's images. The second term counts if the distances have a long tail.
// Strangers widen both where they are many, so the divisor is at most 5/2.75·(q80 − q50), unless that called more than
// one in twenty images strangers; and it is less if there is a plain gap ([findLastGap]) before the farthest images:
// then the fit is -2.75 in its middle. Vectors are as the backbone made them: whitening would bring strangers nearer,
// which vary in directions in which the others do not. Rows with the same group are copies; nil, or a negative number:
// there are none.
func Fits(ctx context.Context, x features.Source, group []int, maxMem int64) ([]float64, error) {
	at := features.Thinned(features.AllRows(x.Len()), mostReferences)
	refs := references{features.NewMatrix(len(at), x.Dim()), at}
	var scratch []float32
	for i, row := range at {
		part, err := x.Part(ctx, &scratch, row, 1)
		if err != nil {
			return nil, err
		}
		to := features.Row(refs.x, i)
		copy(to, features.Row(part, 0))
		if length := computeNorm(to); length > 0 {
			for j := range to {
				to[j] /= length
			}
		}
	}
	fit, err := refs.measureDistances(ctx, x, group, maxMem)
	if err != nil {
		return nil, err
	}
	known := slices.DeleteFunc(slices.Clone(fit), math.IsNaN)
	if len(known) == 0 {
		return fit, nil
	}
	slices.Sort(known)
	centre := known[len(known)/2]
	above := func(percentile int) float64 { return known[len(known)*percentile/100] - centre }
	wide := max(above(90), above(95)*8/11, leastSpread)
	by := wide
	if far := above(80) * 5; known[max(0, len(known)-1-len(known)/mostStrangers)] <= centre+far {
		by = min(wide, max(far/-Outlying, leastSpread))
	}
	if at := findLastGap(known, centre+gapFrom*wide); !math.IsNaN(at) {
		by = min(by, (at-centre)/-Outlying)
	}
	for i, v := range fit {
		fit[i] = (centre - v) / by
	}
	return fit, nil
}

// Before a plain gap lie at most a share gapShare of the images; it is three quarters as wide or more as the distances
// of the images after it.
const (
	gapFrom  = 2.4 // spreads beyond the centre
	gapShare = 0.03
	gapWidth = 0.75
	gapTail  = 5 // images, or a twentieth of all
)

// findLastGap returns the middle of the last plain gap before the largest of the sorted distances, of which one beyond
// the gap is above least; NaN: there is none.
func findLastGap(d []float64, least float64) float64 {
	n := len(d)
	at := math.NaN()
	for far := 1; far <= max(1, int(gapShare*float64(n))) && far < n; far++ {
		out, in := d[n-far], d[n-far-1]
		tail := in - d[max(0, n-far-1-max(gapTail, n/20))]
		if out > least && out-in >= gapWidth*max(tail, leastSpread) {
			at = (out + in) / 2
		}
	}
	return at
}

// measureDistances returns d of each row of x; NaN if no reference is left for it.
func (r references) measureDistances(ctx context.Context, x features.Source, group []int, maxMem int64) ([]float64,
	error) {
	out := make([]float64, x.Len())
	m := r.x.Rows
	var scratch []float32
	for from := 0; from < x.Len(); from += atOnce {
		part, err := x.Part(ctx, &scratch, from, min(atOnce, x.Len()-from))
		if err != nil {
			return nil, err
		}
		err = eval.EachRow(ctx, part, r.x, eval.Bytes(maxMem), func(i int, s []float32) {
			row, left := from+i, m
			for j, at := range r.rows {
				if at == row || group != nil && group[row] >= 0 && group[row] == group[at] {
					s[j] = -math.MaxFloat32
					left--
				}
			}
			if out[row] = math.NaN(); left > 0 {
				k := min(max(leastCompany, int(math.Ceil(company*float64(m)))), left)
				length := computeNorm(features.Row(part, i))
				out[row] = 1 - float64(spread.KthLargest(s, k))/math.Max(float64(length), 1e-12)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func computeNorm(x []float32) float32 { return float32(math.Sqrt(features.Dot(x, x))) }
