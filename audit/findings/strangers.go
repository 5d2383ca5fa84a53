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
	// An image's distance to the set is its distance to the k-th nearest of m other images, with k = ⌈company·m⌉ but at
	// least leastCompany. If company were smaller, several outliers of one kind would count as near to the set; if it
	// were larger, all images of a small class would be outliers.
	company      = 0.03
	leastCompany = 3
	// mostReferences bounds the images that each image is compared with, so that time is O(n·d).
	mostReferences = 2048
	atOnce         = 1 << 13 // number of images read and compared at a time
	leastSpread    = 1e-3    // least spread of distances, for sets whose images are all equal
	mostStrangers  = 20      // more than 1 outlier in 20 images would be a class
)

// Outlying is the fit below which an image is an outlier, which fits no class. Of the ordinary images of eleven sets,
// at most 1 in 200 are below this fit (experiments/strangers).
const Outlying = -2.75

// references are the rows of a set with which each image of the set is compared.
type references struct {
	x    blas32.General // rows of unit length, or zero rows
	rows []int          // their rows in the set, ascending
}

// Fits returns how near each image of x is to the set, regardless of labels: outliers are far from all but a few
// images. The fit is NaN if there is no image to compare with. The distance of an image x to the set is
//
//	d(x) = 1 − the k-th largest cosine of x and the references,  k = max(3, ⌈0.03·m⌉)
//
// where m is the number of references other than x and its duplicates. The fit is
//
//	f(x) = (q50 − d(x)) / max(q90 − q50, 8/11 · (q95 − q50))
//
// where q50 and so on are percentiles of the distances of all images. The second term is larger if the distances have a
// long tail. Many outliers enlarge both terms, so the divisor is capped at 5/2.75·(q80 − q50), unless more than one
// image in twenty would then be an outlier. The divisor is also smaller if there is a clear gap ([findLastGap]) before
// the farthest images: the fit is then -2.75 in the middle of the gap. Pass vectors as the backbone made them. Outliers
// vary in directions in which the other images do not, so whitening would bring outliers nearer. Rows with the same
// group number are duplicates; a row with a negative number has no duplicate, and group may be nil.
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

// A clear gap has at most a share gapShare of the images beyond it. It is at least gapWidth times as wide as the
// distances of the images before it spread.
const (
	gapFrom  = 2.4 // the gap ends at least this many spreads beyond the centre
	gapShare = 0.03
	gapWidth = 0.75
	gapTail  = 5 // the spread is measured over this many images before the gap, or over a twentieth of all
)

// findLastGap returns the middle of the last clear gap in the sorted distances d. The first distance beyond the gap
// must exceed least. It returns NaN if there is no gap.
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

// measureDistances returns the distance of each row of x to the set, NaN if there is no reference for the row.
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
