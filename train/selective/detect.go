package selective

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// tclDetector finds label errors. It measures how strongly each row is assigned to the centre of its given class,
// compared with the centres of all classes, and splits these values into two groups.
//
//	c_k   = normalise(Σ_i p_ik z_i)                 centres from a classifier's probabilities p
//	γ_ik  = softmax_k(z_i·c_k/Temperature)          assignments
//	l_i   = -γ_{i,y_i}, scaled to 0 … 1 over all rows
//	w_i   = P(clean) = the posterior of the component of lower mean in a mixture of two normals fitted to l
//
// If all l are equal, w = 1. The centre of a class is 0 if every row's probability for it is 0. A row without a
// label has l = 0 and w = 0 and is not part of the mixture. PerClass fits one mixture to the rows of each label; if
// all l of a label are equal, w = 1 for its rows.
// Time O(n·C·d), memory O(n + C·d).
// Source: Huang, Zhang & Shan, Twin Contrastive Learning with Noisy Labels, CVPR 2023, section 3.2 and its
// code; METHODS 13.2.
type tclDetector struct {
	Temperature float64
	PerClass    bool // one mixture per class
}

// fillProbabilities fills dst, n×C, with a classifier's probabilities for the n rows of the set that start at row from.
// Each row of dst sums to 1. z holds the same n rows, normalised.
type fillProbabilities func(dst blas32.General, z features.Set, from int)

// detection is the result of TCL for a set.
type detection struct {
	Centres  blas32.General  // C×d, unit rows or 0
	Loss     []float64       // l, scaled
	Clean    []float64       // w
	Mixtures []normalMixture // one for all rows, or one per class in order; the zero mixture if l has no two values
}

// detectClean scores the labels of z. z has unit rows and labels 0 … classes-1, or negative without a label.
func (c tclDetector) detectClean(z features.Set, classes int, p fillProbabilities) *detection {
	d := &detection{
		Centres: weighedCentres(z, classes, p),
		Loss:    make([]float64, z.Len()),
		Clean:   make([]float64, z.Len()),
	}
	d.assignLoss(z, c.Temperature)
	d.scaleLosses(z.Labels)
	d.mixClean(z.Labels, classes, c.PerClass)
	return d
}

// tallBlock returns how many rows are compared with all classes at a time.
func tallBlock(classes int) int { return min(max(pairRows*pairCols/classes, 1), 4096) }

// weighedCentres sums the rows of z, weighted by each class's probabilities, and normalises the sums.
func weighedCentres(z features.Set, classes int, p fillProbabilities) blas32.General {
	c := features.NewMatrix(classes, z.Dim())
	block := features.NewMatrix(min(tallBlock(classes), z.Len()), classes)
	for from := 0; from < z.Len(); from += block.Rows {
		part := features.Part(block, 0, min(block.Rows, z.Len()-from))
		p(part, z, from)
		blas32.Gemm(blas.Trans, blas.NoTrans, 1, part, features.Part(z.X, from, part.Rows), 1, c)
	}
	for k := range classes {
		row := features.Row(c, k)
		if norm := math.Sqrt(features.Dot(row, row)); norm > 1e-12 {
			for j := range row {
				row[j] = float32(float64(row[j]) / norm)
			}
		}
	}
	return c
}

// assignLoss computes Loss before it is scaled.
func (d *detection) assignLoss(z features.Set, temperature float64) {
	var scratch []float32
	logits := make([]float64, d.Centres.Rows)
	step := tallBlock(d.Centres.Rows)
	for from := 0; from < z.Len(); from += step {
		s := features.Products(&scratch, features.Part(z.X, from, min(step, z.Len()-from)), d.Centres)
		for i := range s.Rows {
			y := z.Labels[from+i]
			if y < 0 {
				continue
			}
			for k, v := range features.Row(s, i) {
				logits[k] = float64(v) / temperature
			}
			features.Softmax(logits, logits)
			d.Loss[from+i] = -logits[y]
		}
	}
}

// scaleLosses maps the losses of labelled rows to 0 … 1, or to 0 if all are equal.
func (d *detection) scaleLosses(labels []int) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for i, y := range labels {
		if y >= 0 {
			lo, hi = min(lo, d.Loss[i]), max(hi, d.Loss[i])
		}
	}
	for i, y := range labels {
		switch {
		case y < 0:
		case hi > lo:
			d.Loss[i] = (d.Loss[i] - lo) / (hi - lo)
		default:
			d.Loss[i] = 0
		}
	}
}

// mixClean fits the mixtures and computes Clean.
func (d *detection) mixClean(labels []int, classes int, perClass bool) {
	groups := make([][]int, 1)
	if perClass {
		groups = make([][]int, classes)
	}
	for i, y := range labels {
		if y < 0 {
			continue
		}
		if !perClass {
			y = 0
		}
		groups[y] = append(groups[y], i)
	}
	var x []float64
	for _, g := range groups {
		x = x[:0]
		for _, i := range g {
			x = append(x, d.Loss[i])
		}
		m, ok := fitMixture(x)
		d.Mixtures = append(d.Mixtures, m)
		for _, i := range g {
			if d.Clean[i] = 1; ok {
				d.Clean[i] = m.lowerShare(d.Loss[i])
			}
		}
	}
}
