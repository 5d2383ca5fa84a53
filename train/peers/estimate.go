package peers

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/head"
)

// Block sizes of the estimate.
const (
	estimateRows    = 1024
	estimateClasses = 64
)

// estimateMatrix fills the transition matrix from the second network. The matrix row of a class is the network's
// prediction for the class's anchor, the training row most typical of the class (see typicalRow). Unlabelled rows can
// be anchors. The head's output is stored, n×D; probabilities are computed for one block of classes at a time.
func (n *Networks) estimateMatrix() error {
	net := n.list[1]
	y, err := net.headRows(n.rows, n.z.Rows)
	if err != nil {
		return err
	}
	sums := make([]float64, n.rows)
	logits := features.NewMatrix(estimateRows, n.classes)
	for from := 0; from < n.rows; from += estimateRows {
		part := net.blockLogits(logits, y, from, min(estimateRows, n.rows-from))
		for i := range part.Rows {
			sums[from+i] = features.LogSumExp(features.Row(part, i))
		}
	}
	given := make([]float64, n.classes)
	for c, row := range net.findAnchors(y, sums, n.cfg.Percentile) {
		part := net.blockLogits(logits, y, row, 1)
		for j, l := range features.Row(part, 0) {
			given[j] = math.Exp(float64(l) - sums[row])
		}
		n.loss.transition.setRow(c, given)
	}
	return nil
}

// headRows returns the head's output for all n training rows, computed in batches.
func (net *network) headRows(n, batch int) (blas32.General, error) {
	y := features.NewMatrix(n, net.head.Config().Out)
	list := make([]int, 0, batch)
	for from := 0; from < n; from += batch {
		list = list[:0]
		for i := from; i < min(from+batch, n); i++ {
			list = append(list, i)
		}
		z, err := net.encoder.Forward(list)
		if err != nil {
			return y, err
		}
		for i := range z.Len() {
			copy(features.Row(y, from+i), z.Row(i))
		}
	}
	return y, nil
}

// blockLogits returns the logits of n rows of y, starting at row from. It reuses the memory of dst.
func (net *network) blockLogits(dst, y blas32.General, from, n int) blas32.General {
	dst = features.Resize(dst, n, net.classifier.Weight.Rows)
	net.classifier.forwardLogits(dst, features.Part(y, from, n))
	return dst
}

// findAnchors finds the anchor row of each class, one block of classes at a time.
func (net *network) findAnchors(y blas32.General, sums []float64, percentile float64) []int {
	classes := net.classifier.Weight.Rows
	rows := make([]int, classes)
	column := make([]float64, y.Rows)
	block := features.NewMatrix(y.Rows, min(estimateClasses, classes))
	for from := 0; from < classes; from += estimateClasses {
		some := net.classifier.someClasses(from, min(estimateClasses, classes-from))
		part := features.Resize(block, y.Rows, some.Weight.Rows)
		some.forwardLogits(part, y)
		for c := range part.Cols {
			for i := range column {
				column[i] = math.Exp(float64(features.Row(part, i)[c]) - sums[i])
			}
			rows[from+c] = typicalRow(column, percentile)
		}
	}
	return rows
}

// someClasses returns a view of the classifier, restricted to the n classes that start at from.
func (c *classifier) someClasses(from, n int) *classifier {
	cut := func(p *features.Param, rows, cols, at int) *features.Param {
		return &features.Param{Name: p.Name, Rows: rows, Cols: cols, Data: p.Data[at : at+rows*cols]}
	}
	s := &classifier{cosine: c.cosine,
		Classifier: head.Classifier{Weight: cut(c.Weight, n, c.Weight.Cols, from*c.Weight.Cols), Scale: c.Scale}}
	if c.Bias != nil {
		s.Bias = cut(c.Bias, 1, n, from)
	}
	return s
}
